/**
 * Scalar conversions on the bits of FP32 words: shifts, masks and comparisons only; proven equal to src/format/scalar.ts.
 * Clauses: spec/scalars.md SCA-09.
 * @module
 */
import { type BinaryFormat, largestFinite, type Overflow } from '../number/binary-format.ts';
import type { Ties } from '../number/round.ts';

const INFINITY_BITS = 0x7f800000;

/** Whether the integer below goes up, for a remainder compared with one half. */
function goesUp(
  remainder: number,
  half: number,
  lowerIsOdd: boolean,
  negative: boolean,
  ties: Ties,
): boolean {
  if (remainder === 0) return false;
  switch (ties) {
    case 'even':
      return remainder > half || (remainder === half && lowerIsOdd);
    case 'away':
      return remainder >= half;
    case 'zero':
      return remainder > half;
    case 'up':
      return remainder > half || (remainder === half && !negative);
    case 'truncate':
      return false;
    case 'ceil':
      return !negative;
    case 'floor':
      return negative;
    case 'odd':
      return !lowerIsOdd;
  }
}

/** SCA-09. The code of an FP32 word in a format of at most 16 bits; a NaN is canonical. */
export function encodeF32(f: BinaryFormat, word: number, ties: Ties, overflow: Overflow): number {
  const magnitude = word & 0x7fffffff;
  const negative = word >>> 31 === 1;
  if (magnitude > INFINITY_BITS) return f.canonicalNaN ?? 0;
  if (f.signBits === 0 && ((negative && magnitude > 0) || magnitude === INFINITY_BITS))
    return f.canonicalNaN!;
  const index =
    magnitude === INFINITY_BITS ? Number.POSITIVE_INFINITY : indexOf(f, magnitude, negative, ties);
  const largest = largestFinite(f);
  if (f.signBits === 0) return Math.min(index, largest);
  const sign = negative ? 1 << (f.exponentBits + f.fractionBits) : 0;
  if (index > largest) {
    if (overflow === 'saturate' || f.top === 'finite') return sign | largest;
    return f.top === 'ieee' ? sign | (largest + 1) : f.canonicalNaN!;
  }
  return f.top === 'negative-zero-nan' && index === 0 ? 0 : sign | index;
}

/** The rounded code of a finite magnitude, its exponent unbounded above. */
function indexOf(f: BinaryFormat, magnitude: number, negative: boolean, ties: Ties): number {
  if (magnitude === 0) return 0;
  const normalize = magnitude < 0x800000 ? Math.clz32(magnitude) - 8 : 0;
  const significand = normalize > 0 ? magnitude << normalize : (magnitude & 0x7fffff) | 0x800000;
  const exponent = Math.max(magnitude >>> 23, 1) - 127 - normalize;
  const lowest = f.subnormals ? 1 - f.bias : -f.bias;
  const binade = Math.max(exponent, lowest);
  // Beyond 25 places nothing is left but a remainder below one half.
  const shift = Math.min(23 - f.fractionBits + binade - exponent, 25);
  const lower = significand >>> shift;
  const index = lower - (f.subnormals ? 0 : 1 << f.fractionBits) + (binade - lowest) * (1 << f.fractionBits);
  if (index < 0) return 0;
  const remainder = significand - lower * (1 << shift);
  return goesUp(remainder, 1 << (shift - 1), index % 2 === 1, negative, ties) ? index + 1 : index;
}

/** SCA-09. The FP32 word of a code of a format of at most 16 bits; exact, a NaN canonical. */
export function decodeToF32(f: BinaryFormat, code: number): number {
  const width = f.exponentBits + f.fractionBits;
  const sign = f.signBits === 1 && (code >>> width) & 1 ? 0x80000000 : 0;
  const index = code & ((1 << width) - 1);
  if (f.top === 'negative-zero-nan' && sign !== 0 && index === 0) return 0x7fc00000;
  const largest = largestFinite(f);
  if (index > largest)
    return f.top === 'ieee' && index === largest + 1 ? (sign | INFINITY_BITS) >>> 0 : 0x7fc00000;
  const field = index >>> f.fractionBits;
  const hidden = !f.subnormals || field > 0 ? 1 << f.fractionBits : 0;
  let significand = hidden | (index & ((1 << f.fractionBits) - 1));
  if (significand === 0) return sign >>> 0;
  // Aligned so that the leading one stands at bit 23, where FP32 has its hidden one.
  const up = Math.clz32(significand) - 8;
  significand <<= up;
  const exponent = (f.subnormals ? Math.max(field, 1) : field) - f.bias - f.fractionBits - up + 23;
  if (exponent < -126) return (sign | (significand >>> (-126 - exponent))) >>> 0;
  return (sign | ((exponent + 127) << 23) | (significand & 0x7fffff)) >>> 0;
}
