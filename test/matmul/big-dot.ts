/** Products by BigInt alone, apart from the code under test: codes and scale words to integers over 2^-400. */
import { BF16, FP16, FP32 } from '../../src/number/floats.ts';

/** Fraction bits of every number here; a product has twice as many. */
export const FRACTION = 400;

const HALVES = [0n, 1n, 2n, 3n, 4n, 6n, 8n, 12n];

/** The values of packed blocks, each times 2^400; undefined for NaN. */
export function blockValues(
  format: 'hif4' | 'mxfp4',
  codes: Uint8Array,
  scales: Uint8Array,
): (bigint | undefined)[] {
  const block = format === 'hif4' ? 64 : 32;
  return Array.from({ length: 2 * codes.length }, (_, at) => {
    const h = Math.floor(at / block);
    const k = at % block;
    const code = at % 2 === 0 ? codes[at >> 1]! % 16 : codes[at >> 1]! >> 4;
    const negative = code >= 8;
    let units: bigint;
    if (format === 'mxfp4') {
      if (scales[h] === 255) return undefined;
      units = HALVES[code % 8]! << BigInt(FRACTION + scales[h]! - 128);
    } else {
      const [e6m2, level2, low, high] = scales.subarray(4 * h, 4 * h + 4);
      if (e6m2 === 255) return undefined;
      const level3 = low! + 256 * high!;
      const bits =
        (Math.floor(level2! / 2 ** Math.floor(k / 8)) % 2) +
        (Math.floor(level3 / 2 ** Math.floor(k / 4)) % 2);
      const significand = BigInt((code % 8) * (4 + (e6m2! % 4)));
      units = significand << BigInt(FRACTION + bits + Math.floor(e6m2! / 4) - 52);
    }
    return negative ? -units : units;
  });
}

/** A finite binary64 number times 2^400, which must be an integer. */
export function scaledNumber(x: number): bigint {
  let shift = FRACTION;
  while (!Number.isInteger(x)) {
    x *= 2;
    shift--;
  }
  return BigInt(x) << BigInt(shift);
}

const FORMATS = { f32: FP32, bf16: BF16, f16: FP16 };

/** An integer over 2^(2 x 400 + extra), rounded half-even to a word by counting, not by the project's rounding. */
export function roundedWord(sum: bigint, output: 'f32' | 'bf16' | 'f16', extra = 0): number {
  const { exponentBits, fractionBits, bias } = FORMATS[output];
  const sign = sum < 0n ? 2 ** (exponentBits + fractionBits) : 0;
  const magnitude = sum < 0n ? -sum : sum;
  if (magnitude === 0n) return 0;
  const exponent = Math.max(magnitude.toString(2).length - 1 - 2 * FRACTION - extra, 1 - bias);
  const unit = 1n << BigInt(2 * FRACTION + extra + exponent - fractionBits);
  let count = magnitude / unit;
  const rest = 2n * (magnitude % unit);
  if (rest > unit || (rest === unit && count % 2n === 1n)) count++;
  const code = Number(count) + (exponent - 1 + bias) * 2 ** fractionBits;
  const infinity = (2 ** exponentBits - 1) * 2 ** fractionBits;
  return sign + Math.min(code, infinity);
}

/** The sum of products of two rows over 2^(2 x 400). */
export const dot = (a: readonly bigint[], b: readonly bigint[]): bigint =>
  a.reduce((sum, x, k) => sum + x * b[k]!, 0n);
