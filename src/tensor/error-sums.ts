/**
 * Exact sums of squares over whole arrays of FP32 numbers, in groups that share an exponent, so that most elements cost a few
 * additions of binary64 numbers and none of long integers.
 *
 * Why nothing is rounded. Let E be the largest exponent of the group, so that every |x| and |y| is below 2^(E+1).
 * - An element takes the short way where x and y are multiples of 2^(E-45). Then d = x - y is one too, and below 2^(E+2): at
 *   most 47 bits, so the subtraction is exact.
 * - It must also be that d is an FP32 number. Then x^2 and d^2 have at most 48 bits and are exact, multiples of 2^(2E-90).
 * - Each square is split at 2^(2E-43). The upper parts of 64 squares below 2^(2E+4) add up to at most 2^(2E+10), which is 2^53
 *   units; the lower parts, at most 2^(2E-44) each, to at most 2^52 units of 2^(2E-90).
 * Any other element, six in a million of Gaussian ones, goes the long way. Clauses: spec/tensors.md TEN-12, TEN-13.
 * @module
 */
import { valuesOf } from '../fast/f32.ts';
import type { SumOfSquares } from '../number/exact-sum.ts';
import { twoTo } from '../number/number-bits.ts';

const GROUP = 64;
const INFINITE = 0x7f800000;

/** By exponent field, the number whose last bit is 2^(E-45): what is added to it and taken away again is rounded to that. */
let align: Float64Array | undefined;
/** By exponent field, the number whose last bit is 2^(2E-43). */
let split: Float64Array | undefined;

/** E of an exponent field; subnormals lie below the smallest normal number. */
const exponentOf = (field: number): number => Math.max(field, 1) - 127;

function tables(): { align: Float64Array; split: Float64Array } {
  align ??= Float64Array.from({ length: 255 }, (_, field) => 1.5 * twoTo(exponentOf(field) + 7));
  split ??= Float64Array.from({ length: 255 }, (_, field) => 1.5 * twoTo(2 * exponentOf(field) + 9));
  return { align, split };
}

/** How many of some elements are special. */
export interface ElementCounts {
  /** x is nonzero and no NaN. */
  nonzero: number;
  /** Of those, y is zero. */
  underflowed: number;
  /** x or y is a NaN or an infinity; neither sum has the element. */
  nonfinite: number;
}

/**
 * Adds the squares of x to `signal`, those of x - y to `error`, and counts.
 * @param x FP32 words
 * @param y FP32 words, as many
 */
export function addElements(
  signal: SumOfSquares,
  error: SumOfSquares,
  counts: ElementCounts,
  x: Uint32Array,
  y: Uint32Array,
): void {
  const { align, split } = tables();
  const xs = valuesOf(x);
  const ys = valuesOf(y);
  for (let from = 0; from < x.length; from += GROUP) {
    const to = Math.min(from + GROUP, x.length);
    let largest = 0;
    let zeros = 0;
    let underflowed = 0;
    for (let i = from; i < to; i++) {
      const a = x[i]! & 0x7fffffff;
      const b = y[i]! & 0x7fffffff;
      // The larger of two by the sign of their difference: measured, half the time of comparisons, which are mispredicted.
      const c = (a - b) | 0;
      const larger = (a - (c & (c >> 31))) | 0;
      const d = (larger - largest) | 0;
      largest = (larger - (d & (d >> 31))) | 0;
      // The sign of magnitude - 1 tells a zero.
      zeros = (zeros + ((a - 1) >>> 31)) | 0;
      underflowed = (underflowed + (((b - 1) & ~(a - 1)) >>> 31)) | 0;
    }
    if (largest >= INFINITE) {
      for (let i = from; i < to; i++) addElement(signal, error, counts, xs[i]!, ys[i]!);
      continue;
    }
    counts.nonzero += to - from - zeros;
    counts.underflowed += underflowed;
    if (largest === 0) continue;
    const aligned = align[largest >>> 23]!;
    const splitter = split[largest >>> 23]!;
    let signalHigh = 0;
    let signalLow = 0;
    let errorHigh = 0;
    let errorLow = 0;
    for (let i = from; i < to; i++) {
      const a = xs[i]!;
      const b = ys[i]!;
      const d = a - b;
      if (a + aligned - aligned !== a || b + aligned - aligned !== b || Math.fround(d) !== d) {
        signal.addSquare(a);
        error.addSquaredDifference(a, b);
        continue;
      }
      const s = a * a;
      const sHigh = s + splitter - splitter;
      signalHigh += sHigh;
      signalLow += s - sHigh;
      const e = d * d;
      const eHigh = e + splitter - splitter;
      errorHigh += eHigh;
      errorLow += e - eHigh;
    }
    signal.addSum(signalHigh);
    signal.addSum(signalLow);
    error.addSum(errorHigh);
    error.addSum(errorLow);
  }
}

/** One element, x any binary64 number and y any FP32 number. */
export function addElement(
  signal: SumOfSquares,
  error: SumOfSquares,
  counts: ElementCounts,
  x: number,
  y: number,
): void {
  // TEN-14. A NaN is neither zero nor a number that could become zero.
  if (x !== 0 && !Number.isNaN(x)) {
    counts.nonzero++;
    if (y === 0) counts.underflowed++;
  }
  if (!Number.isFinite(x) || !Number.isFinite(y)) {
    counts.nonfinite++;
    return;
  }
  signal.addSquare(x);
  error.addSquaredDifference(x, y);
}
