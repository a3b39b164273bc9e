/**
 * How many elements of a block lie above the largest code of their scale before they are rounded.
 * All of it is exact in binary64: 24 bits of the input by at most 8 of a reciprocal. Clauses: spec/tensors.md TEN-15.
 * @module
 */
import type { HiF4Policy } from '../format/hif4-policy.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { NONFINITE, type NonfiniteRule } from '../format/nonfinite.ts';
import { E6M2, E8M0, e6m2_to_bf16_reciprocal } from '../format/scalar.ts';

/** Counts the saturated elements of one block; `v` holds its values after input rounding. */
export type SaturationCount = (v: Float32Array, scale: number) => number;

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
const e6m2Value = (code: number): number => ((4 + (code & 3)) / 4) * 2 ** ((code >> 2) - E6M2.bias);

/** The value of a finite positive BF16 word. */
const bf16Number = (word: number): number => ((word & 0x7f) / 128 + 1) * 2 ** ((word >> 7) - 127);

const RECIPROCALS = Float64Array.from({ length: 255 }, (_, code) =>
  bf16Number(e6m2_to_bf16_reciprocal(code)),
);

/** HiF4: V x REC x 2^-(E1_8 + E1_16), not rounded, above 1.75; REC is the reciprocal that the policy uses. */
export function hif4Saturation(policy: HiF4Policy): SaturationCount {
  const infinity = infinityCountsAs(policy.nonfinite, policy.input);
  const rounded = policy.reciprocal === 'bf16';
  return (v, word) => {
    const code = word & 0xff;
    if (code === E6M2.canonicalNaN) return 0;
    // Without a rounded reciprocal both sides are multiplied by the scale, so that nothing is divided.
    const factor = rounded ? RECIPROCALS[code]! : 1;
    const limit = LARGEST_E1M2 * (rounded ? 1 : e6m2Value(code));
    let count = 0;
    for (let q = 0; q < v.length; q++) {
      const increment = ((word >>> (8 + (q >> 3))) & 1) + ((word >>> (16 + (q >> 2))) & 1);
      const magnitude = Math.abs(v[q]!);
      const counted = magnitude === Number.POSITIVE_INFINITY ? infinity : magnitude;
      if (counted * factor > limit * 2 ** increment) count++;
    }
    return count;
  };
}

/** MXFP4: V / scale above 6. */
export function mxfp4Saturation(policy: Mxfp4Policy): SaturationCount {
  const infinity = infinityCountsAs(policy.nonfinite, policy.input);
  const zeroBlocks = NONFINITE[policy.nonfinite].infinity === 'zero-block';
  return (v, scale) => {
    if (scale === E8M0.canonicalNaN || (zeroBlocks && hasInfinity(v))) return 0;
    const limit = LARGEST_E2M1 * 2 ** (scale - E8M0.bias);
    let count = 0;
    for (let q = 0; q < v.length; q++) {
      const magnitude = Math.abs(v[q]!);
      if ((magnitude === Number.POSITIVE_INFINITY ? infinity : magnitude) > limit) count++;
    }
    return count;
  };
}
