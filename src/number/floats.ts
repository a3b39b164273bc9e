/**
 * The IEEE 754 interchange formats and bfloat16, as records and as JavaScript numbers.
 * Clauses: spec/conventions.md NUM-07.
 * @module
 */
import { type BinaryFormat, decode, encode, type FloatValue, finite } from './binary-format.ts';
import { type Exact, floorLog2, isZero } from './exact.ts';
import { roundMagnitude } from './round.ts';

const ieee = (name: string, exponentBits: number, fractionBits: number): BinaryFormat => ({
  name,
  signBits: 1,
  exponentBits,
  fractionBits,
  bias: 2 ** (exponentBits - 1) - 1,
  subnormals: true,
  top: 'ieee',
  canonicalNaN: (2 ** (exponentBits + 1) - 1) * 2 ** (fractionBits - 1),
});

/** bfloat16: the upper half of binary32. */
export const BF16 = ieee('BF16', 8, 7);
/** IEEE 754 binary16. */
export const FP16 = ieee('FP16', 5, 10);
/** IEEE 754 binary32. */
export const FP32 = ieee('FP32', 8, 23);

/** A magnitude rounded half-even to a format, back as an exact number; it must not overflow the format. */
export function roundTo(format: BinaryFormat, magnitude: Exact): Exact {
  const rounded = decode(format, encode(format, finite(magnitude)));
  if (rounded.kind !== 'finite')
    throw new RangeError('roundTo saturates and never leaves the finite numbers');
  return rounded.magnitude;
}

/** A binary format whose numbers are JavaScript numbers. */
export interface NumberFormat {
  readonly precision: number;
  /** Of the lowest binade of normal numbers. */
  readonly minExponent: number;
  readonly maxExponent: number;
}

export const BINARY64: NumberFormat = { precision: 53, minExponent: -1022, maxExponent: 1023 };
export const BINARY32: NumberFormat = { precision: 24, minExponent: -126, maxExponent: 127 };

/** The number of the format nearest to an exact one, ties to even; beyond the largest, an infinity. Zero is +0. */
export function toNumber(x: Exact, format: NumberFormat = BINARY64): number {
  if (isZero(x)) return 0;
  const negative = x.significand < 0n;
  const magnitude = negative ? { ...x, significand: -x.significand } : x;
  const { precision, minExponent, maxExponent } = format;
  const quantum = Math.max(floorLog2(magnitude), minExponent) - precision + 1;
  const units = Number(roundMagnitude(magnitude, quantum, false, 'even'));
  // Two exact steps, since 2^quantum alone can lie outside the range of binary64 where the product does not.
  const half = Math.trunc(quantum / 2);
  const beyond =
    quantum > maxExponent - precision + 1 ||
    units * 2 ** (1 - precision) * 2 ** (quantum + precision - 1 - maxExponent) >= 2;
  const rounded = beyond ? Number.POSITIVE_INFINITY : units * 2 ** half * 2 ** (quantum - half);
  return negative ? -rounded : rounded;
}

const scratch = new DataView(new ArrayBuffer(8));

/** The value of a binary64 number, infinities, NaN and the sign of zero kept. */
export function fromBinary64(x: number): FloatValue {
  scratch.setFloat64(0, x);
  const bits = scratch.getBigUint64(0);
  const negative = bits >> 63n === 1n;
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  if (field === 0x7ff) return fraction === 0n ? { kind: 'infinite', negative } : { kind: 'nan' };
  const significand = field === 0 ? fraction : fraction | (1n << 52n);
  return finite({ significand, divisor: 1n, exponent: Math.max(field, 1) - 1075 }, negative);
}
