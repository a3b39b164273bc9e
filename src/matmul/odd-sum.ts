/**
 * Sums of binary64 numbers rounded to odd: a sum that binary64 does not hold goes to the neighbour whose last bit is 1, so that
 * rounding it again to 51 bits or fewer gives what rounding the sum itself would. Clauses: spec/gemm.md GEM-08, GEM-09.
 * @module
 */

import { type Exact, floorLog2, isZero } from '../number/exact.ts';
import { twoTo } from '../number/number-bits.ts';
import { split } from '../number/round.ts';

const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/** The error of the binary64 sum s of x and y (Knuth), exact where nothing overflows. */
export function errorOfSum(x: number, y: number, s: number): number {
  const t = s - x;
  return x - (s - t) + (y - t);
}

/** x + y rounded to odd; neither overflows nor reaches the subnormal numbers. */
export function oddSum(x: number, y: number): number {
  const s = x + y;
  const error = errorOfSum(x, y, s);
  if (error === 0) return s;
  double[0] = s;
  if ((bits[0]! & 1n) === 1n) return s;
  // Bits of a negative number grow with its magnitude too.
  bits[0]! += error > 0 === s > 0 ? 1n : -1n;
  return double[0]!;
}

/** An exact dyadic number rounded to odd; its magnitude lies within the normal numbers of binary64, or is 0. */
export function oddNumber(x: Exact): number {
  if (isZero(x)) return 0;
  const negative = x.significand < 0n;
  const magnitude = negative ? { ...x, significand: -x.significand } : x;
  const quantum = floorLog2(magnitude) - 52;
  const { lower, position } = split(magnitude, quantum);
  const units = Number(position === 'exact' ? lower : lower | 1n);
  const rounded = units * twoTo(quantum);
  return negative ? -rounded : rounded;
}

/** Whether a number may stand for a sum that it is not equal to: only an odd one does. */
export function isOdd(x: number): boolean {
  double[0] = x;
  return (bits[0]! & 1n) === 1n;
}
