/**
 * Pruning tensors in memory along any axis: quantized ones, whose codes are cleared, and unquantized ones, given by their
 * values. Clauses: spec/sparsity.md SPA-01 to SPA-08, SPA-17.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { twoTo } from '../number/number-bits.ts';
import { decoder, type PackedBlocks, scaleAt } from '../tensor/codec.ts';
import { blocksOf, type Geometry, geometry, normalizedAxis } from '../tensor/geometry.ts';
import { prunePackedCodes } from './codes.ts';
import type { PatternOptions } from './definition.ts';
import { type Mask, maskOf } from './mask.ts';
import { isGroupPattern, ODD_RULES, type OddRule, type Pattern, patternByName } from './pattern.ts';
import type { TieRule } from './ties.ts';

export interface PruneOptions {
  readonly pattern: Pattern;
  /** Default lowest-index. */
  readonly ties?: TieRule;
  /** Default ceil. */
  readonly odd?: OddRule;
  /** The axis along which groups and blocks run, negative from the last; default: that of the blocks, else the last. */
  readonly axis?: number;
}

/** What was kept of a tensor. Rows run along the axis of the pruning, in the order that TEN-05 gives them. */
export interface Pruning {
  readonly geometry: Geometry;
  readonly mask: Mask;
  /** rows x depth, 1 where an element is kept and not zero. */
  readonly nonzero: Uint8Array;
  /** Pruned elements that were not zero. */
  readonly lost: number;
}

/** SPA-17. The figures of a report. */
export interface PruneReport {
  readonly elements: number;
  readonly kept: number;
  readonly pruned: number;
  readonly lost: number;
  readonly rankings: number;
  readonly tied: number;
  readonly tied_share: number;
  readonly padding: number;
}

const ones = (flags: Uint8Array): number => flags.reduce((sum, flag) => sum + flag, 0);

/** SPA-17. */
export function pruneReport({ mask, lost }: Pruning): PruneReport {
  const elements = mask.kept.length;
  const kept = ones(mask.kept);
  const { rankings, tied, padding } = mask;
  return {
    elements,
    kept,
    pruned: elements - kept,
    lost,
    rankings,
    tied,
    tied_share: rankings === 0 ? 0 : tied / rankings,
    padding,
  };
}

const resolved = ({ pattern, ties = 'lowest-index', odd = 'ceil' }: PruneOptions): PatternOptions => {
  if (!ODD_RULES.includes(odd))
    throw new Fp4Error('E_USAGE', `odd is "${odd}"; known: ${ODD_RULES.join(', ')}`);
  return { pattern: patternByName(pattern), ties, odd };
};

/** Calls back with each element: its index in C order, its row along the axis, its position there. */
export function forEachElement(
  { slow, k, fast }: Geometry,
  visit: (index: number, row: number, position: number) => void,
): void {
  for (let s = 0, index = 0; s < slow; s++) {
    for (let j = 0; j < k; j++) {
      for (let f = 0; f < fast; f++) visit(index++, s * fast + f, j);
    }
  }
}

const rowsOf = ({ slow, fast }: Geometry): number => slow * fast;

/** Magnitudes in C order as rows along the axis. */
function inRows(magnitudes: Float64Array, g: Geometry): Float64Array {
  if (g.fast === 1) return magnitudes;
  const rows = new Float64Array(magnitudes.length);
  forEachElement(g, (index, row, position) => {
    rows[row * g.k + position] = magnitudes[index]!;
  });
  return rows;
}

function pruning(
  rows: Float64Array,
  g: Geometry,
  options: PatternOptions,
  mask = maskOf(rows, rowsOf(g), g.k, options),
): Pruning {
  const nonzero = new Uint8Array(rows.length);
  let lost = 0;
  for (let at = 0; at < rows.length; at++) {
    if (rows[at] === 0) continue;
    if (mask.kept[at] === 1) nonzero[at] = 1;
    else lost++;
  }
  return { geometry: g, mask, nonzero, lost };
}

/**
 * SPA-01, SPA-02. What a pattern keeps of an unquantized tensor.
 * @param values in C order, as many as the shape has elements; NaN and infinity may be among them
 * @throws Fp4Error E_SHAPE, E_LENGTH, E_USAGE
 */
export function pruneValues(values: Float64Array, shape: readonly number[], options: PruneOptions): Pruning {
  const g = geometry(shape, normalizedAxis(shape, options.axis ?? -1, 'tensor'), 'C');
  const elements = rowsOf(g) * g.k;
  if (values.length !== elements) {
    throw new Fp4Error(
      'E_LENGTH',
      `shape [${shape.join(', ')}] has ${elements} elements, found ${values.length} values`,
    );
  }
  return pruning(inRows(values.map(Math.abs), g), g, resolved(options));
}

/** A quantized tensor in memory, in the linear form (TEN-07). */
export interface QuantizedBlocks extends PackedBlocks {
  readonly format: string;
  readonly shape: readonly number[];
  /** Of the blocks; not negative. */
  readonly axis: number;
}

/** Magnitudes of E2M1 in halves, those of E1M2 in quarters. */
const E2M1_HALVES = [0, 1, 2, 3, 4, 6, 8, 12];

/** SPA-03. The magnitude of a code in units of its block's scale, the exponent bits of HiF4 counted. */
const inScale = (format: string, word: number, code: number, position: number): number => {
  if (format === 'mxfp4') return E2M1_HALVES[code & 7]!;
  const q = position & 63;
  return (code & 7) << (((word >>> (8 + (q >> 3))) & 1) + ((word >>> (16 + (q >> 2))) & 1));
};

/** SPA-03. What the units of `inScale` are worth; binary64 holds every product exactly. A NaN scale is a NaN. */
function scaleValue(format: string, word: number): number {
  const byte = word & 0xff;
  if (byte === 0xff) return Number.NaN;
  return format === 'mxfp4' ? twoTo(byte - 128) : (4 + (byte & 3)) * twoTo((byte >> 2) - 52);
}

const codeAt = (codes: Uint8Array, at: number): number => (codes[at >> 1]! >> (4 * (at & 1))) & 15;

/** The magnitudes in C order: in units of the scale where one scale covers a group, else exact values. */
function magnitudesOf(tensor: QuantizedBlocks, g: Geometry, oneScale: boolean): Float64Array {
  const d = decoder(tensor.format);
  const blocks = blocksOf(g.k, d.blockSize);
  const magnitudes = new Float64Array(rowsOf(g) * g.k);
  forEachElement(g, (index, row, position) => {
    const word = scaleAt(d, tensor.scales, row * blocks + Math.floor(position / d.blockSize));
    const units = inScale(
      d.format,
      word,
      codeAt(tensor.codes, row * blocks * d.blockSize + position),
      position,
    );
    magnitudes[index] = oneScale ? units : units * scaleValue(d.format, word);
  });
  return magnitudes;
}

/** The codes with the padding of each row cleared: it belongs to no element, so it must not be ranked. */
function withoutPadding(codes: Uint8Array, rows: number, depth: number, padded: number): Uint8Array {
  const cleared = codes.slice();
  if (depth === padded) return cleared;
  for (let r = 0; r < rows; r++) {
    const end = r * padded + depth;
    if (end % 2 === 1) cleared[end >> 1]! &= 15;
    cleared.fill(0, (end + 1) >> 1, ((r + 1) * padded) / 2);
  }
  return cleared;
}

/** SPA-03. 2:4 along the blocks, by table. */
function twoOfFour(
  codes: Uint8Array,
  g: Geometry,
  padded: number,
  ties: TieRule,
): { codes: Uint8Array; mask: Mask } {
  const pruned = prunePackedCodes(codes, ties);
  const rows = rowsOf(g);
  const kept = new Uint8Array(rows * g.k);
  for (let r = 0, at = 0; r < rows; r++) {
    for (let k = 0; k < g.k; k++, at++) {
      const nibble = pruned.nibbles[(r * padded + k) >> 2]!;
      kept[at] = Number((nibble & 3) === (k & 3) || nibble >> 2 === (k & 3));
    }
  }
  const groups = blocksOf(g.k, 4);
  const padding = rows * (4 * groups - g.k);
  return {
    codes: pruned.codes,
    mask: { rows, depth: g.k, kept, rankings: rows * groups, tied: pruned.tied, padding },
  };
}

/**
 * SPA-03, SPA-08. A quantized tensor pruned: codes that are kept are unchanged, the others 0; scales stay.
 * @throws Fp4Error E_SHAPE, E_USAGE; E_LENGTH where codes or scales do not fit the shape
 */
export function pruneQuantized(
  tensor: QuantizedBlocks,
  options: PruneOptions,
): Pruning & { readonly codes: Uint8Array } {
  const d = decoder(tensor.format);
  const along = geometry(tensor.shape, normalizedAxis(tensor.shape, tensor.axis, 'tensor'), 'C');
  const axis = normalizedAxis(tensor.shape, options.axis ?? tensor.axis, 'axis');
  const blocks = blocksOf(along.k, d.blockSize);
  const padded = blocks * d.blockSize;
  const rows = rowsOf(along);
  if (tensor.codes.length !== (rows * padded) / 2 || tensor.scales.length !== rows * blocks * d.scaleBytes) {
    const expected = `${(rows * padded) / 2} code bytes and ${rows * blocks * d.scaleBytes} scale bytes`;
    throw new Fp4Error(
      'E_LENGTH',
      `found ${tensor.codes.length} and ${tensor.scales.length}; expected ${expected}`,
    );
  }
  const settings = resolved(options);
  const codes = withoutPadding(tensor.codes, rows, along.k, padded);
  const oneScale = isGroupPattern(settings.pattern) && axis === along.axis;
  const g = geometry(tensor.shape, axis, 'C');
  const magnitudes = inRows(magnitudesOf(tensor, along, oneScale), g);
  if (oneScale && settings.pattern === '2:4') {
    const pruned = twoOfFour(codes, g, padded, settings.ties);
    return { ...pruning(magnitudes, g, settings, pruned.mask), codes: pruned.codes };
  }
  const result = pruning(magnitudes, g, settings);
  const kept = new Uint8Array(magnitudes.length); // in C order
  forEachElement(g, (index, row, position) => {
    kept[index] = result.mask.kept[row * g.k + position]!;
  });
  forEachElement(along, (index, row, position) => {
    const at = row * padded + position;
    if (kept[index] === 0) codes[at >> 1]! &= at % 2 === 0 ? 0xf0 : 0x0f;
  });
  return { ...result, codes };
}
