/**
 * Importance weights of training against rollout, capped or banded: how the mismatch of the two policies is corrected.
 * Sources: truncated importance sampling, IcePop; verl's rollout_is, TRL's vllm_importance_sampling. Clauses: spec/grpo.md GRP-13, GRP-15.
 * @module
 */
import { type StepFloat, sum } from './step-float.ts';
import { clamp } from './tie-gradient.ts';
import { count, maskedMean } from './verl-aggregation.ts';

/** verl clamps log-ratios to this before it takes their exponential. */
export const LARGEST_LOG_RATIO = 20;
const SMALLEST_MEAN = 1e-8;

/** One cap, or with a lower bound a band outside which the weight is 0. */
export interface Threshold {
  readonly lower?: number;
  readonly upper: number;
}

/** A row an answer. */
export interface RolloutRows {
  readonly masks: readonly Uint8Array[];
  /** old - rollout. */
  readonly logRatios: readonly Float64Array[];
}

const safe = (x: number): number => clamp(x, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO);

/** GRP-13. The log-ratios old - rollout, rounded once. */
export const logRatios = (old: Float64Array, rollout: Float64Array, { round }: StepFloat): Float64Array =>
  old.map((x, j) => round(x - rollout[j]!));

/** GRP-13. The sum of a sequence's log-ratios over its mask. */
export const sequenceLogRatio = (row: Float64Array, mask: Uint8Array, f: StepFloat): number =>
  sum(
    row.filter((_, j) => mask[j] === 1),
    f,
  );

/** GRP-13. Before any bound: exp of the clamped log-ratio, a token's or the sum of its sequence, times the mask. */
export function rawWeights(
  { masks, logRatios: rows }: RolloutRows,
  level: 'token' | 'sequence',
  f: StepFloat,
): Float64Array[] {
  return rows.map((row, i) => {
    const mask = masks[i]!;
    if (level === 'token') return row.map((l, j) => f.exp(safe(l)) * mask[j]!);
    const weight = f.exp(safe(sequenceLogRatio(row, mask, f)));
    return row.map((_, j) => weight * mask[j]!);
  });
}

/** GRP-13. A cap keeps a NaN; outside a band the weight is 0, and so it is for a NaN. */
export function boundWeight(raw: number, { lower, upper }: Threshold, { round }: StepFloat): number {
  if (lower === undefined) return clamp(raw, Number.NEGATIVE_INFINITY, round(upper));
  return raw >= round(lower) && raw <= round(upper) ? raw : 0;
}

/** GRP-13. The mean that batch normalization divides by. */
export function weightMean(
  weights: readonly Float64Array[],
  masks: readonly Uint8Array[],
  level: 'token' | 'sequence',
  f: StepFloat,
): number {
  const rows = weights.map((row, i) => row.filter((_, j) => masks[i]![j] === 1));
  if (level === 'token') {
    const n = masks.reduce((total, mask) => total + count(mask), 0);
    return maskedMean(
      sum(
        rows.flatMap((row) => [...row]),
        f,
      ),
      n,
      f,
    );
  }
  const valid = rows.filter((row) => row.length > 0);
  const means = valid.map((row) => maskedMean(sum(row, f), row.length, f));
  return f.round(sum(means, f) / Math.max(means.length, f.round(SMALLEST_MEAN)));
}

/** GRP-13. verl's weights. They carry no gradient. */
export function verlWeights(
  rows: RolloutRows,
  level: 'token' | 'sequence',
  threshold: Threshold,
  normalize: boolean,
  f: StepFloat,
): Float64Array[] {
  const bounded = rawWeights(rows, level, f).map((row) => row.map((w) => boundWeight(w, threshold, f)));
  if (!normalize) return bounded;
  const mean = weightMean(bounded, rows.masks, level, f);
  return mean > SMALLEST_MEAN ? bounded.map((row) => row.map((w) => f.round(w / mean))) : bounded;
}

export const TRL_MODES = ['sequence_mask', 'sequence_truncate', 'token_mask', 'token_truncate'] as const;
export type TrlMode = (typeof TRL_MODES)[number];

/**
 * GRP-15. TRL's weights: one an answer in the sequence modes. A masked token's log-ratio counts 0, so its weight is 1 before
 * the bounds; nothing is clamped before the exponential.
 */
export function trlWeights(
  { masks, logRatios: rows }: RolloutRows,
  mode: TrlMode,
  { min, max }: { min: number | undefined; max: number | undefined },
  f: StepFloat,
): (Float64Array | number)[] {
  const low = min === undefined ? Number.NEGATIVE_INFINITY : f.round(min);
  const high = max === undefined ? Number.POSITIVE_INFINITY : f.round(max);
  const bound = (l: number): number => {
    const weight = f.exp(l);
    if (mode.endsWith('truncate')) return clamp(weight, low, high);
    return weight < low || weight > high ? 0 : weight;
  };
  return rows.map((row, i) => {
    const masked = row.map((l, j) => l * masks[i]![j]!);
    return mode.startsWith('token') ? masked.map(bound) : bound(sum(masked, f));
  });
}
