/**
 * exp, expm1, log and log1p rounded once, half-even: the definition. An enclosure in integers is made narrower until both
 * ends round to the same number (Ziv's strategy). It ends: where the argument is not 0 (for log, 1) the value is
 * transcendental (Lindemann), so it is neither a number of the format nor halfway between two.
 * Clauses: spec/elementary.md ELE-01 to ELE-05.
 * @module
 */
import { add, atLeast, type Exact, exact, floorLog2, fromNumber } from './exact.ts';
import { atanh, expSeries, ln2 } from './fixed-point.ts';
import { type NumberFormat, toNumber } from './floats.ts';

/** low <= value x 2^-exponent <= high. */
interface Enclosure {
  readonly low: bigint;
  readonly high: bigint;
  readonly exponent: number;
}

/** More than twice the precision of binary64: the second round is for about one argument in 2^60. */
const FIRST_BITS = 128;

/** ELE-02. */
function decide(enclose: (bits: number) => Enclosure, format: NumberFormat): number {
  for (let bits = FIRST_BITS; ; bits *= 2) {
    const { low, high, exponent } = enclose(bits);
    const rounded = toNumber(exact(low, exponent), format);
    if (rounded === toNumber(exact(high, exponent), format)) return rounded;
  }
}

/** x in units of 2^-bits, rounded down. */
function fixed(x: Exact, bits: number): bigint {
  const shift = x.exponent + bits;
  return shift >= 0 ? x.significand << BigInt(shift) : x.significand >> BigInt(-shift);
}

/** exp(x) for |x| < 2^11. */
function encloseExp(x: Exact, bits: number): Enclosure {
  const whole = fixed(x, bits);
  const unit = ln2(bits);
  const k = (2n * whole + unit) / (2n * unit); // any integer near x / ln 2 will do
  const { value, error } = expSeries(whole - k * unit, bits);
  // The argument is off by 1 and |k| (2 bits) units; exp has a slope below 2 here.
  const uncertainty = error + 2n * (1n + 2n * BigInt(bits) * (k < 0n ? -k : k));
  return { low: value - uncertainty, high: value + uncertainty, exponent: Number(k) - bits };
}

/** exp(x) - 1. */
function encloseExpm1(x: Exact, bits: number): Enclosure {
  const lost = Math.max(0, -magnitudeLog2(x)); // what the subtraction takes away
  const { low, high, exponent } = encloseExp(x, bits + lost);
  if (exponent > 0)
    return { low: (low << BigInt(exponent)) - 1n, high: (high << BigInt(exponent)) - 1n, exponent: 0 };
  const one = 1n << BigInt(-exponent);
  return { low: low - one, high: high - one, exponent };
}

/** log x of a positive x. */
function encloseLog(x: Exact, bits: number): Enclosure {
  const top = floorLog2(x);
  // A mantissa from 3/4 up to 3/2: then log x has no cancellation, and the quotient is at most 1/5.
  const e = atLeast(x, exact(3, top - 1)) ? top + 1 : top;
  const shift = x.exponent - e; // mantissa = significand x 2^shift
  const one = shift < 0 ? 1n << BigInt(-shift) : 1n;
  const mantissa = shift < 0 ? x.significand : x.significand << BigInt(shift);
  const difference = exact(mantissa - one);
  const lost = e === 0 && mantissa !== one ? Math.max(0, -shift - magnitudeLog2(difference)) : 0;
  const p = bits + lost;
  const value = 2n * atanh(mantissa - one, mantissa + one, p) + BigInt(e) * ln2(p);
  const uncertainty = BigInt(2 * p * (Math.abs(e) + 1));
  return { low: value - uncertainty, high: value + uncertainty, exponent: -p };
}

const magnitudeLog2 = (x: Exact): number =>
  floorLog2(x.significand < 0n ? { ...x, significand: -x.significand } : x);

/** Below this magnitude x + x^2 rounds as x does not: it is x, and 1 + x is 1. */
const tiny = (format: NumberFormat): number => 2 ** -(format.precision + 1);

/** Above this exp overflows, below its negative (with the subnormals' bits) it is 0: a little wide, in whole numbers. */
const largestExponent = (format: NumberFormat): number => Math.ceil((format.maxExponent + 1) * 0.7);
const smallestExponent = (format: NumberFormat): number =>
  Math.floor((format.minExponent - format.precision - 1) * 0.7);

/** ELE-03. e^x. */
export function exactExp(x: number, format: NumberFormat): number {
  if (Number.isNaN(x)) return Number.NaN;
  if (x > largestExponent(format)) return Number.POSITIVE_INFINITY;
  if (x < smallestExponent(format)) return 0;
  if (Math.abs(x) < tiny(format)) return 1;
  const exactX = fromNumber(x);
  return decide((bits) => encloseExp(exactX, bits), format);
}

/** ELE-03. e^x - 1. */
export function exactExpm1(x: number, format: NumberFormat): number {
  if (Number.isNaN(x)) return Number.NaN;
  if (x > largestExponent(format)) return Number.POSITIVE_INFINITY;
  if (x < -format.precision) return -1; // e^-53 < 2^-76
  if (Math.abs(x) < tiny(format)) return x;
  const exactX = fromNumber(x);
  return decide((bits) => encloseExpm1(exactX, bits), format);
}

/** ELE-04. The natural logarithm. */
export function exactLog(x: number, format: NumberFormat): number {
  if (Number.isNaN(x) || x < 0) return Number.NaN;
  if (x === 0) return Number.NEGATIVE_INFINITY;
  if (x === Number.POSITIVE_INFINITY) return x;
  if (x === 1) return 0;
  const exactX = fromNumber(x);
  return decide((bits) => encloseLog(exactX, bits), format);
}

/** ELE-04. log(1 + x), the sum not rounded. */
export function exactLog1p(x: number, format: NumberFormat): number {
  if (Number.isNaN(x) || x < -1) return Number.NaN;
  if (x === -1) return Number.NEGATIVE_INFINITY;
  if (x === Number.POSITIVE_INFINITY || Math.abs(x) < tiny(format)) return x;
  const sum = add(exact(1), fromNumber(x));
  return decide((bits) => encloseLog(sum, bits), format);
}
