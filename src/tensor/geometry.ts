/**
 * Where the elements of a tensor are, seen from the axis that is quantized, and a walk through them in pieces.
 *
 * In memory an array in C or Fortran order is [slow, K, fast] for every choice of the axis: the dimensions that run slower
 * than it, itself, and those that run faster. So a piece is read in contiguous runs whatever the axis. In the quantized
 * tensor the axis comes last, so what is a row there is one (slow, fast) pair here. Clauses: spec/tensors.md TEN-05, TEN-06.
 * @module
 */
import { Fp4Error } from '../error.ts';

export interface Geometry {
  readonly shape: readonly number[];
  /** Not negative. */
  readonly axis: number;
  /** The other dimensions, in order: those of a row of the quantized tensor. */
  readonly outer: readonly number[];
  readonly slow: number;
  readonly k: number;
  readonly fast: number;
  /** The row of the quantized tensor that a (slow, fast) pair is. */
  readonly rowOf: (slow: number, fast: number) => number;
}

/** A piece of a tensor: whole slabs of the slow dimension, or a part of one. Ranges do not include their end. */
export interface Tile {
  readonly slow: readonly [number, number];
  readonly k: readonly [number, number];
  readonly fast: readonly [number, number];
}

const product = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);

/**
 * TEN-05. The axis counted from 0.
 * @throws Fp4Error E_SHAPE for an axis that does not exist, and for a tensor without dimensions
 */
export function normalizedAxis(shape: readonly number[], axis: number, where: string): number {
  if (shape.length === 0) throw new Fp4Error('E_SHAPE', `${where}: a 0-d tensor has no axis to quantize`);
  const normalized = axis < 0 ? axis + shape.length : axis;
  if (!Number.isInteger(axis) || normalized < 0 || normalized >= shape.length) {
    const range = `${-shape.length} to ${shape.length - 1}`;
    throw new Fp4Error(
      'E_SHAPE',
      `${where}: no axis ${axis} in shape [${shape.join(', ')}]; expected ${range}`,
    );
  }
  return normalized;
}

/** The row of a fast-first multi-index: dimensions run in the opposite order in memory (Fortran) and in the row (C). */
function reversedRow(
  before: readonly number[],
  after: readonly number[],
  slow: number,
  fast: number,
): number {
  let row = 0;
  let weight = 1;
  const digits: [number, number][] = [];
  for (const size of before) {
    digits.push([fast % size, size]);
    fast = Math.floor(fast / size);
  }
  for (const size of after) {
    digits.push([slow % size, size]);
    slow = Math.floor(slow / size);
  }
  for (const [digit, size] of digits.reverse()) {
    row += digit * weight;
    weight *= size;
  }
  return row;
}

/** TEN-05. How a tensor in memory order `order` lies around its axis. */
export function geometry(shape: readonly number[], axis: number, order: 'C' | 'F'): Geometry {
  const before = shape.slice(0, axis);
  const after = shape.slice(axis + 1);
  const common = { shape, axis, outer: [...before, ...after], k: shape[axis]! };
  if (order === 'C') {
    const fast = product(after);
    return { ...common, slow: product(before), fast, rowOf: (s, f) => s * fast + f };
  }
  return {
    ...common,
    slow: product(after),
    fast: product(before),
    rowOf: (s, f) => reversedRow(before, after, s, f),
  };
}

/** TEN-06. The axis padded to whole blocks. */
export const blocksOf = (k: number, blockSize: number): number => Math.ceil(k / blockSize);

/** Elements of one run across the fast dimension: enough that reading it costs more than asking for it. */
const RUN = 4096;

/**
 * Pieces that cover a tensor once, in the order of its memory, each of about `budget` elements with the padding.
 * A piece has whole blocks along the axis, except at its end.
 */
export function* tiles({ slow, k, fast }: Geometry, blockSize: number, budget: number): Generator<Tile> {
  if (slow === 0 || k === 0 || fast === 0) return;
  const slabs = Math.floor(budget / (blocksOf(k, blockSize) * blockSize * fast));
  if (slabs >= 1) {
    for (let s = 0; s < slow; s += slabs) {
      yield { slow: [s, Math.min(s + slabs, slow)], k: [0, k], fast: [0, fast] };
    }
    return;
  }
  const run = Math.min(fast, RUN, Math.max(1, Math.floor(budget / blockSize)));
  const band = Math.max(1, Math.floor(budget / (run * blockSize))) * blockSize;
  for (let s = 0; s < slow; s++) {
    for (let j = 0; j < k; j += band) {
      for (let f = 0; f < fast; f += run) {
        yield { slow: [s, s + 1], k: [j, Math.min(j + band, k)], fast: [f, Math.min(f + run, fast)] };
      }
    }
  }
}

/** Elements from `start` on that are consecutive in memory; `at` is the first one's index inside the piece, in memory order. */
export interface Run {
  readonly start: number;
  readonly count: number;
  readonly at: number;
}

/** The runs of a piece, as long as they can be. */
export function* runs({ k, fast }: Geometry, tile: Tile): Generator<Run> {
  const [k0, k1] = tile.k;
  const [f0, f1] = tile.fast;
  const width = f1 - f0;
  const height = k1 - k0;
  if (width === fast) {
    // Part of one slab, or several whole ones.
    const count = (tile.slow[1] - tile.slow[0]) * height * width;
    yield { start: (tile.slow[0] * k + k0) * fast, count, at: 0 };
    return;
  }
  for (let j = 0; j < height; j++) {
    yield { start: (tile.slow[0] * k + k0 + j) * fast + f0, count: width, at: j * width };
  }
}

/** Rows of a piece, and its elements in each. */
export const tileRows = (tile: Tile): number => (tile.slow[1] - tile.slow[0]) * (tile.fast[1] - tile.fast[0]);
export const tileDepth = (tile: Tile): number => tile.k[1] - tile.k[0];

/** Calls back with, for each row of a piece, its first element in memory order and its row in the quantized tensor. */
export function forEachRow(
  { rowOf }: Geometry,
  tile: Tile,
  visit: (index: number, first: number, row: number) => void,
): void {
  const width = tile.fast[1] - tile.fast[0];
  const depth = tileDepth(tile);
  let index = 0;
  for (let s = tile.slow[0]; s < tile.slow[1]; s++) {
    for (let f = 0; f < width; f++) {
      visit(index++, (s - tile.slow[0]) * depth * width + f, rowOf(s, tile.fast[0] + f));
    }
  }
}

/** The multi-index of element (row, position along the axis). */
export function multiIndex({ outer, axis }: Geometry, row: number, position: number): number[] {
  const index = outer.map(() => 0);
  for (let d = outer.length - 1; d >= 0; d--) {
    index[d] = row % outer[d]!;
    row = Math.floor(row / outer[d]!);
  }
  index.splice(axis, 0, position);
  return index;
}
