/**
 * The scalar formats of HiF4, MX and FP8, and the conversions between them.
 * Standards: OCP MX v1.0 and OCP FP8 (E2M1, E8M0, E4M3, E5M2); arXiv 2602.11287 and PTO ISA (E1M2, E6M2);
 * the fnuz forms as in ONNX and ml_dtypes. Clauses: spec/scalars.md.
 * @module
 */
import {
  type BinaryFormat,
  codeBits,
  decode,
  encode,
  type FloatValue,
  finite,
  type Overflow,
} from '../number/binary-format.ts';
import { divide, exact } from '../number/exact.ts';
import { BF16, FP32 } from '../number/floats.ts';
import type { Ties } from '../number/round.ts';

/** SCA-01. Magnitudes 0, 0.5, 1, 1.5, 2, 3, 4, 6; 8 is -0; no NaN, no infinity. */
export const E2M1: BinaryFormat = {
  name: 'E2M1',
  signBits: 1,
  exponentBits: 2,
  fractionBits: 1,
  bias: 1,
  subnormals: true,
  top: 'finite',
};

/** SCA-02. Magnitudes 0 to 1.75 in steps of 0.25: a sign-magnitude integer over 4; 8 is -0; no NaN, no infinity. */
export const E1M2: BinaryFormat = {
  name: 'E1M2',
  signBits: 1,
  exponentBits: 1,
  fractionBits: 2,
  bias: 1,
  subnormals: true,
  top: 'finite',
};

/** SCA-03. Unsigned, hidden one, no zero: 00 is 2^-48, c0 is 1, fe is 49152; ff is the only NaN. */
export const E6M2: BinaryFormat = {
  name: 'E6M2',
  signBits: 0,
  exponentBits: 6,
  fractionBits: 2,
  bias: 48,
  subnormals: false,
  top: 'all-ones-nan',
  canonicalNaN: 0xff,
};

/** SCA-05. Powers of two: 00 is 2^-127, fe is 2^127; ff is the only NaN. */
export const E8M0: BinaryFormat = {
  name: 'E8M0',
  signBits: 0,
  exponentBits: 8,
  fractionBits: 0,
  bias: 127,
  subnormals: false,
  top: 'all-ones-nan',
  canonicalNaN: 0xff,
};

/** SCA-06. Largest 448 (7e); 7f and ff are NaN; no infinity. */
export const E4M3: BinaryFormat = {
  name: 'E4M3',
  signBits: 1,
  exponentBits: 4,
  fractionBits: 3,
  bias: 7,
  subnormals: true,
  top: 'all-ones-nan',
  canonicalNaN: 0x7f,
};

/** SCA-07. IEEE-like: largest 57344 (7b), infinity 7c, NaN 7d to 7f. */
export const E5M2: BinaryFormat = {
  name: 'E5M2',
  signBits: 1,
  exponentBits: 5,
  fractionBits: 2,
  bias: 15,
  subnormals: true,
  top: 'ieee',
  canonicalNaN: 0x7f,
};

/** SCA-08. Bias 8, largest 240 (7f); 80 is the only NaN, so there is no -0. */
export const E4M3FNUZ: BinaryFormat = {
  ...E4M3,
  name: 'E4M3FNUZ',
  bias: 8,
  top: 'negative-zero-nan',
  canonicalNaN: 0x80,
};

/** SCA-08. Bias 16, largest 57344 (7f); 80 is the only NaN, so there is no -0. */
export const E5M2FNUZ: BinaryFormat = {
  ...E5M2,
  name: 'E5M2FNUZ',
  bias: 16,
  top: 'negative-zero-nan',
  canonicalNaN: 0x80,
};

/** Every scalar format that a stream function converts to and from, by its name there. */
export const SCALARS = {
  e2m1: E2M1,
  e1m2: E1M2,
  e6m2: E6M2,
  e8m0: E8M0,
  e4m3: E4M3,
  e5m2: E5M2,
  e4m3fnuz: E4M3FNUZ,
  e5m2fnuz: E5M2FNUZ,
} as const;
export type ScalarName = keyof typeof SCALARS;

/** Conventions of one conversion, under the names of the stream's parameters. */
export interface ConversionPolicy {
  readonly ties: Ties;
  readonly overflow: Overflow;
  /** NUM-07: one canonical NaN, or sign and payload kept and quieted (between BF16 and FP32 only) and compared (CON-03). */
  readonly nan: 'canonical' | 'payload';
}

/** SCA-09, NUM-05. The code of one format converted to another: the exact value, rounded once. */
export function convert(
  from: BinaryFormat,
  to: BinaryFormat,
  code: number,
  policy: ConversionPolicy,
): number {
  const value = decode(from, code);
  if (value.kind === 'nan' && policy.nan === 'payload') return movePayload(from, to, code);
  return encode(to, value, policy.ties, policy.overflow);
}

/** NUM-07. A NaN whose sign and upper fraction bits are kept, and whose quiet bit is set. */
function movePayload(from: BinaryFormat, to: BinaryFormat, code: number): number {
  const shift = codeBits(to) - codeBits(from);
  const moved = shift >= 0 ? BigInt(code) << BigInt(shift) : BigInt(code) >> BigInt(-shift);
  return Number(moved | (1n << BigInt(to.fractionBits - 1)));
}

const ONE = exact(1);

/** SCA-04. bf16(1 / E6M2), half-even; the reciprocal of the NaN is the BF16 NaN. */
export function e6m2_to_bf16_reciprocal(code: number): number {
  const value = decode(E6M2, code);
  return value.kind === 'finite' ? encode(BF16, finite(divide(ONE, value.magnitude))) : BF16.canonicalNaN!;
}

/** The value of a BF16 or FP32 word. */
export const bf16Value = (word: number): FloatValue => decode(BF16, word);
export const f32Value = (word: number): FloatValue => decode(FP32, word);
