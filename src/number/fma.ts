/**
 * a x b + c with one rounding, half-even. The exact sum goes through a number that is rounded to odd: rounding that again, to
 * two bits less or more, gives what one rounding gives (Boldo, Melquiond). Where a part could leave the normal range the
 * definition decides. Clauses: spec/elementary.md ELE-07, ELE-08.
 * @module
 */
import { productError, sumError } from './double-double.ts';
import { BINARY64 } from './floats.ts';
import { exactFma } from './fma-exact.ts';
import { FLOAT, HIGH, LOW, WORDS } from './number-bits.ts';

/** a + b rounded to odd: the exact sum where it is a number, else the one of its two neighbours whose last bit is 1. */
function oddSum(a: number, b: number): number {
  const sum = a + b;
  const error = sumError(a, b, sum);
  if (error === 0) return sum;
  FLOAT[0] = sum;
  if ((WORDS[LOW]! & 1) === 1) return sum;
  // One step toward the error; an even last bit has no carry upwards, and borrows from the upper word downwards.
  if (sum > 0 === error > 0) WORDS[LOW]!++;
  else {
    if (WORDS[LOW] === 0) WORDS[HIGH]!--;
    WORDS[LOW]!--;
  }
  return FLOAT[0]!;
}

const SMALLEST = 2 ** -400;
const LARGEST = 2 ** 400;

/** ELE-07. In binary64. */
export function fma(a: number, b: number, c: number): number {
  const product = a * b;
  const size = Math.abs(product);
  const addend = Math.abs(c);
  const inside =
    size >= SMALLEST &&
    size <= LARGEST &&
    addend <= LARGEST &&
    (addend >= SMALLEST || c === 0) &&
    Math.abs(a) <= LARGEST &&
    Math.abs(b) <= LARGEST;
  if (!inside) return exactFma(a, b, c, BINARY64);
  const productLow = productError(a, b, product);
  const low = c + productLow;
  const lowest = sumError(c, productLow, low);
  const high = product + low;
  const middle = sumError(product, low, high);
  // An exact zero is +0, as the sum of high and 0 is.
  return high + oddSum(middle, lowest);
}

/** ELE-07. In binary32: a product of two has 48 bits and lies in the normal range of binary64, so it is exact there. */
export function fma32(a: number, b: number, c: number): number {
  const product = a * b;
  // NaN and infinities, and zeros with their signs, are as in two operations.
  if (!(Math.abs(product) < Number.POSITIVE_INFINITY && Math.abs(c) < Number.POSITIVE_INFINITY))
    return product + c;
  return Math.fround(oddSum(product, c));
}
