/**
 * Whole steps against what verl and TRL gave on CPU, and their pieces. Branches, ties, clamps, NaN, infinities and the sign
 * of zero exactly; the rest in ulps of the largest term.
 */
import { describe, expect, test } from 'vitest';
import { trlAdvantages, verlAdvantages } from '../../src/grpo/advantage.ts';
import { verlKl } from '../../src/grpo/kl.ts';
import { entropy, logProbs, logSumExp, scaledLogits } from '../../src/grpo/log-prob.ts';
import { rejectionMasks } from '../../src/grpo/rejection.ts';
import {
  boundWeight,
  logRatios,
  rawWeights,
  verlWeights,
  weightMean,
} from '../../src/grpo/rollout-weights.ts';
import { runStep } from '../../src/grpo/step.ts';
import { parseStepConfig, type VerlConfig } from '../../src/grpo/step-config.ts';
import { deviation, STEP_FLOAT } from '../../src/grpo/step-float.ts';
import { parseStep } from '../../src/grpo/step-record.ts';
import { trlAggregator } from '../../src/grpo/trl-aggregation.ts';
import { type Aggregator, verlAggregator } from '../../src/grpo/verl-aggregation.ts';
import { distance, type FrameworkCase, frameworkCases, number, numbers, ulp } from './framework-cases.ts';

/** The bar: in ulps of the largest term. The worst found is 4 (an FP32 loss token), 3 in binary64. */
const ULPS = 4;
const DTYPES = ['float64', 'float32'] as const;
const STEPS = ['verl_step', 'verl_gspo', 'verl_edges', 'verl_extra', 'trl_step', 'trl_edges', 'trl_extra'];

/** Constants formed in another type than the tensors' are no rule of the frameworks (cases/README.md). */
const pure = (c: FrameworkCase): boolean => c.dtype === c.default_dtype;

/** 4 ulps of max|reward| / (std + eps): a mean added up in order is off by ulps of the largest reward. */
function advantageBound(rewards: number[], spread: number[], divided: boolean, c: FrameworkCase): number {
  const known = rewards.filter(Number.isFinite);
  const largest = Math.max(...known.map(Math.abs));
  const scored = spread.filter((x) => !Number.isNaN(x));
  const std = divided && scored.length > 1 ? deviation(scored, STEP_FLOAT[c.dtype]) : 1;
  const epsilon = divided ? (c.framework === 'trl' ? 1e-4 : 1e-6) : 0;
  return (ULPS * ulp(largest, c.dtype)) / (std + epsilon);
}

function near(found: number, expected: number, bound: number, where: string): void {
  if (Number.isFinite(expected) && Number.isFinite(found))
    expect(Math.abs(found - expected), `${where}: ${found}, expected ${expected}`).toBeLessThanOrEqual(bound);
  else expect(found, where).toBe(expected);
}

function close(found: number, expected: number, c: FrameworkCase, where: string, ...terms: number[]): void {
  expect(
    distance(found, expected, c.dtype, ...terms),
    `${where}: ${found}, expected ${expected}`,
  ).toBeLessThanOrEqual(ULPS);
}

const at = (x: unknown, j: number): unknown => (Array.isArray(x) ? x[j] : x);
const listOf = (x: unknown): unknown[] => (Array.isArray(x) ? x : [x]);

/** The largest part that any token, and where sequences are summed first any sequence, has in an aggregated loss. */
function largestPart(
  losses: number[][],
  aggregator: Pick<Aggregator, 'gradient'>,
  sequences: boolean,
): number {
  const parts = losses.map((row, i) =>
    row.map((x, j) => x * aggregator.gradient(i, j, 1)).filter(Number.isFinite),
  );
  const sums = sequences ? parts.map((row) => row.reduce((a, b) => a + b, 0)) : [];
  return Math.max(0, ...[...parts.flat(), ...sums].map(Math.abs));
}

function checkStep(c: FrameworkCase): void {
  const step = parseStep(c, `${c.id}: `);
  const { config } = step;
  const f = STEP_FLOAT[c.dtype];
  const expected = c.expected.groups.flatMap((g: { answers: unknown[] }) => g.answers) as Record<
    string,
    unknown
  >[];
  const inputs = step.groups.flatMap((g) => g.answers);
  const own = runStep(step).groups.map((g) => g.answers);
  const all = inputs.map((a) => a.reward!);
  own.forEach((answers, g) => {
    const rewards = step.groups[g]!.answers.map((a) => a.reward!);
    const divided = config.preset === 'trl' ? config.scale !== 'none' : config.divideByStd;
    const batch = config.preset === 'trl' && config.scale === 'batch';
    const bound = advantageBound(rewards, batch ? all : rewards, divided, c);
    answers.forEach((a, k) => {
      near(
        a.advantage,
        number(c.expected.groups[g].answers[k].advantage),
        bound,
        `${c.id} advantage ${g} ${k}`,
      );
    });
  });
  // From here on with the framework's advantages, so that their difference is propagated exactly.
  const result = runStep(
    step,
    expected.map((a) => number(a.advantage)),
  );
  const answers = result.groups.flatMap((g) => g.answers) as unknown as Record<string, unknown>[];
  expect(answers.map((a) => Object.keys(a).sort())).toEqual(expected.map((a) => Object.keys(a).sort()));
  const masks = answers.map((a, i) => (a.mask as Uint8Array | undefined) ?? inputs[i]!.mask);
  const aggregators = ((): { policy: Pick<Aggregator, 'gradient'>; other: Pick<Aggregator, 'gradient'> } => {
    if (config.preset === 'trl') {
      const aggregator = trlAggregator(config, masks, f);
      return { policy: aggregator, other: aggregator };
    }
    const of = (mode: VerlConfig['aggregation']): Aggregator =>
      verlAggregator(
        mode,
        masks,
        {
          dp_size: config.dpSize,
          batch_num_tokens: config.batchTokens,
          global_batch_size: config.globalBatch,
          loss_scale_factor: config.lossScaleFactor ?? config.responseLength!,
        },
        f,
      );
    return {
      policy: of(config.lossMode === 'gspo' ? 'seq-mean-token-mean' : config.aggregation),
      other: of(config.aggregation),
    };
  })();
  const beta = config.preset === 'trl' ? config.beta : config.klType ? config.klCoef : 0;
  answers.forEach((a, i) => {
    const e = expected[i]!;
    for (const key of Object.keys(e)) {
      const mine = typeof a[key] === 'number' ? a[key] : Array.from(a[key] as Float64Array);
      expect(Array.isArray(mine), `${c.id} ${key}`).toBe(Array.isArray(e[key]));
      const list = numbers(listOf(mine));
      expect(list).toHaveLength(listOf(e[key]).length);
      numbers(listOf(e[key])).forEach((x, j) => {
        const { log_prob: lp, ref_log_prob: ref } = inputs[i]!.tokens;
        const d = ref ? ref[j]! - lp![j]! : 0;
        const r = Math.exp(Math.min(d, 700));
        const terms = ((): number[] => {
          if (key === 'kl') return [r, d, 1];
          if (key === 'loss' && beta !== 0 && config.preset === 'trl')
            return [beta * number(at(e.kl, j)), beta, beta * r, beta * d];
          if (key === 'grad' && beta !== 0) {
            const g = aggregators.other.gradient(i, j, beta);
            return config.preset === 'trl' ? [g * beta * r, g * beta] : [g, g * d, g * r];
          }
          return [];
        })();
        close(list[j]!, x, c, `${c.id} ${key} ${i} ${j}`, ...terms);
      });
    }
  });
  const rows = (key: string): number[][] =>
    expected.map((a, i) =>
      Array.from(masks[i]!, (_, j) => (a[key] === undefined ? 0 : number(at(a[key], j)))),
    );
  const sequences =
    config.preset === 'trl'
      ? config.lossType === 'grpo'
      : config.lossMode === 'gspo' || config.aggregation.startsWith('seq');
  const policyPart = largestPart(rows('loss'), aggregators.policy, sequences);
  const klPart = largestPart(rows('kl'), aggregators.other, sequences);
  for (const [name, value] of Object.entries(c.expected.loss as Record<string, unknown>)) {
    const mine = result.loss[name];
    if (value === null || mine === null || mine === undefined) {
      expect(mine, `${c.id} loss.${name}`).toBe(value);
      continue;
    }
    const scale = config.preset === 'trl' && config.lossType !== 'dapo' ? config.accumulation : 1;
    const parts = name === 'policy' || name === 'policy_incl_kl' ? policyPart * scale : policyPart;
    const terms = name.startsWith('kl') ? [klPart] : name === 'entropy' ? [] : [parts];
    close(mine, number(value), c, `${c.id} loss.${name}`, ...terms);
  }
}

describe.each(DTYPES)('steps in %s [GRP-04] [GRP-05] [GRP-06] [GRP-07] [GRP-08] [GRP-12]', (dtype) => {
  test.each(STEPS)('%s', (file) => {
    const cases = frameworkCases(file).filter((c) => pure(c) && c.dtype === dtype);
    if (dtype === 'float64') expect(cases.length).toBeGreaterThan(5);
    for (const c of cases) checkStep(c);
  });
});

test('advantages as verl has them [GRP-02]', () => {
  const cases = frameworkCases('verl_advantage').filter(pure);
  for (const c of cases)
    for (const [g, group] of c.groups.entries()) {
      const rewards = numbers(group.rewards);
      const divide = c.config.norm_adv_by_std_in_grpo as boolean;
      const found = verlAdvantages(
        rewards,
        { divide, epsilon: c.config.epsilon as number },
        STEP_FLOAT[c.dtype],
      );
      const bound = advantageBound(rewards, rewards, divide, c);
      found.forEach((a, k) => {
        near(a, number(c.expected.groups[g].advantage[k]), bound, `${c.id} ${g} ${k}`);
      });
    }
  expect(cases.length).toBe(34);
});

test('advantages as TRL has them [GRP-03]', () => {
  const cases = frameworkCases('trl_advantage').filter(pure);
  for (const c of cases) {
    const rewards = numbers(c.rewards);
    const n = c.config.num_generations as number;
    const groups = Array.from({ length: rewards.length / n }, (_, g) => rewards.slice(g * n, (g + 1) * n));
    const scale = c.config.scale_rewards as 'group' | 'batch' | 'none';
    const found = trlAdvantages(groups, scale, STEP_FLOAT[c.dtype]);
    groups.forEach((group, g) => {
      const known = (scale === 'batch' ? rewards : group).filter((x) => !Number.isNaN(x));
      const bound = group.every(Number.isNaN) ? 0 : advantageBound(group, known, scale !== 'none', c);
      group.forEach((_, k) => {
        near(found[g]![k]!, number(c.expected.advantage[g * n + k]), bound, `${c.id} ${g} ${k}`);
      });
    });
  }
  expect(cases.length).toBe(30);
});

test('aggregation as verl has it [GRP-09]', () => {
  for (const c of frameworkCases('verl_agg').filter(pure)) {
    const masks = c.inputs.mask.map((row: number[]) => Uint8Array.from(row)) as Uint8Array[];
    const rows = c.inputs.loss_mat.map((row: unknown[]) => Float64Array.from(numbers(row))) as Float64Array[];
    const o = (name: string): number | undefined => (c.config[name] as number | null) ?? undefined;
    const aggregator = verlAggregator(
      c.config.loss_agg_mode as VerlConfig['aggregation'],
      masks,
      {
        dp_size: o('dp_size')!,
        batch_num_tokens: o('batch_num_tokens'),
        global_batch_size: o('global_batch_size'),
        loss_scale_factor: o('loss_scale_factor') ?? masks[0]!.length,
      },
      STEP_FLOAT[c.dtype],
    );
    const part = largestPart(
      rows.map((row) => [...row]),
      aggregator,
      true,
    );
    close(aggregator.value(rows), number(c.expected.loss), c, c.id, part);
    c.expected.grad.forEach((row: unknown[], i: number) => {
      numbers(row).forEach((g, j) => {
        close(aggregator.gradient(i, j, 1), g, c, `${c.id} grad ${i} ${j}`);
      });
    });
  }
});

test('KL as verl has it [GRP-11]', () => {
  // All of them: no constant of these is formed in the default type.
  for (const c of frameworkCases('verl_kl')) {
    const ref = numbers(c.inputs.ref_log_prob);
    numbers(c.inputs.log_prob).forEach((lp, j) => {
      const kl = verlKl(c.config.kl_loss_type as string, lp, ref[j]!, STEP_FLOAT[c.dtype]);
      const d = ref[j]! - lp;
      close(kl.value, number(c.expected.kl[j]), c, `${c.id} ${j}`, Math.exp(Math.min(d, 20)), d, 1);
      close(
        kl.gradient(1) + 0,
        number(c.expected.grad[j]) + 0,
        c,
        `${c.id} grad ${j}`,
        1,
        Math.exp(Math.min(d, 20)),
      );
    });
  }
});

test('rollout weights and rejection as verl has them [GRP-13] [GRP-14]', () => {
  for (const c of frameworkCases('verl_rollout').filter(pure)) {
    const f = STEP_FLOAT[c.dtype];
    const config = parseStepConfig(c.config, c, `${c.id}: `) as VerlConfig;
    const masks = c.answers.map((a: { mask: number[] }) => Uint8Array.from(a.mask)) as Uint8Array[];
    const rows = {
      masks,
      logRatios: c.answers.map((a: Record<string, unknown[]>) =>
        logRatios(
          Float64Array.from(numbers(a.old_log_prob!)),
          Float64Array.from(numbers(a.rollout_log_prob!)),
          f,
        ),
      ) as Float64Array[],
    };
    const { rollout } = config;
    const weights = rollout && verlWeights(rows, rollout.level, rollout.threshold, rollout.normalize, f);
    if (c.expected.error) {
      expect(weights!.flatMap((row) => [...row]).every((w) => w === 0)).toBe(true);
      continue;
    }
    const kept = config.rejection.length > 0 ? rejectionMasks(rows, config.rejection, f) : masks;
    c.expected.answers.forEach((answer: { weight: unknown[] | null; mask: number[] }, i: number) => {
      expect([...kept[i]!], c.id).toEqual(answer.mask);
      if (answer.weight === null) expect(weights).toBeUndefined();
      else
        numbers(answer.weight).forEach((w, j) => {
          close(weights![i]![j]!, w, c, `${c.id} weight ${i} ${j}`);
        });
    });
    const factor = c.expected.metrics.rollout_is_batch_norm_factor;
    if (factor !== undefined) {
      const bounded = rawWeights(rows, rollout!.level, f).map((row) =>
        row.map((w) => boundWeight(w, rollout!.threshold, f)),
      );
      close(weightMean(bounded, masks, rollout!.level, f), factor, c, `${c.id} mean`);
    }
  }
});

test('log-probs and entropy from logits [GRP-16]', () => {
  for (const c of frameworkCases('logits')) {
    const f = STEP_FLOAT[c.dtype];
    const temperature = c.temperature as number;
    const x = scaledLogits(numbers(c.logits), temperature, f);
    const largest = Math.max(...x.filter(Number.isFinite).map(Math.abs), 1);
    x.forEach((value, k) => {
      close(value, number(c.scaled[k]), c, `${c.id} scaled`);
    });
    close(logSumExp(x, f), number(c.expected.logsumexp), c, `${c.id} logsumexp`, largest);
    const own = logProbs(numbers(c.logits), f, { temperature });
    const softmax = logProbs(numbers(c.logits), f, { temperature, form: 'log-softmax' });
    x.forEach((_, k) => {
      for (const name of ['log_prob_verl_v2', 'log_prob_trl'])
        close(own[k]!, number(c.expected[name][k]), c, `${c.id} ${name} ${k}`, largest);
      close(softmax[k]!, number(c.expected.log_softmax[k]), c, `${c.id} log_softmax ${k}`, 1);
    });
    for (const form of ['verl', 'trl'] as const)
      close(
        entropy(numbers(c.logits), form, f, temperature),
        number(c.expected[`entropy_${form}`]),
        c,
        `${c.id} entropy ${form}`,
        largest,
      );
  }
});
