/**
 * Vectors of the memory layouts: codes and scales in the linear form, and the arrays they stand in. Every array is read back,
 * once with its padding overwritten. Clauses: spec/layouts.md LAY-01 to LAY-12.
 * @module
 */
import { Fp4Error, type Fp4ErrorCode } from '../error.ts';
import { placement, readLayout, writeLayout } from '../layout/convert.ts';
import type { Layout } from '../layout/layout.ts';
import {
  type BlockFormat,
  blockFormat,
  type Extent,
  extentOf,
  type LinearBlocks,
  paddedLength,
  rowsOf,
} from '../layout/linear.ts';
import { LAYOUTS, layoutByName } from '../layout/registry.ts';
import { fillFamily } from '../random/families.ts';
import type { PackContext } from './block-cases.ts';
import { hexOf } from './file-bytes.ts';
import { idOf } from './hash.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

interface Place {
  readonly shape: readonly number[];
  readonly axis: number;
  readonly packAxis?: number;
}

/** Tails, odd numbers of blocks and of rows, no multiple of 16; blocks along the last, the first and a middle axis. */
const PLACES: readonly Place[] = [
  { shape: [65], axis: 0 },
  { shape: [17, 70], axis: 1 },
  { shape: [96, 3], axis: 0 },
  { shape: [2, 33, 3], axis: 1 },
];

/** A tensor whose scales fill more than one tile of every layout. */
const TILES: Place = { shape: [20, 129], axis: 1 };

/** LAY-11. Pairs along the axis that is not quantized, its size even and odd; and along the quantized one itself. */
const PACKED: readonly Place[] = [
  { shape: [64, 4], axis: 0, packAxis: 1 },
  { shape: [40, 5], axis: 0, packAxis: 1 },
  { shape: [40, 3], axis: 0, packAxis: 0 },
];

/** Bytes from family bits: every nibble and every byte of a scale is its own. */
function drawnBytes(context: PackContext, operand: number, count: number): Uint8Array {
  const words = new Uint32Array(count);
  fillFamily({ family: 'bits', seed: context.seed, operand, type: { bits: 8 }, channels: 1 }, 0, words);
  return Uint8Array.from(words);
}

/** Reads back what was written, and again with every byte that no code or scale reaches set to ff. */
function confirmed(
  layout: Layout,
  format: BlockFormat,
  extent: Extent,
  linear: LinearBlocks,
  packAxis?: number,
): Record<string, Uint8Array> {
  const stored = writeLayout(layout, format, extent, linear, packAxis);
  const ones = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.length).fill(0xff);
  const full = writeLayout(
    layout,
    format,
    extent,
    { codes: ones(linear.codes), scales: ones(linear.scales) },
    packAxis,
  );
  const empty = { codes: new Uint8Array(linear.codes.length), scales: new Uint8Array(linear.scales.length) };
  const clear = writeLayout(layout, format, extent, empty, packAxis);
  const soiled = Object.fromEntries(
    Object.entries(stored).map(([name, bytes]) => [
      name,
      bytes.map((byte, j) => byte | ~(full[name]![j]! ^ clear[name]![j]!)),
    ]),
  );
  for (const arrays of [stored, soiled]) {
    const back = readLayout(layout, format, extent, arrays, packAxis);
    if (hexOf(back.codes) !== hexOf(linear.codes) || hexOf(back.scales) !== hexOf(linear.scales)) {
      throw new Error(`layout ${layout.name}: what was written does not come back`);
    }
  }
  return stored;
}

function layoutTest(context: PackContext, layout: Layout, formatName: string, place: Place) {
  const { shape, axis, packAxis } = place;
  const format = blockFormat(formatName);
  const extent = extentOf(format, shape, axis);
  const rows = rowsOf(extent);
  const linear = {
    codes: drawnBytes(context, 0, (rows * paddedLength(format, extent)) / 2),
    scales: drawnBytes(context, 1, rows * extent.blocks * format.scaleBytes),
  };
  const stored = confirmed(layout, format, extent, linear, packAxis);
  const given = {
    layout: layout.name,
    format: formatName,
    shape,
    axis,
    ...(packAxis === undefined ? {} : { 'pack-axis': packAxis }),
    codes: hexOf(linear.codes),
    scales: hexOf(linear.scales),
  };
  const clauses = new Set(['LAY-01', 'LAY-02', layout.clause, ...(packAxis === undefined ? [] : ['LAY-11'])]);
  return {
    id: idOf(context.sha256, JSON.stringify(given)),
    clauses: [...clauses].sort(),
    ...given,
    arrays: placement(layout, format, extent, packAxis).arrays.map(({ name, type, shape: stands }) => ({
      name,
      type,
      shape: stands,
      bytes: hexOf(stored[name]!),
    })),
  };
}

interface Refusal {
  readonly comment: string;
  readonly error: Fp4ErrorCode;
  readonly layout: string;
  readonly format: string;
  readonly place: Place;
  /** Bytes of each array that is given to be read. */
  readonly lengths: Readonly<Record<string, number>>;
}

const MATRIX: Place = { shape: [3, 160], axis: 1 };

const REFUSALS: readonly Refusal[] = [
  {
    comment: 'no such layout',
    error: 'E_USAGE',
    layout: 'zz',
    format: 'mxfp4',
    place: MATRIX,
    lengths: {},
  },
  {
    comment: 'a layout of the other format',
    error: 'E_USAGE',
    layout: 'ggml',
    format: 'hif4',
    place: MATRIX,
    lengths: {},
  },
  {
    comment: 'no such format',
    error: 'E_USAGE',
    layout: 'linear',
    format: 'fp4',
    place: MATRIX,
    lengths: {},
  },
  {
    comment: 'scales padded in one dimension only',
    error: 'E_LENGTH',
    layout: 'nv-128x4',
    format: 'mxfp4',
    place: MATRIX,
    lengths: { codes: 240, scales: 640 },
  },
  {
    comment: 'a scale too few for the tail',
    error: 'E_LENGTH',
    layout: 'linear',
    format: 'mxfp4',
    place: { shape: [33], axis: 0 },
    lengths: { codes: 32, scales: 1 },
  },
  {
    comment: 'an array that is missing',
    error: 'E_USAGE',
    layout: 'linear',
    format: 'mxfp4',
    place: MATRIX,
    lengths: { codes: 240 },
  },
  {
    comment: 'a pack axis where the layout orders the codes itself',
    error: 'E_USAGE',
    layout: 'hif4-unit36',
    format: 'hif4',
    place: { ...MATRIX, packAxis: 0 },
    lengths: { units: 324 },
  },
  {
    comment: 'a pack axis that does not exist',
    error: 'E_SHAPE',
    layout: 'linear',
    format: 'mxfp4',
    place: { ...MATRIX, packAxis: 2 },
    lengths: { codes: 240, scales: 15 },
  },
];

function refusalTest(context: PackContext, refusal: Refusal) {
  const { comment, error, place, lengths } = refusal;
  const { shape, axis, packAxis } = place;
  let found: Fp4ErrorCode | undefined;
  try {
    const format = blockFormat(refusal.format);
    const layout = layoutByName(refusal.layout, refusal.format);
    const arrays = Object.entries(lengths).map(([name, length]) => [name, new Uint8Array(length)]);
    readLayout(layout, format, extentOf(format, shape, axis), Object.fromEntries(arrays), packAxis);
  } catch (caught) {
    if (!(caught instanceof Fp4Error)) throw caught;
    found = caught.code;
  }
  if (found !== error) throw new Error(`invalid layout "${comment}": ${found}, not ${error}`);
  const given = {
    layout: refusal.layout,
    format: refusal.format,
    shape,
    axis,
    ...(packAxis === undefined ? {} : { 'pack-axis': packAxis }),
    lengths,
  };
  const id = idOf(context.sha256, JSON.stringify(given));
  return { id, comment, clauses: ['LAY-12'], ...given, result: 'invalid', error };
}

export function layoutsFile(context: PackContext) {
  const tests = LAYOUTS.flatMap((layout) => {
    const places = [...PLACES, TILES, ...(layout.ownCodes ? PACKED : [])];
    return layout.formats.flatMap((format) =>
      places.map((place) => layoutTest(context, layout, format, place)),
    );
  });
  return {
    schema: SCHEMA,
    kind: 'layouts' as const,
    generator: context.generator,
    groups: [
      { subject: 'layouts', clauses: ['LAY-01', 'LAY-02'], tests },
      {
        subject: 'refused',
        clauses: ['LAY-12'],
        tests: REFUSALS.map((refusal) => refusalTest(context, refusal)),
      },
    ],
  } satisfies VectorFile & Record<string, unknown>;
}
