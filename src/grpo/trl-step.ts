/**
 * One step as TRL takes it: advantages, ratios, losses, and the gradient of the total with respect to every new log-prob,
 * operation by operation as autograd runs them back.
 * Clauses: spec/grpo.md GRP-03, GRP-04, GRP-05, GRP-07, GRP-10, GRP-11, GRP-12, GRP-15.
 * @module
 */
import { trlAdvantages } from './advantage.ts';
import { clipBounds, type TokenLoss, trlClippedLoss } from './clipped-loss.ts';
import { type TokenKl, trlKl } from './kl.ts';
import { sequenceMean } from './ratio.ts';
import { logRatios, trlWeights } from './rollout-weights.ts';
import type { TrlConfig } from './step-config.ts';
import { STEP_FLOAT, type StepFloat, sum } from './step-float.ts';
import { type Answer, ifAny, needed, type Step } from './step-record.ts';
import { type AnswerResult, grouped, type PerToken, type StepResult } from './step-result.ts';
import { trlAggregator, trlEntropy } from './trl-aggregation.ts';
import { count } from './verl-aggregation.ts';

/** Element j of what is one number an answer, or one a token. */
const at = (x: PerToken, j: number): number => (typeof x === 'number' ? x : x[j]!);

/** One number an answer stays one; numbers a token are mapped. */
const map = (x: PerToken, one: (x: number) => number): PerToken =>
  typeof x === 'number' ? one(x) : x.map(one);

/** Everything about one answer that its loss and gradient are made of. */
interface Row {
  readonly answer: Answer;
  readonly logProb: Float64Array;
  readonly advantage: number;
  readonly ratio: PerToken;
  /** One where the ratio is one. */
  readonly losses: readonly TokenLoss[];
  readonly weight: PerToken | undefined;
  readonly kls: readonly TokenKl[] | undefined;
  /** With the option, times the ratio. */
  readonly klValues: Float64Array | undefined;
  /** After the weight, with beta x KL in it. */
  readonly loss: PerToken;
  readonly policyLoss: PerToken;
}

function weightsOf(step: Step, config: TrlConfig, olds: readonly Float64Array[], f: StepFloat) {
  const { rollout } = config;
  if (rollout === undefined) return undefined;
  const answers = step.groups.flatMap((group) => group.answers);
  const rollouts = rollout.asked
    ? answers.map((a) => needed(step, a, 'rollout_log_prob', 'vllm_importance_sampling_correction is on'))
    : ifAny(step, 'rollout_log_prob');
  if (rollouts === undefined) return undefined;
  const rows = {
    masks: answers.map((answer) => answer.mask),
    logRatios: olds.map((old, i) => logRatios(old, rollouts[i]!, f)),
  };
  return trlWeights(rows, rollout.mode, rollout, f);
}

function rowOf(
  step: Step,
  config: TrlConfig,
  answer: Answer,
  logProb: Float64Array,
  old: Float64Array,
  advantage: number,
  weight: PerToken | undefined,
  f: StepFloat,
): Row {
  const { round } = f;
  const clip = clipBounds(config.epsilon, config.epsilonHigh, f);
  const ratio: PerToken =
    config.level === 'sequence'
      ? f.exp(sequenceMean(logProb, old, answer.mask, f))
      : logProb.map((lp, j) => f.exp(round(lp - old[j]!)));
  const ratios = typeof ratio === 'number' ? [ratio] : [...ratio];
  const losses = ratios.map((r) => trlClippedLoss(r, advantage, clip, config.delta, f));
  const plain: PerToken =
    typeof ratio === 'number' ? losses[0]!.loss : Float64Array.from(losses, (one) => one.loss);
  const weighted = ((): PerToken => {
    if (weight === undefined) return plain;
    if (typeof weight === 'number') return map(plain, (x) => round(x * weight));
    return weight.map((w, j) => round(at(plain, j) * w));
  })();
  const ref = config.beta === 0 ? undefined : needed(step, answer, 'ref_log_prob', 'beta is not 0');
  const kls = ref && Array.from(logProb, (lp, j) => trlKl(lp, ref[j]!, f));
  const klValues =
    kls &&
    Float64Array.from(kls, (kl, j) => (config.biasCorrection ? round(kl.value * at(ratio, j)) : kl.value));
  const loss = klValues
    ? klValues.map((kl, j) => round(at(weighted, j) + round(round(config.beta) * kl)))
    : weighted;
  return { answer, logProb, advantage, ratio, losses, weight, kls, klValues, loss, policyLoss: weighted };
}

/**
 * The gradient with respect to the log-probs of one answer.
 * @param outer that of the total with respect to each token's loss
 */
function gradientOf(
  row: Row,
  old: Float64Array,
  config: TrlConfig,
  outer: Float64Array,
  f: StepFloat,
): Float64Array {
  const { round } = f;
  const { ratio, kls, weight, answer } = row;
  const beta = round(config.beta);
  const ofPolicyLoss = outer.map((g, j) => (weight === undefined ? g : round(g * at(weight, j))));
  const ofKl = outer.map((g) => round(g * beta));
  const fromKl = (j: number): number =>
    kls![j]!.gradient(config.biasCorrection ? round(ofKl[j]! * at(ratio, j)) : ofKl[j]!);
  const throughKl = (j: number): number => (config.biasCorrection ? round(ofKl[j]! * kls![j]!.value) : 0);
  if (typeof ratio !== 'number') {
    return ratio.map((r, j) => {
      const own = row.losses[j]!.ratioGradient(ofPolicyLoss[j]!);
      if (!kls) return round(own * r);
      const ofRatio = config.biasCorrection ? round(own + throughKl(j)) : own;
      return round(round(ofRatio * r) + fromKl(j));
    });
  }
  // One ratio for the answer: what reaches it is the sum over the tokens it was spread to.
  const own = row.losses[0]!.ratioGradient(sum(ofPolicyLoss, f));
  const spread =
    kls && config.biasCorrection
      ? sum(
          Float64Array.from(kls, (_, j) => throughKl(j)),
          f,
        )
      : 0;
  const ofRatio = kls && config.biasCorrection ? round(own + spread) : own;
  const ofMean = round(round(ofRatio * ratio) / Math.max(count(answer.mask), 1));
  return old.map((_, j) => {
    const ofLogRatio = round(ofMean * answer.mask[j]!);
    return kls ? round(ofLogRatio + fromKl(j)) : ofLogRatio;
  });
}

/** GRP-03. The advantages of all answers in a row. */
export function trlStepAdvantages(step: Step, config: TrlConfig): number[] {
  const rewards = step.groups.map(({ answers }) => answers.map(({ reward }) => reward ?? Number.NaN));
  return trlAdvantages(rewards, config.scale, STEP_FLOAT[config.dtype]).flat();
}

/**
 * The step of a config with preset trl.
 * @param advantages of all answers in a row, where they come from elsewhere
 */
export function trlStep(
  step: Step,
  config: TrlConfig,
  advantages: readonly number[] = trlStepAdvantages(step, config),
): StepResult {
  const f = STEP_FLOAT[config.dtype];
  const answers = step.groups.flatMap((group) => group.answers);
  const logProbs = answers.map((answer) => needed(step, answer, 'log_prob', 'every step needs it'));
  // Without old log-probs TRL takes the new ones, cut off from the gradient.
  const olds = ifAny(step, 'old_log_prob') ?? logProbs;
  const weights = weightsOf(step, config, olds, f);
  const rows = answers.map((answer, i) =>
    rowOf(step, config, answer, logProbs[i]!, olds[i]!, advantages[i]!, weights?.[i], f),
  );
  const masks = answers.map((answer) => answer.mask);
  const aggregator = trlAggregator(config, masks, f);
  const full = (x: PerToken, mask: Uint8Array): Float64Array => Float64Array.from(mask, (_, j) => at(x, j));
  const value = (of: (row: Row) => PerToken): number =>
    aggregator.value(rows.map((row) => full(of(row), row.answer.mask)));

  const policy = value((row) => row.policyLoss);
  const inclKl = value((row) => row.loss);
  const entropies =
    config.entropyCoef === 0
      ? ifAny(step, 'entropy')
      : answers.map((answer) => needed(step, answer, 'entropy', 'entropy_coef is not 0'));
  const entropy = entropies && trlEntropy(config, entropies, masks, f);
  const scaled = aggregator.scaled(inclKl);
  const total =
    entropy === undefined || config.entropyCoef === 0
      ? scaled
      : f.round(scaled - f.round(f.round(config.entropyCoef) * entropy));
  const klMean = config.beta === 0 ? null : aggregator.tokenMean(rows.map((row) => row.klValues!));

  const results = rows.map((row, i): AnswerResult => {
    const outer = Float64Array.from(row.answer.mask, (_, j) => aggregator.gradient(i, j));
    return {
      advantage: row.advantage,
      ratio: row.ratio,
      ...(row.weight !== undefined && { weight: row.weight }),
      loss: row.loss,
      ...(row.klValues && { kl: row.klValues }),
      grad: gradientOf(row, olds[i]!, config, outer, f),
    };
  });
  return {
    id: step.id,
    groups: grouped(step, results),
    loss: {
      policy,
      policy_incl_kl: inclKl,
      total,
      kl_mean_metric: klMean,
      kl: klMean,
      entropy: entropy ?? null,
    },
  };
}
