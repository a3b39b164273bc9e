/**
 * a x b + c with one rounding, half-even: the definition. Clauses: spec/elementary.md ELE-07.
 * @module
 */
import { add, fromNumber, isZero, multiply } from './exact.ts';
import { type NumberFormat, toNumber } from './floats.ts';

/** ELE-07. a, b and c are numbers of the format. */
export function exactFma(a: number, b: number, c: number, format: NumberFormat): number {
  // What IEEE 754 says of NaN, infinities and zero factors is what the two operations say one by one.
  if (!Number.isFinite(a) || !Number.isFinite(b) || a === 0 || b === 0) return a * b + c;
  if (!Number.isFinite(c)) return c;
  const product = multiply(fromNumber(a), fromNumber(b));
  const sum = add(product, fromNumber(c));
  if (isZero(sum)) return 0;
  const rounded = toNumber(sum, format);
  return rounded === 0 && sum.significand < 0n ? -0 : rounded;
}
