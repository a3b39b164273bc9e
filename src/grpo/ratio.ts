/**
 * The ratio of the new policy to the old: verl's, a token's; and GSPO's, a sequence's. Clauses: spec/grpo.md GRP-04, GRP-05.
 * @module
 */
import { LARGEST_LOG_RATIO } from './rollout-weights.ts';
import { type StepFloat, sum } from './step-float.ts';
import { clamp, clampGradient } from './tie-gradient.ts';
import { count } from './verl-aggregation.ts';

/** A ratio, and the gradient with respect to the new log-prob for that of the ratio. */
export interface TokenRatio {
  readonly ratio: number;
  readonly gradient: (ratioGradient: number) => number;
}

/** GRP-04. exp of the log-ratio clamped to +-20. */
export function verlRatio(logProb: number, old: number, f: StepFloat): TokenRatio {
  const logRatio = f.round(logProb - old);
  const ratio = f.exp(clamp(logRatio, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO));
  return {
    ratio,
    gradient: (g) => clampGradient(f.round(g * ratio), logRatio, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO),
  };
}

const LARGEST_SEQUENCE_LOG_RATIO = 10;

/** GRP-05. The mean of the log-ratios over the mask, no clamp; a NaN or infinity under the mask makes it NaN. */
export function sequenceMean(
  logProb: Float64Array,
  old: Float64Array,
  mask: Uint8Array,
  f: StepFloat,
): number {
  const products = logProb.map((x, j) => f.round(x - old[j]!) * mask[j]!);
  return f.round(sum(products, f) / Math.max(count(mask), 1));
}

/** GRP-05. verl's GSPO: the value of the sequence's ratio, the gradient of the token's own log-prob. */
export function gspoRatio(logProb: number, mean: number, f: StepFloat): TokenRatio {
  const cap = LARGEST_SEQUENCE_LOG_RATIO;
  const combined = f.round(f.round(logProb - logProb) + mean);
  const ratio = f.exp(clamp(combined, Number.NEGATIVE_INFINITY, cap));
  return {
    ratio,
    gradient: (g) => clampGradient(f.round(g * ratio), combined, Number.NEGATIVE_INFINITY, cap),
  };
}
