/**
 * exp and expm1 as the sum of two binary64 numbers with a proven bound on the error; where the bound leaves two roundings open,
 * the definition decides. Clauses: spec/elementary.md ELE-03, ELE-08, ELE-09 (with the proof of every bound named here).
 *
 * x = k ln 2 / 64 + r, |r| < 0.00542; e^x = 2^(k div 64) 2^((k mod 64) / 64) (1 + q), q = e^r - 1.
 * @module
 */
import { productError, smallSumError, sumError } from './double-double.ts';
import { exactExp, exactExpm1 } from './elementary-exact.ts';
import { EXP_STEPS, type ExpTable, expTable } from './elementary-tables.ts';
import { BINARY32, BINARY64 } from './floats.ts';
import { twoTo } from './number-bits.ts';

/** Within it the result is normal and the table's k fits 16 bits. */
const LARGEST = 708;
/** Below it the functions are 1 and x. */
const TINY = 2 ** -54;
/** Up to here k is 0, and expm1 is q with an error relative to x. */
const SMALL = 0.0054;

/** |error| <= EXP_ERROR of the mantissa, which is at least 0.99. */
const EXP_ERROR = 2 ** -78;
/** |error| <= q RELATIVE_ERROR where k is 0. */
const RELATIVE_ERROR = 2 ** -74;
/** What sums of low parts lose beside the above, of the result. */
const SUM_ERROR = 2 ** -100;
/** |error| of the high part alone, of itself: half an ulp and the above, with room. */
const SINGLE_ERROR = 2 ** -51;

// The second number of a result, and the exponent of exp's: returning an object would cost more than the arithmetic.
let low = 0;
let exponent = 0;

/** e^(r + rest) - 1; leaves its low part in `low`. |rest| <= 2^-60. */
function smallExpm1({ sixth }: ExpTable, r: number, rest: number): number {
  const square = r * r;
  const squareLow = productError(r, r, square) + 2 * r * rest;
  const cube = square * r;
  const cubeLow = productError(square, r, cube) + squareLow * r;
  const term3 = cube * sixth[0];
  const term3Low = productError(cube, sixth[0], term3) + (cube * sixth[1] + cubeLow * sixth[0]);
  const tail = square * square * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * (1 / 40320)))));
  const half = square / 2;
  const sum2 = r + half;
  const sum3 = sum2 + term3;
  const errors = smallSumError(sum2, term3, sum3) + smallSumError(r, half, sum2);
  low = tail + (term3Low + squareLow / 2 + rest + errors);
  return sum3;
}

/** e^x / 2^exponent, normalized; leaves the rest in `low` and `exponent`. */
function mantissa(x: number): number {
  const table = expTable();
  const { step } = table;
  const k = Math.floor(x * table.perLn2 + 0.5);
  const near = x - k * step[0];
  const second = k * step[1];
  const r = near - second;
  const rest = sumError(near, -second, r) - k * step[2];
  const q = smallExpm1(table, r, rest);
  const qLow = low;
  const j = k & (EXP_STEPS - 1);
  const t = table.high[j]!;
  const product = t * q;
  const sum = t + product;
  const sumLow =
    smallSumError(t, product, sum) +
    (productError(t, q, product) + (t * qLow + (table.low[j]! + table.low[j]! * q)));
  const high = sum + sumLow;
  low = smallSumError(sum, sumLow, high);
  exponent = (k - j) / EXP_STEPS;
  return high;
}

/** ELE-03. e^x in binary64. */
export function exp(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude <= LARGEST && magnitude >= TINY)) return exactExp(x, BINARY64);
  const high = mantissa(x);
  const rounded = high + (low - EXP_ERROR);
  if (rounded !== high + (low + EXP_ERROR)) return exactExp(x, BINARY64);
  return rounded * twoTo(exponent);
}

/** ELE-03. e^x in binary32. */
export function exp32(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude <= LARGEST && magnitude >= TINY)) return exactExp(x, BINARY32);
  const value = mantissa(x) * twoTo(exponent);
  const rounded = Math.fround(value * (1 - SINGLE_ERROR));
  return rounded === Math.fround(value * (1 + SINGLE_ERROR)) ? rounded : exactExp(x, BINARY32);
}

/** e^x - 1, normalized; leaves its low part in `low` and returns the high one. */
function minusOne(x: number): number {
  let high: number;
  let rest: number;
  if (Math.abs(x) < SMALL) {
    high = smallExpm1(expTable(), x, 0);
    rest = low;
  } else {
    const m = mantissa(x);
    const scale = twoTo(exponent);
    const value = m * scale;
    high = value - 1;
    rest = sumError(value, -1, high) + low * scale;
  }
  const sum = high + rest;
  low = smallSumError(high, rest, sum);
  return sum;
}

/** Below it e^x - 1 rounds to -1 in binary64. */
const LOWEST_EXPM1 = -38;

/** ELE-03. e^x - 1 in binary64. */
export function expm1(x: number): number {
  const magnitude = Math.abs(x);
  if (!(x <= LARGEST && x >= LOWEST_EXPM1 && magnitude >= TINY)) return exactExpm1(x, BINARY64);
  const high = minusOne(x);
  const size = Math.abs(high);
  // e^x is at most 1 + |e^x - 1|.
  const error = magnitude < SMALL ? size * RELATIVE_ERROR : (1.5 + size) * EXP_ERROR + size * SUM_ERROR;
  const rounded = high + (low - error);
  return rounded === high + (low + error) ? rounded : exactExpm1(x, BINARY64);
}

/** ELE-03. e^x - 1 in binary32. */
export function expm132(x: number): number {
  const magnitude = Math.abs(x);
  if (!(x <= LARGEST && x >= LOWEST_EXPM1 && magnitude >= TINY)) return exactExpm1(x, BINARY32);
  const value = minusOne(x);
  const rounded = Math.fround(value * (1 - SINGLE_ERROR));
  return rounded === Math.fround(value * (1 + SINGLE_ERROR)) ? rounded : exactExpm1(x, BINARY32);
}
