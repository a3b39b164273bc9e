/**
 * Whole powers rounded once, half-even. Clauses: spec/elementary.md ELE-10.
 * @module
 */
import { exact, floorLog2, fromNumber, isZero } from './exact.ts';
import { toNumber } from './floats.ts';

/** significand x 2^exponent, and how far below the truth it is at most, in units of the significand. */
interface Truncated {
  readonly significand: bigint;
  readonly exponent: number;
  readonly error: bigint;
}

const FIRST_BITS = 192;
/** Below 2^-1075 everything rounds to 0. */
const VANISHING = -1200;

/** The leading bits of a x b; nothing is lost where the product has no more. */
function product(a: Truncated, b: Truncated, bits: number): Truncated {
  const significand = a.significand * b.significand;
  const error = a.significand * b.error + b.significand * a.error + a.error * b.error;
  const excess = floorLog2(exact(significand)) + 1 - bits;
  const exponent = a.exponent + b.exponent;
  if (excess <= 0) return { significand, exponent, error };
  const shift = BigInt(excess);
  const kept = significand >> shift;
  const lost = kept << shift === significand && error === 0n ? 0n : (error >> shift) + 2n;
  return { significand: kept, exponent: exponent + excess, error: lost };
}

function power(base: Truncated, n: number, bits: number): Truncated {
  let result: Truncated = { significand: 1n, exponent: 0, error: 0n };
  for (const bit of n.toString(2)) {
    result = product(result, result, bits);
    if (bit === '1') result = product(result, base, bits);
  }
  return result;
}

/**
 * ELE-10. x^n in binary64.
 * @param x from 0 to 1
 * @param n a positive safe integer
 */
export function wholePower(x: number, n: number): number {
  const { significand, exponent } = fromNumber(x);
  if (isZero(exact(significand))) return 0;
  // An exact power ends the loop at the latest where nothing is cut off any more.
  for (let bits = FIRST_BITS; ; bits *= 2) {
    const p = power({ significand, exponent, error: 0n }, n, bits);
    if (floorLog2(exact(p.significand, p.exponent)) < VANISHING) return 0;
    const low = toNumber(exact(p.significand, p.exponent));
    if (low === toNumber(exact(p.significand + p.error, p.exponent))) return low;
  }
}
