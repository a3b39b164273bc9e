/**
 * The square root rounded once, half-even. Clauses: spec/elementary.md ELE-06.
 *
 * ECMA-262 leaves Math.sqrt to the implementation, so its answer is a first guess, put right by an exact residual. Math.fround
 * is specified bit for bit.
 * @module
 */

import { productError } from './double-double.ts';
import { FLOAT, HIGH, twoTo, WORDS } from './number-bits.ts';

const ULP = 2 ** -52;

/** ELE-06. The binary64 number nearest to the square root of x. */
export function sqrt(x: number): number {
  if (!(x > 0) || x === Number.POSITIVE_INFINITY) return x === 0 || x > 0 ? x : Number.NaN;
  if (x < 2 ** -1022) return sqrt(x * 2 ** 108) * 2 ** -54;
  // x = m 4^k with m from 1 up to 4; the root of m lies in [1, 2), whose numbers are 2^-52 apart.
  FLOAT[0] = x;
  const top = WORDS[HIGH]!;
  const k = ((top >>> 20) - 1023) >> 1;
  WORDS[HIGH] = top - ((2 * k) << 20);
  const m = FLOAT[0]!;
  let r = Math.sqrt(m);
  // R 2^-52 is nearest to the root of M 2^-104 where (R - 1/2)^2 < M < (R + 1/2)^2, that is -R < M - R^2 <= R.
  while (residual(m, r) > r * ULP) r += ULP;
  while (residual(m, r) <= -r * ULP) r -= ULP;
  return r * twoTo(k);
}

/** m - r^2, exact where r is within a few ulp of the root: Dekker's product, then differences without rounding. */
function residual(m: number, r: number): number {
  const square = r * r;
  return m - square - productError(r, r, square);
}

/** ELE-06. For a binary32 x. Two roundings are one here: 53 bits are at least 2 x 24 + 2 (Figueroa). */
export const sqrt32 = (x: number): number => Math.fround(sqrt(x));
