/**
 * Two quantized tensors compared block by block, each difference with its place: block, field, elements. How either is laid
 * out does not matter. Clauses: spec/tensors.md TEN-21.
 * @module
 */
import { unpackScaleWord } from '../format/hif4.ts';
import { scaleAt } from '../tensor/codec.ts';
import { blocksOf, type Geometry, multiIndex } from '../tensor/geometry.ts';
import { type OnProgress, Pace } from './pace.ts';
import type { QuantizedSource } from './quantized-source.ts';

/** A field of a block that differs; its bits as hex digits. */
export interface BlockDifference {
  /** Counted row by row. */
  readonly block: number;
  /** scale, or a field of it, or codes[i]. */
  readonly field: string;
  /** The elements of the original tensor that it covers; the axis has a range. */
  readonly elements: string;
  readonly a: string;
  readonly b: string;
}

/** A part of a block: its name, the elements of the block it covers, and its bits on both sides. */
interface FieldPair {
  readonly field: string;
  readonly from: number;
  readonly to: number;
  readonly a: string;
  readonly b: string;
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** HIF4-02. The fields of two scale words that differ, group by group. */
function* scaleWordFields(a: number, b: number): Generator<FieldPair> {
  const [left, right] = [unpackScaleWord(a), unpackScaleWord(b)];
  if (left.e6m2 !== right.e6m2) {
    yield { field: 'e6m2', from: 0, to: 64, a: hex(left.e6m2, 2), b: hex(right.e6m2, 2) };
  }
  for (const [field, size, groups] of [
    ['e1_8', 8, 8],
    ['e1_16', 4, 16],
  ] as const) {
    for (let k = 0; k < groups; k++) {
      const [x, y] = [(left[field] >> k) & 1, (right[field] >> k) & 1];
      if (x !== y)
        yield { field: `${field}[${k}]`, from: size * k, to: size * (k + 1), a: `${x}`, b: `${y}` };
    }
  }
}

/** Where elements `from` to `to` of a block lie in the original tensor: [3, 64:128]; in the padding: nowhere. */
function place(g: Geometry, blockSize: number, block: number, from: number, to: number): string {
  const inRow = blocksOf(g.k, blockSize);
  const first = (block % inRow) * blockSize;
  if (first + from >= g.k) return 'padding';
  const index: (number | string)[] = multiIndex(g, Math.floor(block / inRow), first + from);
  if (to - from > 1) index[g.axis] = `${first + from}:${Math.min(first + to, g.k)}`;
  return `[${index.join(',')}]`;
}

/** Blocks read at a time. */
const BATCH = 1 << 12;

/** Every field that differs, in order; both sides have one format, shape and axis. */
export async function* differingBlocks(
  a: QuantizedSource,
  b: QuantizedSource,
  onProgress?: OnProgress,
): AsyncGenerator<BlockDifference> {
  const { decoder: d, geometry: g } = a;
  const count = g.slow * g.fast * blocksOf(g.k, d.blockSize);
  const pace = new Pace(count, onProgress);
  const codeBytes = d.blockSize / 2;
  for (let block = 0; block < count; block += BATCH) {
    const blocks = Math.min(BATCH, count - block);
    const [left, right] = [a, b].map(({ reader, offsets }) => {
      const codes = Buffer.alloc(blocks * codeBytes);
      const scales = Buffer.alloc(blocks * d.scaleBytes);
      reader.readInto(codes, offsets.codes + block * codeBytes);
      reader.readInto(scales, offsets.scales + block * d.scaleBytes);
      return { codes, scales };
    }) as [{ codes: Buffer; scales: Buffer }, { codes: Buffer; scales: Buffer }];
    if (!left.codes.equals(right.codes) || !left.scales.equals(right.scales)) {
      for (let j = 0; j < blocks; j++) {
        const scales = [scaleAt(d, left.scales, j), scaleAt(d, right.scales, j)] as const;
        const codes = [left, right].map((side) => side.codes.subarray(j * codeBytes, (j + 1) * codeBytes));
        for (const { field, from, to, ...bits } of blockFields(d.format, scales, codes as [Buffer, Buffer])) {
          yield { block: block + j, field, elements: place(g, d.blockSize, block + j, from, to), ...bits };
        }
      }
    }
    await pace.step(blocks);
  }
}

/** The fields of one block that differ: its scale first, then its codes. */
function* blockFields(
  format: string,
  [x, y]: readonly [number, number],
  [a, b]: [Buffer, Buffer],
): Generator<FieldPair> {
  if (format === 'hif4') yield* scaleWordFields(x, y);
  else if (x !== y) yield { field: 'scale', from: 0, to: 2 * a.length, a: hex(x, 2), b: hex(y, 2) };
  for (let i = 0; i < 2 * a.length; i++) {
    const [left, right] = [a, b].map((bytes) => (bytes[i >> 1]! >> (4 * (i & 1))) & 15) as [number, number];
    if (left !== right) yield { field: `codes[${i}]`, from: i, to: i + 1, a: hex(left, 1), b: hex(right, 1) };
  }
}

/** What makes two quantized tensors not comparable; empty where they are. */
export function incomparable(a: QuantizedSource, b: QuantizedSource): string[] {
  const facts = ({ decoder: d, geometry: g }: QuantizedSource): [string, string][] => [
    ['format', d.format],
    ['shape', `[${g.shape.join(', ')}]`],
    ['axis', `${g.axis}`],
  ];
  const right = facts(b);
  return facts(a)
    .map(([name, value], k) => [name, value, right[k]![1]] as const)
    .filter(([, x, y]) => x !== y)
    .map(([name, x, y]) => `${name}: ${x} against ${y}`);
}

export interface QuantizedDifferences {
  readonly count: number;
  /** The first of them. */
  readonly first: readonly BlockDifference[];
  /** Why the two cannot be compared; then there is nothing else. */
  readonly structure: readonly string[];
}

/** TEN-21. Compares two quantized tensors; the first differences are kept, the rest counted. */
export async function diffQuantized(
  a: QuantizedSource,
  b: QuantizedSource,
  shown: number,
  onProgress?: OnProgress,
): Promise<QuantizedDifferences> {
  const structure = incomparable(a, b);
  const first: BlockDifference[] = [];
  let count = 0;
  if (structure.length === 0) {
    for await (const difference of differingBlocks(a, b, onProgress)) {
      if (count++ < shown) first.push(difference);
    }
  }
  return { count, first, structure };
}
