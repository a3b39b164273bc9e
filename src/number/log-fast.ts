/**
 * log and log1p as the sum of two binary64 numbers with a proven bound on the error; where the bound leaves two roundings open,
 * the definition decides. Clauses: spec/elementary.md ELE-04, ELE-08, ELE-09 (with the proof of every bound named here).
 *
 * x = 2^e m, m from 0.7031 up to 1.4063; c near 1/m with few bits; log x = e ln 2 - log c + log(1 + z), z = m c - 1.
 * @module
 */
import { productError, smallSumError, sumError } from './double-double.ts';
import { exactLog, exactLog1p } from './elementary-exact.ts';
import { FIRST_LOG, logTable } from './elementary-tables.ts';
import { BINARY32, BINARY64 } from './floats.ts';
import { FLOAT, HIGH, twoTo, WORDS } from './number-bits.ts';

const SMALLEST_NORMAL = 2 ** -1022;
/** Below it log1p is x. */
const TINY = 2 ** -54;
/** From here on the 1 of log(1 + x) is below every bound. */
const LARGE = 2 ** 110;
/** Up to here c is 1 and e is 0: the argument's distance from 1 is z itself. */
const NEAR_ONE = 2 ** -8;

/** |error| <= LOG_ERROR. */
const LOG_ERROR = 2 ** -78;
/** |error| <= log x RELATIVE_ERROR where x is near 1. */
const RELATIVE_ERROR = 2 ** -74;
/** What sums of low parts lose beside the above, of the result. */
const SUM_ERROR = 2 ** -100;
/** |error| of the high part alone, of itself: half an ulp and the above, with room. */
const SINGLE_ERROR = 2 ** -51;

// The second number of a result: returning an object would cost more than the arithmetic.
let low = 0;

/** base + baseLow + log(1 + z + rest), normalized; |z| < 0.0064, |rest| <= 2^-60; leaves the low part in `low`. */
function sumWithLog1p(base: number, baseLow: number, z: number, rest: number): number {
  const { third } = logTable();
  const square = z * z;
  const squareLow = productError(z, z, square) + 2 * z * rest;
  const cube = square * z;
  const cubeLow = productError(square, z, cube) + squareLow * z;
  const term3 = cube * third[0];
  const term3Low = productError(cube, third[0], term3) + (cube * third[1] + cubeLow * third[0]);
  const tail =
    square *
    square *
    (z * (1 / 5 - z * (1 / 6 - z * (1 / 7 - z * (1 / 8 - z * (1 / 9 - z * (1 / 10)))))) - 1 / 4);
  const half = square / 2;
  const sum1 = base + z;
  const sum2 = sum1 - half;
  const sum3 = sum2 + term3;
  const errors =
    smallSumError(sum2, term3, sum3) + (smallSumError(sum1, -half, sum2) + sumError(base, z, sum1));
  const sumLow = tail + (baseLow + (term3Low - squareLow / 2 + rest) + errors);
  const high = sum3 + sumLow;
  low = smallSumError(sum3, sumLow, high);
  return high;
}

/** log(x + rest) of a normal positive x that is not near 1, |rest| <= ulp(x) / 2; `shift` is added to the exponent. */
function logarithm(x: number, rest: number, shift: number): number {
  const table = logTable();
  FLOAT[0] = x;
  const top = WORDS[HIGH]!;
  const upper = (top & 0xfffff) >= 0x68000 ? 1 : 0; // mantissas from 1.40625 on are halved
  const e = (top >>> 20) - 1023 + upper;
  WORDS[HIGH] = (top & 0xfffff) | ((1023 - upper) << 20);
  const m = FLOAT[0]!;
  const i = Math.floor(m * 128 + 0.5) - FIRST_LOG;
  const c = table.reciprocal[i]!;
  const product = m * c;
  const far = product - 1;
  // Where rest is not 0, x is below LARGE, and the power is one.
  const near = productError(m, c, product) + (rest === 0 ? 0 : rest * twoTo(-e) * c);
  const z = far + near;
  const exponent = e + shift;
  return sumWithLog1p(
    exponent * table.ln2[0] + table.high[i]!,
    exponent * table.ln2[1] + table.low[i]!,
    z,
    sumError(far, near, z),
  );
}

function logOf(x: number): number {
  if (Math.abs(x - 1) < NEAR_ONE) return sumWithLog1p(0, 0, x - 1, 0);
  return x < SMALLEST_NORMAL ? logarithm(x * 2 ** 54, 0, -54) : logarithm(x, 0, 0);
}

function log1pOf(x: number): number {
  if (Math.abs(x) < NEAR_ONE) return sumWithLog1p(0, 0, x, 0);
  if (x >= LARGE) return logarithm(x, 0, 0);
  const sum = 1 + x;
  return logarithm(sum, sumError(1, x, sum), 0);
}

const errorOf = (size: number, nearOne: boolean): number =>
  nearOne ? size * RELATIVE_ERROR : LOG_ERROR + size * SUM_ERROR;

/** ELE-04. log x in binary64. */
export function log(x: number): number {
  if (!(x > 0 && x < Number.POSITIVE_INFINITY) || x === 1) return exactLog(x, BINARY64);
  const high = logOf(x);
  const error = errorOf(Math.abs(high), Math.abs(x - 1) < NEAR_ONE);
  const rounded = high + (low - error);
  return rounded === high + (low + error) ? rounded : exactLog(x, BINARY64);
}

/** ELE-04. log x in binary32. */
export function log32(x: number): number {
  if (!(x > 0 && x < Number.POSITIVE_INFINITY) || x === 1) return exactLog(x, BINARY32);
  const value = logOf(x);
  const rounded = Math.fround(value * (1 - SINGLE_ERROR));
  return rounded === Math.fround(value * (1 + SINGLE_ERROR)) ? rounded : exactLog(x, BINARY32);
}

const insideLog1p = (x: number): boolean =>
  x > -1 && x < Number.POSITIVE_INFINITY && (x >= TINY || x <= -TINY);

/** ELE-04. log(1 + x) in binary64, the sum not rounded. */
export function log1p(x: number): number {
  if (!insideLog1p(x)) return exactLog1p(x, BINARY64);
  const high = log1pOf(x);
  const error = errorOf(Math.abs(high), Math.abs(x) < NEAR_ONE);
  const rounded = high + (low - error);
  return rounded === high + (low + error) ? rounded : exactLog1p(x, BINARY64);
}

/** ELE-04. log(1 + x) in binary32, the sum not rounded. */
export function log1p32(x: number): number {
  if (!insideLog1p(x)) return exactLog1p(x, BINARY32);
  const value = log1pOf(x);
  const rounded = Math.fround(value * (1 - SINGLE_ERROR));
  return rounded === Math.fround(value * (1 + SINGLE_ERROR)) ? rounded : exactLog1p(x, BINARY32);
}
