/**
 * Rejection of tokens and sequences whose rollout and training policies are too far apart: they leave the mask.
 * Source: verl's rollout_rs. Clauses: spec/grpo.md GRP-14.
 * @module
 */
import { log } from '../number/elementary.ts';
import { LARGEST_LOG_RATIO, type RolloutRows } from './rollout-weights.ts';
import { type StepFloat, sum } from './step-float.ts';
import { clamp } from './tie-gradient.ts';
import { maskedMean } from './verl-aggregation.ts';

export const REJECTIONS = [
  'token_k1',
  'token_k2',
  'token_k3',
  'seq_sum_k1',
  'seq_sum_k2',
  'seq_sum_k3',
  'seq_mean_k1',
  'seq_mean_k2',
  'seq_mean_k3',
  'seq_max_k2',
  'seq_max_k3',
] as const;
export type Rejection = (typeof REJECTIONS)[number];

/** A rule with its bounds, as ratios rollout / training for k1 (both), as values of the estimator for k2 and k3 (upper only). */
export interface RejectionRule {
  readonly rule: Rejection;
  readonly lower?: number;
  readonly upper: number;
}

/** GRP-14. The bounds of the statistic itself: for k1 the logarithms of the ratios. */
export function rejectionBounds(
  { rule, lower, upper }: RejectionRule,
  { round }: StepFloat,
): {
  low: number;
  high: number;
} {
  if (!rule.endsWith('k1')) return { low: Number.NEGATIVE_INFINITY, high: round(upper) };
  return { low: round(log(lower!)), high: round(log(upper)) };
}

/** GRP-14. l = old - rollout, clamped; k1 = -l, k2 = l^2 / 2, k3 = exp(l) - 1 - l. */
function estimate(rule: Rejection, logRatio: number, { round, exp }: StepFloat): number {
  const l = clamp(logRatio, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO);
  if (rule.endsWith('k1')) return -l;
  return rule.endsWith('k2') ? round(round(l * l) * 0.5) : round(round(exp(l) - 1) - l);
}

/** GRP-14. The statistic of each token of an answer: its own, or that of the whole answer. */
export function statistic(rule: Rejection, row: Float64Array, mask: Uint8Array, f: StepFloat): Float64Array {
  const tokens = row.map((l) => estimate(rule, l, f));
  if (rule.startsWith('token')) return tokens;
  const valid = tokens.filter((_, j) => mask[j] === 1);
  const whole = ((): number => {
    if (rule.startsWith('seq_sum')) return sum(valid, f);
    if (rule.startsWith('seq_mean')) return maskedMean(sum(valid, f), valid.length, f);
    if (valid.length === 0) return 0;
    return valid.reduce((a, b) => (Number.isNaN(a) || a >= b ? a : b));
  })();
  return tokens.fill(whole);
}

/** GRP-14. The masks after every rule: a token stays where each of its statistics lies within the bounds, bounds included. */
export function rejectionMasks(
  { masks, logRatios: rows }: RolloutRows,
  rules: readonly RejectionRule[],
  f: StepFloat,
): Uint8Array[] {
  return masks.map((mask, i) => {
    const kept = mask.slice();
    for (const rule of rules) {
      const { low, high } = rejectionBounds(rule, f);
      statistic(rule.rule, rows[i]!, mask, f).forEach((x, j) => {
        if (!(x >= low && x <= high)) kept[j] = 0;
      });
    }
    return kept;
  });
}
