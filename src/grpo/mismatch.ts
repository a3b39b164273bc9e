/**
 * How far training and rollout policies are apart in a step, under verl's metric names. Clauses: spec/grpo.md GRP-21.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { sqrt } from '../number/elementary.ts';
import { type RejectionRule, rejectionBounds, rejectionMasks, statistic } from './rejection.ts';
import {
  boundWeight,
  LARGEST_LOG_RATIO,
  logRatios,
  type RolloutRows,
  rawWeights,
  sequenceLogRatio,
  type Threshold,
  weightMean,
} from './rollout-weights.ts';
import { deviation, mean, STEP_FLOAT, type StepFloat, sum } from './step-float.ts';
import { ifAny, needed, type Step } from './step-record.ts';
import { clamp } from './tie-gradient.ts';
import { count, maskedMean } from './verl-aggregation.ts';

export type Metrics = Readonly<Record<string, number>>;

/** The log-probs of a step, a row an answer. */
interface Policies extends RolloutRows {
  readonly training: readonly Float64Array[];
  readonly rollout: readonly Float64Array[];
}

/** A mean over the valid tokens of all rows, as verl's masked_mean has it. */
function tokenMean(
  rows: readonly (Float64Array | Uint8Array)[],
  masks: readonly Uint8Array[],
  f: StepFloat,
): number {
  const valid = rows.flatMap((row, i) => [...row].filter((_, j) => masks[i]![j] === 1));
  return maskedMean(sum(valid, f), valid.length, f);
}

/** A mean over the valid tokens of each row. */
const rowMeans = (rows: readonly Float64Array[], masks: readonly Uint8Array[], f: StepFloat): number[] =>
  rows.map((row, i) => maskedMean(sequenceLogRatio(row, masks[i]!, f), count(masks[i]!), f));

const fraction = (flags: readonly boolean[]): number =>
  flags.length === 0 ? 0 : flags.filter(Boolean).length / flags.length;

const extreme = (values: readonly number[], pick: (...values: number[]) => number): number =>
  values.reduce((a, b) => pick(a, b));

/** GRP-21. KL estimators, perplexities and chi-square. Sequences without a valid token count, with a mean of 0. */
function offPolicyMetrics({ training, rollout, logRatios: rows, masks }: Policies, f: StepFloat): Metrics {
  const { round, exp } = f;
  const trainingMeans = rowMeans(training, masks, f);
  const rolloutMeans = rowMeans(rollout, masks, f);
  const differences = rolloutMeans.map((x, i) => round(x - trainingMeans[i]!));
  const perplexity = (means: number[]): number =>
    mean(
      means.map((x) => exp(-x)),
      f,
    );
  const safe = (x: number): number => clamp(x, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO);
  const squares = rows.map((row) => row.map((l) => round(exp(safe(l)) ** 2)));
  const sequenceSquares = rows.map((row, i) => exp(round(2 * safe(sequenceLogRatio(row, masks[i]!, f)))));
  return {
    training_ppl: perplexity(trainingMeans),
    training_log_ppl: -mean(trainingMeans, f),
    kl: tokenMean(
      rows.map((row) => row.map((l) => -l)),
      masks,
      f,
    ),
    k3_kl: tokenMean(
      rows.map((row) => row.map((l) => round(round(exp(l) - l) - 1))),
      masks,
      f,
    ),
    rollout_ppl: perplexity(rolloutMeans),
    rollout_log_ppl: -mean(rolloutMeans, f),
    log_ppl_diff: mean(differences, f),
    log_ppl_abs_diff: mean(differences.map(Math.abs), f),
    log_ppl_diff_max: extreme(differences, Math.max),
    log_ppl_diff_min: extreme(differences, Math.min),
    ppl_ratio: mean(differences.map(exp), f),
    chi2_token: round(tokenMean(squares, masks, f) - 1),
    chi2_seq: round(mean(sequenceSquares, f) - 1),
  };
}

export interface WeightRule {
  readonly level: 'token' | 'sequence';
  readonly threshold: Threshold;
}

/** 1 / the mean of the squared weights, each over the mean weight: what is left of the sample, as a fraction; 0 where every weight is (verl raises). */
function effectiveSampleSize(
  weights: readonly Float64Array[],
  masks: readonly Uint8Array[],
  f: StepFloat,
): number {
  const { round } = f;
  const average = round(tokenMean(weights, masks, f) + round(1e-8));
  const squares = weights.map((row) => row.map((w) => round(round(w / average) ** 2)));
  const second = tokenMean(squares, masks, f);
  return second === 0 ? 0 : 1 / second;
}

/** GRP-21. What the importance weights look like under a cap or band, before batch normalization. */
function weightMetrics(rows: Policies, { level, threshold }: WeightRule, f: StepFloat): Metrics {
  const { round, exp } = f;
  const { masks } = rows;
  const raw = rawWeights(rows, level, f);
  const weights = raw.map((row) => row.map((w) => boundWeight(w, threshold, f)));
  const upper = round(threshold.upper);
  const lower = round(threshold.lower ?? 1 / threshold.upper);
  const valid = (of: readonly Float64Array[]): number[] =>
    of.flatMap((row, i) => [...row].filter((_, j) => masks[i]![j] === 1));
  const sums = rows.logRatios.map((row, i) => sequenceLogRatio(row, masks[i]!, f));
  const sequence = level === 'sequence';
  const capped = weights.map((row) => row.map((w) => clamp(w, 0, upper)));
  const average = tokenMean(capped, masks, f);
  const second = tokenMean(
    capped.map((row) => row.map((w) => round(w * w))),
    masks,
    f,
  );
  const sequenceMeans = rowMeans(weights, masks, f);
  const rawMeans = rowMeans(raw, masks, f);
  return {
    rollout_is_mean: tokenMean(weights, masks, f),
    rollout_is_max: sequence
      ? exp(Math.min(extreme(sums, Math.max), LARGEST_LOG_RATIO))
      : extreme(valid(weights), Math.max),
    rollout_is_min: sequence ? exp(extreme(sums, Math.min)) : extreme(valid(weights), Math.min),
    rollout_is_ratio_fraction_high: sequence
      ? fraction(sums.map((s) => s > f.log(upper)))
      : fraction(valid(raw).map((w) => w > upper)),
    rollout_is_ratio_fraction_low: sequence
      ? fraction(sums.map((s) => s < f.log(lower)))
      : fraction(valid(raw).map((w) => w < lower)),
    ...(threshold.lower !== undefined && {
      rollout_is_oob_ratio: fraction(valid(raw).map((w) => w < lower || w > upper)),
    }),
    rollout_is_std: valid(capped).length > 1 ? sqrt(Math.max(0, second - average * average)) : 0,
    rollout_is_eff_sample_size: effectiveSampleSize(capped, masks, f),
    rollout_is_seq_mean: mean(sequenceMeans, f),
    rollout_is_seq_std: sequenceMeans.length > 1 ? deviation(sequenceMeans, f) : 0,
    rollout_is_seq_max: extreme(sequenceMeans, Math.max),
    rollout_is_seq_min: extreme(sequenceMeans, Math.min),
    rollout_is_seq_max_deviation: extreme(
      sequenceMeans.map((w) => Math.abs(round(w - 1))),
      Math.max,
    ),
    rollout_is_seq_fraction_high: fraction(rawMeans.map((w) => w > upper)),
    rollout_is_seq_fraction_low: fraction(rawMeans.map((w) => w < lower)),
  };
}

/** GRP-21. What rejection does, rule by rule and in all. */
function rejectionMetrics(rows: Policies, rules: readonly RejectionRule[], f: StepFloat): Metrics {
  const { masks } = rows;
  const metrics: Record<string, number> = {};
  const dropped = (kept: readonly Uint8Array[]): { tokens: number; sequences: boolean[] } => ({
    tokens: tokenMean(
      kept.map((row) => row.map((bit) => 1 - bit)),
      masks,
      f,
    ),
    sequences: kept.map((row, i) => row.some((bit, j) => bit === 0 && masks[i]![j] === 1)),
  });
  for (const rule of rules) {
    const name = `rollout_rs_${rule.rule}`;
    const values = rows.logRatios.map((row, i) => statistic(rule.rule, row, masks[i]!, f));
    const valid = values.flatMap((row, i) => [...row].filter((_, j) => masks[i]![j] === 1));
    const whole = values.flatMap((row, i) => (count(masks[i]!) > 0 ? [row[0]!] : []));
    const each = rule.rule.startsWith('token') ? valid : whole;
    const { low, high } = rejectionBounds(rule, f);
    metrics[`${name}_mean`] = tokenMean(values, masks, f);
    metrics[`${name}_max`] = extreme(each, Math.max);
    metrics[`${name}_min`] = extreme(each, Math.min);
    metrics[`${name}_fraction_high`] = fraction(each.map((x) => x > high));
    metrics[`${name}_fraction_low`] = fraction(each.map((x) => x < low));
    const { tokens, sequences } = dropped(rejectionMasks(rows, [rule], f));
    metrics[`${name}_masked_fraction`] = tokens;
    metrics[`${name}_seq_masked_fraction`] = fraction(sequences.filter((_, i) => count(masks[i]!) > 0));
  }
  const { tokens, sequences } = dropped(rejectionMasks(rows, rules, f));
  metrics.rollout_rs_masked_fraction = tokens;
  metrics.rollout_rs_seq_masked_fraction = fraction(sequences);
  return metrics;
}

export interface WorstToken {
  readonly path: string;
  readonly training: number;
  readonly rollout: number;
  readonly log_ratio: number;
  readonly ratio: number;
}

/** The valid tokens whose policies differ most, those that are NaN first. */
function worstTokens(step: Step, rows: Policies, top: number, f: StepFloat): WorstToken[] {
  const answers = step.groups.flatMap((group) => group.answers);
  const all = rows.logRatios.flatMap((row, i) =>
    Array.from(row, (l, j) => ({ l, i, j })).filter(({ j }) => rows.masks[i]![j] === 1),
  );
  const rank = (l: number): number => (Number.isNaN(l) ? Number.POSITIVE_INFINITY : Math.abs(l));
  // Both infinite compare equal and keep their order.
  all.sort((a, b) => (rank(a.l) === rank(b.l) ? 0 : rank(b.l) - rank(a.l)));
  return all.slice(0, top).map(({ l, i, j }) => ({
    path: `${answers[i]!.path}[${j}]`,
    training: rows.training[i]![j]!,
    rollout: rows.rollout[i]![j]!,
    log_ratio: l,
    ratio: f.exp(l),
  }));
}

const PERCENTILES = [0, 1, 5, 25, 50, 75, 95, 99, 100];

/** Of the ratio training / rollout over valid tokens: the value at rank ceil(p n / 100), none interpolated. */
function percentiles(ratios: readonly number[]): Metrics {
  const sorted = Float64Array.from(ratios).sort();
  return Object.fromEntries(
    PERCENTILES.map((p) => [`p${p}`, sorted[Math.max(0, Math.ceil((p * sorted.length) / 100) - 1)]!]),
  );
}

export interface Effect {
  readonly correction: string;
  /** Of the valid tokens: with another weight than the plain ratio; and with none, or out of the mask. */
  readonly tokens_changed: number;
  readonly tokens_dropped: number;
  /** Of the sequences with a valid token: with such a token. */
  readonly sequences_touched: number;
  /** Over valid tokens: of the weights, or of the plain ratios that are left. */
  readonly mean_weight: number;
  readonly eff_sample_size: number;
}

type Correction = { readonly name: string } & (
  | { readonly weight: WeightRule }
  | { readonly rules: readonly RejectionRule[] }
);

const weigh = (level: WeightRule['level'], text: string, threshold: Threshold): Correction => ({
  name: `rollout_is=${level} ${text}`,
  weight: { level, threshold },
});
const reject = (rule: RejectionRule['rule'], text: string, bounds: Threshold): Correction => ({
  name: `rollout_rs=${rule} ${text}`,
  rules: [{ rule, ...bounds }],
});

/** What people try first. */
const CORRECTIONS: readonly Correction[] = [
  weigh('token', '2', { upper: 2 }),
  weigh('token', '5', { upper: 5 }),
  weigh('sequence', '2', { upper: 2 }),
  weigh('token', '0.5_5', { lower: 0.5, upper: 5 }),
  reject('token_k1', '0.5_2', { lower: 0.5, upper: 2 }),
  reject('seq_sum_k1', '0.5_2', { lower: 0.5, upper: 2 }),
  reject('seq_mean_k1', '0.999_1.001', { lower: 0.999, upper: 1.001 }),
  reject('seq_mean_k3', '0.01', { upper: 0.01 }),
];

function effectOf(rows: Policies, correction: Correction, f: StepFloat): Effect {
  const { masks } = rows;
  const level = 'weight' in correction ? correction.weight.level : 'token';
  const raw = rawWeights(rows, level, f);
  const kept = 'rules' in correction ? rejectionMasks(rows, correction.rules, f) : masks;
  const weights =
    'weight' in correction
      ? raw.map((row) => row.map((w) => boundWeight(w, correction.weight.threshold, f)))
      : raw;
  const tokens = masks.flatMap((mask, i) =>
    Array.from(mask, (bit, j) => ({
      i,
      valid: bit === 1,
      dropped: kept[i]![j] === 0 || weights[i]![j] === 0,
      changed: kept[i]![j] === 1 && !Object.is(weights[i]![j], raw[i]![j]) && weights[i]![j] !== 0,
    })).filter(({ valid }) => valid),
  );
  const touched = new Set(tokens.filter((t) => t.dropped || t.changed).map((t) => t.i));
  return {
    correction: correction.name,
    tokens_changed: fraction(tokens.map((t) => t.changed)),
    tokens_dropped: fraction(tokens.map((t) => t.dropped)),
    sequences_touched: touched.size / masks.filter((mask) => count(mask) > 0).length,
    mean_weight: tokenMean(weights, kept, f),
    eff_sample_size: effectiveSampleSize(weights, kept, f),
  };
}

export interface MismatchReport {
  readonly id: unknown;
  /** Of log-probs: sequences, and valid tokens. */
  readonly sequences: number;
  readonly tokens: number;
  /** With verl's prefix, rollout_corr/. */
  readonly metrics: Metrics;
  readonly ratio_percentiles: Metrics;
  readonly effects: readonly Effect[];
  readonly worst: readonly WorstToken[];
  /** Of the valid tokens, in order: training, rollout. For charts. */
  readonly points: readonly (readonly [training: number, rollout: number])[];
}

/** The rules that the config has, or token weights with a cap of 2, verl's default. */
function rulesOf({ config }: Step): {
  weight: WeightRule & { normalize: boolean };
  rules: readonly RejectionRule[];
} {
  const standard = { level: 'token', threshold: { upper: 2 }, normalize: false } as const;
  if (config.preset === 'trl') return { weight: standard, rules: [] };
  return { weight: config.rollout ?? standard, rules: config.rejection };
}

/**
 * GRP-21. Training is old_log_prob, or log_prob where the step has no old ones.
 * @param top how many of the worst tokens
 * @throws Fp4Error E_JSON where log-probs are missing, E_LENGTH where no token is valid
 */
export function mismatch(step: Step, top: number): MismatchReport {
  const f = STEP_FLOAT[step.config.dtype];
  const answers = step.groups.flatMap((group) => group.answers);
  const why = 'the mismatch is between it and the training policy';
  const rollout = answers.map((answer) => needed(step, answer, 'rollout_log_prob', why));
  const training =
    ifAny(step, 'old_log_prob') ??
    answers.map((answer) => needed(step, answer, 'log_prob', 'there is no old_log_prob either'));
  const masks = answers.map((answer) => answer.mask);
  const rows: Policies = {
    masks,
    training,
    rollout,
    logRatios: training.map((row, i) => logRatios(row, rollout[i]!, f)),
  };
  const valid = (of: readonly Float64Array[]): number[] =>
    of.flatMap((row, i) => [...row].filter((_, j) => masks[i]![j] === 1));
  const logs = valid(rows.logRatios);
  if (logs.length === 0) throw new Fp4Error('E_LENGTH', `${step.place}no mask has a valid token`);
  const { weight, rules } = rulesOf(step);
  const normalization =
    'normalize' in weight && weight.normalize
      ? {
          rollout_is_batch_norm_factor: weightMean(
            rawWeights(rows, weight.level, f).map((row) =>
              row.map((w) => boundWeight(w, weight.threshold, f)),
            ),
            masks,
            weight.level,
            f,
          ),
        }
      : {};
  const metrics = {
    ...weightMetrics(rows, weight, f),
    ...normalization,
    ...(rules.length > 0 && rejectionMetrics(rows, rules, f)),
    ...offPolicyMetrics(rows, f),
  };
  const rolloutPoints = valid(rollout);
  return {
    id: step.id,
    sequences: answers.length,
    tokens: logs.length,
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, x]) => [`rollout_corr/${name}`, x])),
    ratio_percentiles: percentiles(logs.map(f.exp)),
    effects: CORRECTIONS.map((correction) => effectOf(rows, correction, f)),
    worst: worstTokens(step, rows, top, f),
    points: valid(training).map((x, k) => [x, rolloutPoints[k]!] as const),
  };
}
