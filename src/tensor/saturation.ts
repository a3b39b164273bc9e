/**
 * How many elements of blocks lie above the largest code of their scale before they are rounded.
 * All of it is exact in binary64: 24 bits of the input by at most 8 of a reciprocal. Clauses: spec/tensors.md TEN-15.
 * @module
 */
import { valuesOf } from '../fast/f32.ts';
import { UNIT } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { BLOCK } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { NONFINITE, type NonfiniteRule } from '../format/nonfinite.ts';
import { E6M2, E8M0, e6m2_to_bf16_reciprocal } from '../format/scalar.ts';
import { twoTo } from '../number/number-bits.ts';

/**
 * Counts the saturated elements of whole blocks.
 * @param v FP32 words, after input rounding
 * @param scales as a file holds them, little-endian
 */
export type SaturationCount = (v: Uint32Array, scales: Uint8Array) => number;

/** Largest finite value of each input format. */
const LARGEST = { bf16: (2 - 2 ** -7) * 2 ** 127, f32: (2 - 2 ** -23) * 2 ** 127 } as const;
const LARGEST_E1M2 = 1.75;
const LARGEST_E2M1 = 6;

/** CON-05. What an infinity counts as: the largest finite value, or, where it makes the block zero, nothing. */
function infinityCountsAs(rule: NonfiniteRule, input: 'bf16' | 'f32'): number {
  const { infinity } = NONFINITE[rule];
  return infinity === 'largest' || infinity === 'top-scale' ? LARGEST[input] : Number.NaN;
}

const hasInfinity = (v: Float32Array): boolean => v.some((x) => Math.abs(x) === Number.POSITIVE_INFINITY);

/** The value of an E6M2 code that is not ff. */
const e6m2Value = (code: number): number => ((4 + (code & 3)) / 4) * twoTo((code >> 2) - E6M2.bias);

/** The value of a finite positive BF16 word. */
const bf16Number = (word: number): number => ((word & 0x7f) / 128 + 1) * twoTo((word >> 7) - 127);

/** The largest number of 24 bits whose product with `factor`, of 8 bits, is not above 1.75. */
function largestUnsaturated(factor: number): number {
  const nearest = new Float32Array([LARGEST_E1M2 / factor]);
  if (nearest[0]! * factor > LARGEST_E1M2) new Uint32Array(nearest.buffer)[0]!--;
  return nearest[0]!;
}

/** By scale code and policy, the largest V of an element without exponent bits that does not saturate. */
const limits: Partial<Record<HiF4Policy['reciprocal'], Float64Array>> = {};

const limitsOf = (reciprocal: HiF4Policy['reciprocal']): Float64Array => {
  limits[reciprocal] ??= Float64Array.from({ length: 255 }, (_, code) =>
    // Without a rounded reciprocal both sides are multiplied by the scale, so that nothing is divided.
    reciprocal === 'bf16'
      ? largestUnsaturated(bf16Number(e6m2_to_bf16_reciprocal(code)))
      : LARGEST_E1M2 * e6m2Value(code),
  );
  return limits[reciprocal];
};

/** 2^increments. */
const POWERS = Float64Array.of(1, 2, 4);

/** HiF4: V x REC x 2^-(E1_8 + E1_16), not rounded, above 1.75; REC is the reciprocal that the policy uses. */
export function hif4Saturation(policy: HiF4Policy): SaturationCount {
  const infinity = infinityCountsAs(policy.nonfinite, policy.input);
  const limits = limitsOf(policy.reciprocal);
  return (words, scales) => {
    const v = valuesOf(words);
    let count = 0;
    for (let unit = 0; unit < v.length / UNIT; unit++) {
      const code = scales[4 * unit]!;
      if (code === E6M2.canonicalNaN) continue;
      const limit = limits[code]!;
      const level2 = scales[4 * unit + 1]!;
      const level3 = scales[4 * unit + 2]! | (scales[4 * unit + 3]! << 8);
      for (let k = 0; k < UNIT / 4; k++) {
        const q = unit * UNIT + 4 * k;
        const largest = limit * POWERS[((level2 >>> (k >> 1)) & 1) + ((level3 >>> k) & 1)]!;
        if (Math.abs(v[q]!) > largest) count += counts(v[q]!, infinity, largest);
        if (Math.abs(v[q + 1]!) > largest) count += counts(v[q + 1]!, infinity, largest);
        if (Math.abs(v[q + 2]!) > largest) count += counts(v[q + 2]!, infinity, largest);
        if (Math.abs(v[q + 3]!) > largest) count += counts(v[q + 3]!, infinity, largest);
      }
    }
    return count;
  };
}

/** 1 for a value known to be beyond the largest, unless it is an infinity that counts as something that is not. */
const counts = (value: number, infinity: number, largest: number): number =>
  Math.abs(value) < Number.POSITIVE_INFINITY || infinity > largest ? 1 : 0;

/** MXFP4: V / scale above 6. */
export function mxfp4Saturation(policy: Mxfp4Policy): SaturationCount {
  const infinity = infinityCountsAs(policy.nonfinite, policy.input);
  const zeroBlocks = NONFINITE[policy.nonfinite].infinity === 'zero-block';
  return (words, scales) => {
    const v = valuesOf(words);
    let count = 0;
    for (let b = 0; b < scales.length; b++) {
      const scale = scales[b]!;
      if (scale === E8M0.canonicalNaN) continue;
      if (zeroBlocks && hasInfinity(v.subarray(b * BLOCK, (b + 1) * BLOCK))) continue;
      const largest = LARGEST_E2M1 * twoTo(scale - E8M0.bias);
      for (let i = b * BLOCK; i < (b + 1) * BLOCK; i++) {
        if (Math.abs(v[i]!) > largest) count += counts(v[i]!, infinity, largest);
      }
    }
    return count;
  };
}
