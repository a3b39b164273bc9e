/**
 * Rounding on JavaScript numbers, the fast path's counterpart of src/number/round.ts.
 *
 * Why binary64 is exact enough: every value rounded here is a 24-bit significand times an 8-bit one (32 bits, exact), or a
 * 24-bit significand over one of 3 bits. Such a quotient differs from any rounding threshold (at most 12 bits) either not at
 * all, and then it is exact, or by more than 2^-40 of itself, which one rounding to 53 bits cannot bridge.
 * @module
 */
import type { Ties } from '../number/round.ts';

const words = new Uint32Array(2);
const double = new Float64Array(words.buffer);
const HIGH = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;

/** floor(log2 x) of a positive normal number. */
export function exponentOf(x: number): number {
  double[0] = x;
  return ((words[HIGH]! >>> 20) & 0x7ff) - 1023;
}

/** 2^k for -1022 <= k <= 1023. */
export function twoTo(k: number): number {
  words[HIGH] = (k + 1023) << 20;
  words[1 - HIGH] = 0;
  return double[0]!;
}

/** A magnitude z rounded to an integer; z - floor(z) must be exact, which it is for every binary64 number. */
export function roundToInteger(z: number, negative: boolean, ties: Ties): number {
  const n = Math.floor(z);
  const rest = z - n;
  if (rest === 0) return n;
  switch (ties) {
    case 'even':
      return rest > 0.5 || (rest === 0.5 && n % 2 === 1) ? n + 1 : n;
    case 'away':
      return rest >= 0.5 ? n + 1 : n;
    case 'zero':
      return rest > 0.5 ? n + 1 : n;
    case 'up':
      return rest > 0.5 || (rest === 0.5 && !negative) ? n + 1 : n;
    case 'truncate':
      return n;
    case 'ceil':
      return negative ? n : n + 1;
    case 'floor':
      return negative ? n + 1 : n;
    case 'odd':
      return n % 2 === 1 ? n : n + 1;
  }
}

const SHIFTER = 2 ** 52;

/** A magnitude below 2^128 rounded half-even to BF16, subnormals included; a carry past the largest is kept as 2^128. */
export function roundToBF16(x: number): number {
  if (x === 0) return 0;
  const quantum = twoTo(Math.max(exponentOf(x), -126) - 7);
  // Adding 2^52 leaves no fraction bits, so the hardware's own half-even rounding does the work.
  return (x / quantum + SHIFTER - SHIFTER) * quantum;
}

/** The FP32 word of a finite FP32 word rounded half-even to BF16; beyond its largest, an infinity. */
export const roundWordToBF16 = (word: number): number =>
  ((word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000) >>> 0;

export const isNonfinite = (word: number): boolean => (word & 0x7f800000) === 0x7f800000;
