/**
 * One step as verl takes it, also under the preset `paper`: advantages, ratios, losses, and the gradient of the total with
 * respect to every new log-prob, operation by operation as autograd runs them back.
 * Clauses: spec/grpo.md GRP-02, GRP-04, GRP-05, GRP-06, GRP-09, GRP-11, GRP-12, GRP-13, GRP-14.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { verlAdvantages } from './advantage.ts';
import { clipBounds, type TokenLoss, verlClippedLoss } from './clipped-loss.ts';
import { type TokenKl, verlKl } from './kl.ts';
import { gspoRatio, sequenceMean, type TokenRatio, verlRatio } from './ratio.ts';
import { rejectionMasks } from './rejection.ts';
import { logRatios, type RolloutRows, verlWeights } from './rollout-weights.ts';
import type { VerlConfig } from './step-config.ts';
import { STEP_FLOAT, type StepFloat } from './step-float.ts';
import { type Answer, ifAny, needed, type Step } from './step-record.ts';
import { type AnswerResult, grouped, type StepResult } from './step-result.ts';
import { type Aggregator, verlAggregator } from './verl-aggregation.ts';

interface Rows {
  readonly answers: readonly Answer[];
  readonly logProbs: readonly Float64Array[];
  readonly olds: readonly Float64Array[];
  /** After rejection. */
  readonly masks: readonly Uint8Array[];
  readonly weights: readonly Float64Array[] | undefined;
}

/** GRP-13, GRP-14. Weights are over the mask before rejection. */
function rolloutOf(
  step: Step,
  config: VerlConfig,
  olds: readonly Float64Array[],
  f: StepFloat,
): Pick<Rows, 'masks' | 'weights'> {
  const answers = step.groups.flatMap((group) => group.answers);
  const masks = answers.map((answer) => answer.mask);
  const { rollout, rejection } = config;
  const asked = rejection.length > 0 || rollout?.asked === true;
  if (rollout === undefined && !asked) return { masks, weights: undefined };
  const why = 'rollout_is and rollout_rs need it';
  const rollouts = asked
    ? answers.map((answer) => needed(step, answer, 'rollout_log_prob', why))
    : ifAny(step, 'rollout_log_prob');
  if (rollouts === undefined) return { masks, weights: undefined };
  const rows: RolloutRows = { masks, logRatios: olds.map((old, i) => logRatios(old, rollouts[i]!, f)) };
  return {
    weights: rollout && verlWeights(rows, rollout.level, rollout.threshold, rollout.normalize, f),
    masks: rejection.length > 0 ? rejectionMasks(rows, rejection, f) : masks,
  };
}

function rewardOf(step: Step, { reward, path }: Answer): number {
  if (reward === undefined) throw new Fp4Error('E_JSON', `${step.place}${path}.reward: it is missing`);
  return reward;
}

function aggregatorOf(
  mode: VerlConfig['aggregation'],
  config: VerlConfig,
  rows: Rows,
  f: StepFloat,
): Aggregator {
  const padded = config.responseLength ?? Math.max(1, ...rows.answers.map(({ mask }) => mask.length));
  return verlAggregator(
    mode,
    rows.masks,
    {
      dp_size: config.dpSize,
      batch_num_tokens: config.batchTokens,
      global_batch_size: config.globalBatch,
      loss_scale_factor: config.lossScaleFactor ?? padded,
    },
    f,
  );
}

interface Token {
  readonly ratio: TokenRatio;
  readonly loss: TokenLoss;
  /** Of the loss, after the rollout weight. */
  readonly weighted: number;
}

function tokensOf(i: number, rows: Rows, advantage: number, config: VerlConfig, f: StepFloat): Token[] {
  const clip = clipBounds(config.clipLow, config.clipHigh, f);
  const sequence = config.lossMode === 'gspo';
  const logProb = rows.logProbs[i]!;
  const old = rows.olds[i]!;
  const mean = sequence ? sequenceMean(logProb, old, rows.masks[i]!, f) : 0;
  return Array.from(logProb, (lp, j) => {
    const ratio = sequence ? gspoRatio(lp, mean, f) : verlRatio(lp, old[j]!, f);
    const loss = verlClippedLoss(ratio.ratio, advantage, clip, sequence ? undefined : config.clipC, f);
    const weight = rows.weights?.[i]?.[j];
    return { ratio, loss, weighted: weight === undefined ? loss.loss : f.round(loss.loss * weight) };
  });
}

/** GRP-02. The advantages of all answers in a row. */
export function verlStepAdvantages(step: Step, config: VerlConfig): number[] {
  const rule = { divide: config.divideByStd, epsilon: config.epsilon };
  return step.groups.flatMap(({ answers }) =>
    verlAdvantages(
      answers.map((answer) => rewardOf(step, answer)),
      rule,
      STEP_FLOAT[config.dtype],
    ),
  );
}

/**
 * The step of a config with preset verl or paper.
 * @param advantages of all answers in a row, where they come from elsewhere
 */
export function verlStep(
  step: Step,
  config: VerlConfig,
  advantages: readonly number[] = verlStepAdvantages(step, config),
): StepResult {
  const f = STEP_FLOAT[config.dtype];
  const answers = step.groups.flatMap((group) => group.answers);
  const logProbs = answers.map((answer) => needed(step, answer, 'log_prob', 'every step needs it'));
  const olds = answers.map((answer) =>
    needed(step, answer, 'old_log_prob', `preset ${config.preset} needs it`),
  );
  const rows: Rows = { answers, logProbs, olds, ...rolloutOf(step, config, olds, f) };
  const tokens = answers.map((_, i) => tokensOf(i, rows, advantages[i]!, config, f));
  const kls = klsOf(step, config, rows, f);
  const policyAggregator = aggregatorOf(
    config.lossMode === 'gspo' ? 'seq-mean-token-mean' : config.aggregation,
    config,
    rows,
    f,
  );
  const otherAggregator = aggregatorOf(config.aggregation, config, rows, f);
  const entropies =
    config.entropyCoef === 0
      ? ifAny(step, 'entropy')
      : answers.map((answer) => needed(step, answer, 'entropy', 'entropy_coeff is not 0'));

  const policy = policyAggregator.value(tokens.map((row) => Float64Array.from(row, (t) => t.weighted)));
  const kl = kls && otherAggregator.value(kls.map((row) => Float64Array.from(row, (t) => t.value)));
  const entropy = entropies && otherAggregator.value(entropies);

  const results = answers.map((_, i): AnswerResult => {
    const row = tokens[i]!;
    const mask = rows.masks[i]!;
    const weights = rows.weights?.[i];
    return {
      advantage: advantages[i]!,
      ratio: Float64Array.from(row, (t) => t.ratio.ratio),
      ...(weights && { weight: weights }),
      ...(config.rejection.length > 0 && { mask }),
      loss: Float64Array.from(row, (t, j) => t.weighted * mask[j]!),
      ...(kls && { kl: Float64Array.from(kls[i]!, (t) => t.value) }),
      grad: Float64Array.from(row, (t, j) => {
        const outer = policyAggregator.gradient(i, j, 1);
        const inner = weights ? f.round(outer * weights[j]!) : outer;
        const ofPolicy = t.ratio.gradient(t.loss.ratioGradient(inner));
        if (kls === undefined) return ofPolicy;
        const ofKl = kls[i]![j]!.gradient(otherAggregator.gradient(i, j, f.round(config.klCoef)));
        return f.round(ofPolicy + ofKl);
      }),
    };
  });
  return {
    id: step.id,
    groups: grouped(step, results),
    loss: { policy, kl: kl ?? null, entropy: entropy ?? null, total: total(config, policy, kl, entropy, f) },
  };
}

function klsOf(step: Step, config: VerlConfig, rows: Rows, f: StepFloat): TokenKl[][] | undefined {
  const { klType } = config;
  if (klType === undefined) return undefined;
  return rows.answers.map((answer, i) => {
    const ref = needed(step, answer, 'ref_log_prob', 'use_kl_loss is on');
    return Array.from(rows.logProbs[i]!, (lp, j) => verlKl(klType, lp, ref[j]!, f));
  });
}

/** GRP-12. policy - entropy_coeff x entropy + kl_loss_coef x KL, in that order. */
function total(
  config: VerlConfig,
  policy: number,
  kl: number | undefined,
  entropy: number | undefined,
  { round }: StepFloat,
): number {
  const first = entropy === undefined ? policy : round(policy - round(round(config.entropyCoef) * entropy));
  return kl === undefined ? first : round(first + round(kl * round(config.klCoef)));
}
