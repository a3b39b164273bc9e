/**
 * The arithmetic of a step: operations rounded once to the step's dtype, half-even, and sums without rounding on the way.
 * Clauses: spec/grpo.md GRP-01.
 * @module
 */
import { exp, exp32, log, log32 } from '../number/elementary.ts';
import { type Exact, exact, floorLog2, isZero, multiply, subtract } from '../number/exact.ts';
import { exactTotal, nonfiniteSum } from '../number/exact-total.ts';
import { BINARY32, BINARY64, type NumberFormat, toNumber } from '../number/floats.ts';
import { exactRoot } from '../number/sqrt-exact.ts';
import type { Dtype } from './float-arithmetic.ts';

export interface StepFloat {
  readonly dtype: Dtype;
  /** A binary64 result of one operation on numbers of the dtype, to the dtype (FloatArithmetic tells why that is one rounding). */
  readonly round: (x: number) => number;
  readonly exp: (x: number) => number;
  readonly log: (x: number) => number;
  readonly format: NumberFormat;
}

export const STEP_FLOAT: Readonly<Record<Dtype, StepFloat>> = {
  float64: { dtype: 'float64', round: (x) => x, exp, log, format: BINARY64 },
  float32: { dtype: 'float32', round: Math.fround, exp: exp32, log: log32, format: BINARY32 },
};

/** GRP-01. The exact sum, rounded once; +0 where it is 0; NaN and infinities as IEEE 754 adds them. */
export function sum(values: readonly number[] | Float64Array, f: StepFloat): number {
  return nonfiniteSum(values) ?? toNumber(exactTotal(values), f.format);
}

/** x / n for a whole n > 0, the divisor odd as Exact wants it. */
function over(x: Exact, n: number): Exact {
  let odd = BigInt(n);
  let twos = 0;
  for (; (odd & 1n) === 0n; odd >>= 1n) twos++;
  return { significand: x.significand, divisor: x.divisor * odd, exponent: x.exponent - twos };
}

/** GRP-01. The exact mean, rounded once. */
export function mean(values: readonly number[], f: StepFloat): number {
  return nonfiniteSum(values) ?? toNumber(over(exactTotal(values), values.length), f.format);
}

/** Bits of a quotient that its root cannot be told from when they are followed by a bit for what is lost. */
const ROOT_BITS = 128;

function root(x: Exact, format: NumberFormat): number {
  if (isZero(x)) return 0;
  const shift = Math.max(0, ROOT_BITS - floorLog2(exact(x.significand)) + floorLog2(exact(x.divisor)));
  const scaled = x.significand << BigInt(shift);
  const whole = scaled / x.divisor;
  const sticky = whole * x.divisor === scaled ? 0n : 1n;
  return exactRoot(exact(2n * whole + sticky, x.exponent - shift - 1), format);
}

/** GRP-01. The exact standard deviation with divisor n - 1 (ddof 1), rounded once; n is at least 2. */
export function deviation(values: readonly number[], f: StepFloat): number {
  if (nonfiniteSum(values) !== undefined) return Number.NaN;
  const n = values.length;
  const parts = values.map((x) => exactTotal([x]));
  const squares = parts.reduce((s, x) => s + x.significand * x.significand, 0n);
  const total = exactTotal(values);
  // (n Sum x^2 - (Sum x)^2) / (n (n - 1)), all in units of 2^-2148.
  const numerator = subtract(multiply(exact(n), exact(squares, 2 * total.exponent)), multiply(total, total));
  return root(over(numerator, n * (n - 1)), f.format);
}
