/**
 * Vectors of quantizing: the tensor read, the quantized file, its report, and the values that come back. Every block is also
 * encoded by the definition, from elements found by plain index arithmetic. Clauses: spec/tensors.md TEN-01 to TEN-16, TEN-19, TEN-23.
 * @module
 */
import { readValues } from '../fast/input-words.ts';
import { buildNpyHeader, parseNpyHeader } from '../files/npy.ts';
import { encodeUnit } from '../format/hif4.ts';
import { hif4Policy } from '../format/hif4-policy.ts';
import { encodeBlock } from '../format/mxfp4.ts';
import { mxfp4Policy } from '../format/mxfp4-policy.ts';
import { writeLayout } from '../layout/convert.ts';
import { blockFormat, extentOf } from '../layout/linear.ts';
import { encode, finite } from '../number/binary-format.ts';
import { exact } from '../number/exact.ts';
import { BF16, FP16, FP32, fromBinary64 } from '../number/floats.ts';
import { fillFamily } from '../random/families.ts';
import { type Codec, codec, type PackedBlocks } from '../tensor/codec.ts';
import { dequantizeTile } from '../tensor/dequantize.ts';
import { type Geometry, geometry, normalizedAxis, tiles } from '../tensor/geometry.ts';
import { quantizeTile } from '../tensor/quantize.ts';
import { buildQuantizedHeader, placed, storedForm } from '../tensor/quantized-header.ts';
import { ReportBuilder } from '../tensor/report.ts';
import { VERSION } from '../version.ts';
import type { PackContext } from './block-cases.ts';
import { elementBytes, hexOf, npyBytes } from './file-bytes.ts';
import { idOf } from './hash.ts';

export type Descr = '<f2' | '>f2' | '<f4' | '>f4' | '<f8' | '>f8' | '<u2';

/** The stored type of each; u2 holds BF16 words. */
const TYPES = { f2: 'F16', f4: 'F32', f8: 'F64', u2: 'BF16' } as const;

export interface Job {
  readonly comment: string;
  readonly clauses: readonly string[];
  readonly format: 'hif4' | 'mxfp4';
  readonly profile?: string;
  readonly set?: Readonly<Record<string, string>>;
  readonly axis: number;
  readonly layout?: string;
  readonly packAxis?: number;
  readonly descr: Descr;
  readonly fortran?: boolean;
  readonly shape: readonly number[];
  /** The bits of elements that matter, by their place in the file. */
  readonly places?: Readonly<Record<number, bigint>>;
}

export const JOBS: readonly Job[] = [
  {
    comment: 'two rows with a tail of 3 in MXFP4: padded with +0 to whole blocks',
    clauses: ['TEN-01', 'TEN-06', 'TEN-07', 'TEN-09', 'TEN-11', 'TEN-12', 'TEN-13', 'TEN-14', 'TEN-15'],
    format: 'mxfp4',
    axis: -1,
    descr: '<f4',
    shape: [2, 35],
  },
  {
    comment: 'a vector of 66: two units of HiF4',
    clauses: ['TEN-05', 'TEN-06', 'TEN-07', 'TEN-09'],
    format: 'hif4',
    axis: 0,
    descr: '<f2',
    shape: [66],
  },
  {
    comment: 'the first axis of a matrix, moved last',
    clauses: ['TEN-05', 'TEN-07', 'TEN-09'],
    format: 'mxfp4',
    profile: 'torchao-rceil',
    axis: 0,
    descr: '>f4',
    shape: [33, 2],
  },
  {
    comment: 'the middle axis of three, Fortran order, big-endian binary64',
    clauses: ['TEN-01', 'TEN-05', 'TEN-07', 'TEN-09'],
    format: 'hif4',
    profile: 'ascend',
    axis: 1,
    descr: '>f8',
    fortran: true,
    shape: [2, 5, 3],
  },
  {
    comment: 'big-endian binary16 in Fortran order, the last axis',
    clauses: ['TEN-01', 'TEN-05', 'TEN-09'],
    format: 'mxfp4',
    axis: -1,
    descr: '>f2',
    fortran: true,
    shape: [2, 33],
  },
  {
    comment: 'BF16 words',
    clauses: ['TEN-01', 'TEN-02', 'TEN-07'],
    format: 'hif4',
    axis: -1,
    descr: '<u2',
    shape: [64],
  },
  {
    comment: '3ff0100000000001 is BF16 3f81, although FP32 would make it a tie first',
    clauses: ['TEN-04', 'CON-04'],
    format: 'hif4',
    axis: -1,
    descr: '<f8',
    shape: [4],
    places: {
      0: 0x3ff0100000000001n,
      1: 0x3ff0100000000000n,
      2: 0x3ff0300000000000n,
      3: 0xbff0100000000001n,
    },
  },
  {
    comment: 'a binary64 number beyond FP32 is an infinity, and counts as nonfinite',
    clauses: ['TEN-04', 'TEN-16'],
    format: 'mxfp4',
    axis: -1,
    descr: '<f8',
    shape: [33],
    places: { 32: 0x7fefffffffffffffn },
  },
  {
    comment: 'all zeros: no error, so no ratio',
    clauses: ['TEN-12', 'TEN-13', 'TEN-14'],
    format: 'mxfp4',
    axis: -1,
    descr: '<f4',
    shape: [3],
    places: { 0: 0n, 1: 0x80000000n, 2: 0n },
  },
  {
    comment: 'a dimension of 0: empty tensors',
    clauses: ['TEN-05', 'TEN-07'],
    format: 'hif4',
    axis: 1,
    descr: '<f4',
    shape: [2, 0],
  },
  {
    comment: 'blocks of ggml in place of codes and scales',
    clauses: ['TEN-19', 'LAY-05'],
    format: 'mxfp4',
    axis: -1,
    layout: 'ggml',
    descr: '<f4',
    shape: [2, 33],
  },
  {
    comment: 'the right operand of a product: blocks along K, nibble pairs along N',
    clauses: ['TEN-19', 'LAY-08', 'LAY-11'],
    format: 'hif4',
    axis: 0,
    layout: 'hif4-b-nn',
    packAxis: 1,
    descr: '<f4',
    shape: [4, 3],
  },
  {
    comment: 'seven rows with tails: the same in one piece and in many, by one thread and by several',
    clauses: ['TEN-06', 'TEN-07', 'TEN-12', 'TEN-23'],
    format: 'hif4',
    axis: 0,
    descr: '<f4',
    shape: [70, 7],
    places: { 3: 0x3f800001n, 13: 0x33ffffffn, 489: 0xc2c80001n },
  },
  {
    comment: 'one value that saturates and one that underflows',
    clauses: ['TEN-14', 'TEN-15'],
    format: 'mxfp4',
    axis: -1,
    descr: '<f4',
    shape: [3],
    places: { 0: 0x40e80000n, 1: 0x3e000000n, 2: 0xc0400000n },
  },
];

const sizeOf = (descr: Descr): number => Number(descr[2]);
export const elementsOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Bits of moderate values: multiples of 1/16 from family bits, so that every type holds them exactly. */
function valueBits(descr: Descr, context: PackContext, elements: number, places: Job['places']): bigint[] {
  const drawn = new Uint32Array(elements);
  const draw = { family: 'bits', seed: context.seed, operand: 0, type: { bits: 8 }, channels: 1 } as const;
  fillFamily(draw, 0, drawn);
  return Array.from(drawn, (word, i) => places?.[i] ?? bitsOf(descr, word));
}

/** The bits of (word - 128) / 16. */
function bitsOf(descr: Descr, word: number): bigint {
  const value = finite(exact(Math.abs(word - 128), -4), word < 128);
  const kind = descr.slice(1) as keyof typeof TYPES;
  if (kind !== 'f8') return BigInt(encode({ f2: FP16, f4: FP32, u2: BF16 }[kind], value));
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, (word - 128) / 16);
  return view.getBigUint64(0);
}

/** The multi-index of element i of an array in C order. */
function indexOf(shape: readonly number[], i: number): number[] {
  const index = [...shape];
  for (let d = shape.length - 1; d >= 0; d--) {
    index[d] = i % shape[d]!;
    i = Math.floor(i / shape[d]!);
  }
  return index;
}

/** Where an element stands in the file. */
function placeInFile(shape: readonly number[], index: readonly number[], fortran: boolean): number {
  const dimensions = fortran ? [...shape.keys()].reverse() : [...shape.keys()];
  return dimensions.reduce((at, d) => at * shape[d]! + index[d]!, 0);
}

/** TEN-05 to TEN-07 by the definition: the blocks of each row, one after the other. */
function definedBlocks(job: Job, axis: number, values: Float64Array, c: Codec): PackedBlocks {
  const outer = job.shape.filter((_, d) => d !== axis);
  const length = job.shape[axis]!;
  const codes: number[] = [];
  const scales: number[] = [];
  for (let row = 0; row < elementsOf(outer); row++) {
    const rowIndex = indexOf(outer, row);
    for (let first = 0; first < length; first += c.blockSize) {
      const block = Array.from({ length: c.blockSize }, (_, j) => {
        if (first + j >= length) return fromBinary64(0);
        const index = rowIndex.toSpliced(axis, 0, first + j);
        return fromBinary64(values[placeInFile(job.shape, index, job.fortran ?? false)]!);
      });
      const encoded = encodedBlock(job, block);
      scales.push(...encoded.scales);
      for (let j = 0; j < c.blockSize; j += 2) codes.push(encoded.codes[j]! | (encoded.codes[j + 1]! << 4));
    }
  }
  return { codes: Uint8Array.from(codes), scales: Uint8Array.from(scales) };
}

function encodedBlock(job: Job, block: ReturnType<typeof fromBinary64>[]) {
  if (job.format === 'hif4') {
    const { word, codes } = encodeUnit(block, hif4Policy(job.profile, job.set));
    return { scales: [word & 255, (word >>> 8) & 255, (word >>> 16) & 255, word >>> 24], codes };
  }
  const { scale, codes } = encodeBlock(block, mxfp4Policy(job.profile, job.set));
  return { scales: [scale], codes };
}

/** The whole tensor as one piece. */
export function quantized(values: Float64Array, g: Geometry, c: Codec, report: ReportBuilder): PackedBlocks {
  const [whole] = tiles(g, c.blockSize, Number.MAX_SAFE_INTEGER);
  const empty = { codes: new Uint8Array(0), scales: new Uint8Array(0) };
  return whole === undefined ? empty : quantizeTile(values, g, whole, c, report, 'input');
}

/** Codes and scales of rows in the order of the memory, sorted by row. */
function byRow(packed: PackedBlocks, g: Geometry): PackedBlocks {
  const rows = elementsOf(g.outer);
  const codeBytes = packed.codes.length / rows;
  const scaleBytes = packed.scales.length / rows;
  const codes = new Uint8Array(packed.codes.length);
  const scales = new Uint8Array(packed.scales.length);
  let index = 0;
  for (let s = 0; s < g.slow; s++) {
    for (let f = 0; f < g.fast; f++, index++) {
      const row = g.rowOf(s, f);
      codes.set(packed.codes.subarray(index * codeBytes, (index + 1) * codeBytes), row * codeBytes);
      scales.set(packed.scales.subarray(index * scaleBytes, (index + 1) * scaleBytes), row * scaleBytes);
    }
  }
  return { codes, scales };
}

/** TEN-09. The file that dequantizing gives. */
export function dequantized(
  packed: PackedBlocks,
  shape: readonly number[],
  axis: number,
  c: Codec,
): Uint8Array {
  const g = geometry(shape, axis, 'C');
  const header = buildNpyHeader('F32', shape);
  const [whole] = tiles(g, c.blockSize, Number.MAX_SAFE_INTEGER);
  if (whole === undefined) return header;
  // Rows of a C-order piece come in the order of its memory; the file has them by row.
  const rows = elementsOf(g.outer);
  const order: number[] = [];
  for (let s = 0; s < g.slow; s++) for (let f = 0; f < g.fast; f++) order.push(g.rowOf(s, f));
  const pick = (bytes: Uint8Array): Uint8Array => {
    const width = bytes.length / rows;
    return Uint8Array.from(order.flatMap((row) => [...bytes.subarray(row * width, (row + 1) * width)]));
  };
  const data = dequantizeTile({ codes: pick(packed.codes), scales: pick(packed.scales) }, g, whole, c);
  return Uint8Array.from([...header, ...data]);
}

/** A tensor quantized whole, by the reading and the arithmetic of a file and by the definition. */
export function quantizedJob(context: PackContext, job: Job) {
  const { comment, format, profile, set, axis, descr, fortran, shape, places } = job;
  const size = sizeOf(descr);
  const bits = valueBits(descr, context, elementsOf(shape), places);
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const input = npyBytes(descr, fortran ?? false, tuple, elementBytes(bits, size, descr[0] === '<'));
  const stored = parseNpyHeader(input.subarray(0, input.length - bits.length * size), input.length, 'input');
  const values = new Float64Array(bits.length);
  const type = TYPES[descr.slice(1) as keyof typeof TYPES];
  readValues(input.subarray(stored.offset), type, stored.littleEndian, values);
  const c = codec(format, profile, set);
  const g = geometry(stored.shape, normalizedAxis(stored.shape, axis, 'input'), stored.order);
  const report = new ReportBuilder();
  const packed = byRow(quantized(values, g, c, report), g);
  const defined = definedBlocks(job, g.axis, values, c);
  if (hexOf(packed.codes) !== hexOf(defined.codes) || hexOf(packed.scales) !== hexOf(defined.scales)) {
    throw new Error(`${comment}: definition and fast path differ`);
  }
  return { input, type, c, g, packed, report: report.report() };
}

/** TEN-07, TEN-19. The file of a quantized tensor. */
export function quantizedFile(
  { c, g, packed }: ReturnType<typeof quantizedJob>,
  { layout, packAxis }: Job,
): Uint8Array {
  const form = storedForm(c.format, layout, packAxis);
  const { header } = buildQuantizedHeader(c, g, form);
  const block = blockFormat(c.format);
  const stored = writeLayout(form.layout, block, extentOf(block, g.shape, g.axis), packed, packAxis);
  const arrays = placed(c, g, form).arrays.map(({ name }) => stored[name]!);
  return Uint8Array.from([header, ...arrays].flatMap((bytes) => [...bytes]));
}

export function quantizeTest(context: PackContext, job: Job) {
  const { comment, clauses, format, set, axis, layout, packAxis, shape } = job;
  const done = quantizedJob(context, job);
  const { input, type, c, g, packed, report } = done;
  const given = {
    format,
    profile: c.profile,
    set: set ?? {},
    axis,
    ...(layout === undefined ? {} : { layout }),
    ...(packAxis === undefined ? {} : { 'pack-axis': packAxis }),
    bf16: type === 'BF16',
    input: hexOf(input),
  };
  return {
    id: idOf(context.sha256, 'quantize', JSON.stringify(given)),
    comment,
    clauses,
    ...given,
    metadata: {
      'fp4.format': c.format,
      'fp4.profile': c.profile,
      'fp4.parameters': JSON.stringify(c.parameters),
      'fp4.shape': JSON.stringify(shape),
      'fp4.axis': String(g.axis),
      ...(layout === undefined ? {} : { 'fp4.layout': layout }),
      ...(packAxis === undefined ? {} : { 'fp4.pack-axis': String(packAxis) }),
      'fp4.version': VERSION,
    },
    codes: hexOf(packed.codes),
    scales: hexOf(packed.scales),
    output: hexOf(quantizedFile(done, job)),
    report,
    back: hexOf(dequantized(packed, g.shape, g.axis, c)),
  };
}
