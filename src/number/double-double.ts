/**
 * Sums and products of two binary64 numbers without loss: the rounded result is the language's own, and these give what the
 * rounding took away, which is a binary64 number itself (Dekker, Knuth). Nothing may overflow or fall below 2^-1022.
 * Clauses: spec/elementary.md ELE-08.
 * @module
 */

/** a + b - s, where s is the rounded sum. */
export function sumError(a: number, b: number, s: number): number {
  const back = s - a;
  return a - (s - back) + (b - back);
}

/** The same for |a| >= |b| or a = 0: one subtraction less. */
export const smallSumError = (a: number, b: number, s: number): number => b - (s - a);

/** Veltkamp's constant: splits a 53-bit significand into two of 26 bits. */
const SPLITTER = 2 ** 27 + 1;

/** a x b - p, where p is the rounded product; |a| and |b| below 2^990. */
export function productError(a: number, b: number, p: number): number {
  const shiftedA = SPLITTER * a;
  const highA = shiftedA - (shiftedA - a);
  const lowA = a - highA;
  const shiftedB = SPLITTER * b;
  const highB = shiftedB - (shiftedB - b);
  const lowB = b - highB;
  return lowA * lowB - (p - highA * highB - lowA * highB - highA * lowB);
}
