/**
 * One output by typed arrays: sums of integers over segments under common scales, added in binary64 where that is exact, else with
 * the errors of the additions kept, else on exact numbers. Clauses: spec/gemm.md GEM-07, GEM-08.
 * @module
 */

import { add, fromNumber } from '../number/exact.ts';
import { twoTo } from '../number/number-bits.ts';
import { errorOfSum, oddNumber, oddSum } from './odd-sum.ts';
import type { Operand } from './operand.ts';

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** GEM-03. Elements over which the scales of both operands stay the same. */
export const segmentOf = (a: Operand, b: Operand): number => gcd(a.group, b.group);

/** Segments that cover the rows of both operands; one of both may be padded further than the other. */
export const segmentsOf = (a: Operand, b: Operand): number => {
  const segment = segmentOf(a, b);
  return Math.ceil(Math.min(a.depth, b.depth) / segment);
};

/** Rows of an operand for one panel, every number a binary64 one. */
export interface LoadedRows {
  readonly segment: number;
  readonly segments: number;
  /** rows x segments x segment. */
  readonly integers: Float64Array;
  /** rows x segments: the scale of each segment, a small integer times a power of two. */
  readonly scales: Float64Array;
}

/** Loads rows first to last - 1 as segments. */
export function loadRows(
  x: Operand,
  first: number,
  last: number,
  segment: number,
  segments: number,
): LoadedRows {
  const rows = last - first;
  const width = segment * segments;
  const integers = new Float64Array(rows * width);
  const scales = new Float64Array(rows * segments);
  const perGroup = x.group / segment;
  for (let r = 0; r < rows; r++) {
    const from = (first + r) * x.groups * x.group;
    const count = Math.min(width, x.groups * x.group);
    for (let k = 0; k < count; k++) integers[r * width + k] = x.integers[from + k]!;
    for (let s = 0; s < segments; s++) {
      const h = (first + r) * x.groups + Math.floor(s / perGroup);
      scales[r * segments + s] = x.significands[h]! * twoTo(x.exponents[h]!);
    }
  }
  return { segment, segments, integers, scales };
}

/** The sum of the products of a segment, an integer below 2^53. */
function segmentDot(a: Float64Array, from: number, b: Float64Array, at: number, count: number): number {
  let sum = 0;
  for (let k = 0; k < count; k++) sum += a[from + k]! * b[at + k]!;
  return sum;
}

/** GEM-07. The sum where every partial sum is a binary64 number. */
export function plainSum(a: LoadedRows, i: number, b: LoadedRows, j: number): number {
  const { segment, segments } = a;
  const width = segment * segments;
  let sum = 0;
  for (let s = 0; s < segments; s++) {
    const scale = a.scales[i * segments + s]! * b.scales[j * segments + s]!;
    sum +=
      segmentDot(a.integers, i * width + s * segment, b.integers, j * width + s * segment, segment) * scale;
  }
  return sum;
}

/** GEM-08. The sum and a further term, rounded to odd, whatever the spread. */
export function wideSum(a: LoadedRows, i: number, b: LoadedRows, j: number, c: number): number {
  const { segment, segments } = a;
  const width = segment * segments;
  let high = c;
  let low = 0;
  let lost = false;
  for (let s = 0; s < segments; s++) {
    const scale = a.scales[i * segments + s]! * b.scales[j * segments + s]!;
    const term =
      segmentDot(a.integers, i * width + s * segment, b.integers, j * width + s * segment, segment) * scale;
    const sum = high + term;
    const error = errorOfSum(high, term, sum);
    high = sum;
    if (error === 0) continue;
    const rest = low + error;
    lost ||= errorOfSum(low, error, rest) !== 0;
    low = rest;
  }
  return lost ? widestSum(a, i, b, j, c) : oddSum(high, low) + 0;
}

function widestSum(a: LoadedRows, i: number, b: LoadedRows, j: number, c: number): number {
  const { segment, segments } = a;
  const width = segment * segments;
  let sum = fromNumber(c);
  for (let s = 0; s < segments; s++) {
    const scale = a.scales[i * segments + s]! * b.scales[j * segments + s]!;
    const dot = segmentDot(a.integers, i * width + s * segment, b.integers, j * width + s * segment, segment);
    if (dot !== 0) sum = add(sum, fromNumber(dot * scale));
  }
  return oddNumber(sum);
}
