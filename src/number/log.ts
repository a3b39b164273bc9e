/**
 * Logarithms to a fixed number of decimals, correctly rounded: in integers, so that every engine gives the same digits.
 * Math.log10 does not qualify: ECMA-262 leaves its accuracy to the engine. Clauses: spec/tensors.md TEN-13.
 * @module
 */
import { divide, type Exact, floorLog2, scale } from './exact.ts';
import { atanh } from './fixed-point.ts';

const DECIMALS = 4;

/**
 * 10 log10(a / b), rounded to 4 decimals; as the number nearest to that decimal.
 * @param a, b positive
 */
export function decibels(a: Exact, b: Exact): number {
  const ratio = divide(a, b);
  const exponent = floorLog2(ratio);
  const mantissa = scale(ratio, -exponent); // from 1 up to 2
  const shift = BigInt(Math.abs(mantissa.exponent));
  const numerator = mantissa.exponent > 0 ? mantissa.significand << shift : mantissa.significand;
  const denominator = mantissa.exponent < 0 ? mantissa.divisor << shift : mantissa.divisor;
  // Never a tie: 10^5 log10(ratio) = n + 1/2 would make 10^((2n + 1) / 200000) rational. So more bits always decide.
  for (let bits = 128; ; bits *= 2) {
    const ln2 = 2n * atanh(1n, 3n, bits);
    const ln10 = 3n * ln2 + 2n * atanh(1n, 9n, bits); // 10 = 8 x 5/4
    const ln = 2n * atanh(numerator - denominator, numerator + denominator, bits) + BigInt(exponent) * ln2;
    // ln is off by less than 2 bits (|exponent| + 1); ln10 by 8 bits, times a quotient below 0.31 (|exponent| + 1).
    const uncertainty = BigInt(8 * bits * (Math.abs(exponent) + 2));
    const units = 10n * 10n ** BigInt(DECIMALS);
    const low = roundedQuotient((ln - uncertainty) * units, ln10);
    const high = roundedQuotient((ln + uncertainty) * units, ln10);
    if (low === high) return Number(low) / 10 ** DECIMALS;
  }
}

/** a / b to the nearest integer; b is positive, and which way a tie goes does not matter to the caller. */
function roundedQuotient(a: bigint, b: bigint): bigint {
  const twice = 2n * a + b;
  const quotient = twice / (2n * b);
  return quotient * 2n * b > twice ? quotient - 1n : quotient; // division truncates; this is its floor
}
