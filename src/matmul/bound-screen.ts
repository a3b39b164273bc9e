/**
 * Bounds in binary64 with every rounding covered: whether an output is surely inside, surely outside, or to be decided on exact
 * numbers. Clauses: spec/gemm.md BND-03, BND-07.
 * @module
 */
import { exponentOf, twoTo } from '../number/number-bits.ts';
import { growthOf, type TruncatingModel } from './bound.ts';

/** An interval that holds a real number. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

const U = 2 ** -24;
/** More than the relative error of the few operations of one formula, and of a sum rounded to odd. */
const SLACK = 2 ** -48;

const around = (low: number, high: number): Interval => ({
  low: low * (1 - SLACK),
  high: high * (1 + SLACK),
});

/**
 * BND-07. (1 + u)^m - 1 with x = m u < 1 lies between x + m (m - 1) u^2 / 2, the beginning of a series of positive terms, and
 * x + x^2 / 2 + x^3, since it is below e^x - 1.
 * @returns undefined where x is not below 1
 */
export function fp32Interval(count: number, total: number): Interval | undefined {
  if (count <= 1) return { low: 0, high: 0 };
  const m = count - 1;
  const x = m * U;
  if (x >= 1) return undefined;
  return around((x + (x * (m - 1) * U) / 2) * total, (x + (x * x) / 2 + x * x * x) * total);
}

/** BND-05 in binary64: powers of two and small integers, so it is exact but for the last sum. */
export function truncatingInterval(
  model: TruncatingModel,
  depth: number,
  total: number,
  alignment: number,
): Interval {
  if (total === 0) return { low: 0, high: 0 };
  const steps = Math.ceil(depth / model.group);
  const top = exponentOf(total) + growthOf(model, steps);
  const aligned = Math.max(top, alignment, model.exponentFloor);
  const terms = (model.group + 1) * twoTo(aligned - model.fractionBits);
  const output = twoTo(Math.max(top - model.outputFractionBits, -149));
  const bound = steps * (terms + output);
  return around(bound, bound);
}

/** Both ends of the admitted values as intervals: sum - bound and sum + bound. */
export function edges(sum: number, bound: Interval): readonly [lower: Interval, upper: Interval] {
  const error = SLACK * (Math.abs(sum) + bound.high);
  return [
    { low: sum - bound.high - error, high: sum - bound.low + error },
    { low: sum + bound.low - error, high: sum + bound.high + error },
  ];
}
