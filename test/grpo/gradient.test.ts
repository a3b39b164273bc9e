/** Gradients against exact differentiation by dual numbers, ties included; the total likewise. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KL_TYPES } from '../../src/grpo/kl.ts';
import { entropy, entropyGradient, logitGradient, logProbs } from '../../src/grpo/log-prob.ts';
import { runStep } from '../../src/grpo/step.ts';
import { STEP_FLOAT } from '../../src/grpo/step-float.ts';
import { parseStep } from '../../src/grpo/step-record.ts';
import { AGGREGATIONS } from '../../src/grpo/verl-aggregation.ts';
import { VECTOR_STEPS } from '../../src/vectors/grpo-steps.ts';
import { totalByDuals } from '../independent/grpo-by-duals.ts';
import { frameworkCases } from './framework-cases.ts';

/** Sums in another order: a few roundings of the largest part of a gradient, which KL and policy can cancel. */
const RELATIVE = 1e-13;

/** Compares every gradient of a finite step; returns how many. */
function checkGradients(value: unknown, name: string): number {
  const step = parseStep(value, `${name}: `);
  const result = runStep(step);
  const answers = result.groups.flatMap((g) => g.answers);
  const inputs = step.groups.flatMap((g) => g.answers);
  const given = {
    advantages: answers.map((a) => a.advantage),
    masks: answers.map((a, i) => [...(a.mask ?? inputs[i]!.mask)]),
    weights: answers.map((a, i) =>
      Array.from(inputs[i]!.mask, (_, j) => (typeof a.weight === 'number' ? a.weight : (a.weight?.[j] ?? 1))),
    ),
  };
  // An infinite ratio times 0 is autograd's NaN, not the limit; what TRL gave there is in frameworks.test.ts.
  const ratios = answers.flatMap((a) => (typeof a.ratio === 'number' ? [a.ratio] : [...a.ratio]));
  if (!ratios.every(Number.isFinite)) return 0;
  let compared = 0;
  answers.forEach((a, i) => {
    a.grad.forEach((g, j) => {
      const { total, derivative } = totalByDuals(step, step.config, given, i, j);
      if (!Number.isFinite(total) || !Number.isFinite(derivative)) return;
      const { ref_log_prob: ref, log_prob: lp } = inputs[i]!.tokens;
      const ratio = typeof a.ratio === 'number' ? a.ratio : a.ratio[j]!;
      const kl = ref && a.kl ? Math.exp(Math.min(ref[j]! - lp![j]!, 20)) + Math.abs(ref[j]! - lp![j]!) : 0;
      const scale = Math.max(Math.abs(derivative), (Math.abs(a.advantage) * ratio + kl) * 1e-1, 1e-300);
      expect(Math.abs(g - derivative) / scale, `${name} ${i} ${j}: ${g}, ${derivative}`).toBeLessThan(
        RELATIVE * 10,
      );
      // Zero or not is a branch, and exact, unless a ratio a few ulps from 1 lets policy and KL cancel.
      if (kl === 0) expect(g === 0, `${name} ${i} ${j}`).toBe(derivative === 0);
      expect(Math.abs(result.loss.total! - total), `${name} total`).toBeLessThan(
        1e-12 * Math.max(1, Math.abs(total)),
      );
      compared++;
    });
  });
  return compared;
}

const finite = (step: { config?: object }) => !JSON.stringify(step).match(/NaN|Infinity|float32/);

test('policy and KL that cancel to a few ulps [GRP-08]', () => {
  const lp = -2.9731435513142097;
  const config = { clip_ratio_high: 0.28, norm_adv_by_std_in_grpo: false, use_kl_loss: true };
  const kl = { kl_loss_type: 'kl', kl_loss_coef: 0.5 };
  const token = { mask: [1], rollout_log_prob: [0], ref_log_prob: [lp] };
  const answers = [
    { reward: 0, ...token, log_prob: [lp], old_log_prob: [lp] },
    { reward: 1, ...token, log_prob: [0], old_log_prob: [-6.272760089132154e-15] },
  ];
  expect(checkGradients({ config: { ...config, ...kl }, groups: [{ answers }] }, 'cancelled')).toBe(2);
});

test('the vectors [GRP-08]', () => {
  const compared = VECTOR_STEPS.filter(({ step }) => finite(step)).map(({ step, comment }) =>
    checkGradients(step, comment),
  );
  expect(compared.reduce((a, b) => a + b, 0)).toBeGreaterThan(500);
});

test.each(['verl_step', 'verl_edges', 'verl_gspo', 'verl_extra', 'trl_step', 'trl_edges', 'trl_extra'])(
  'the inputs of %s [GRP-08]',
  (file) => {
    const cases = frameworkCases(file).filter(
      (c) => c.dtype === 'float64' && finite({ groups: c.groups } as object),
    );
    for (const { id, config, groups, framework } of cases) checkGradients({ config, groups, framework }, id);
    expect(cases.length).toBeGreaterThan(4);
  },
);

const logProb = fc.oneof(
  fc.double({ min: -6, max: 0, noNaN: true }),
  fc.constantFrom(-2.9731435513142097, -1.2531399220684742, -2.75, -1.5, -1, 0, -25),
);
const answer = fc.integer({ min: 0, max: 4 }).chain((n) =>
  fc.record({
    reward: fc.constantFrom(0, 1, 0.5, -0.3),
    mask: fc.array(fc.constantFrom(0, 1, 1), { minLength: n, maxLength: n }),
    log_prob: fc.array(logProb, { minLength: n, maxLength: n }),
    old_log_prob: fc.array(logProb, { minLength: n, maxLength: n }),
    rollout_log_prob: fc.array(logProb, { minLength: n, maxLength: n }),
    ref_log_prob: fc.array(logProb, { minLength: n, maxLength: n }),
    entropy: fc.array(fc.double({ min: 0, max: 3, noNaN: true }), { minLength: n, maxLength: n }),
  }),
);
const groups = fc.array(fc.record({ answers: fc.array(answer, { minLength: 1, maxLength: 4 }) }), {
  minLength: 1,
  maxLength: 2,
});
const verlConfig = fc.record({
  norm_adv_by_std_in_grpo: fc.boolean(),
  loss_mode: fc.constantFrom('vanilla', 'gspo'),
  clip_ratio_low: fc.constantFrom(0.2, 0.5),
  clip_ratio_high: fc.constantFrom(0.28, 1),
  clip_ratio_c: fc.constantFrom(3, 2),
  loss_agg_mode: fc.constantFrom(...AGGREGATIONS),
  use_kl_loss: fc.boolean(),
  kl_loss_type: fc.constantFrom(...KL_TYPES),
  kl_loss_coef: fc.constantFrom(0, 0.5),
  entropy_coeff: fc.constantFrom(0, 0.3),
  rollout_is: fc.constantFrom(null, 'token', 'sequence'),
  rollout_is_threshold: fc.constantFrom(2, '0.5_2.0'),
  rollout_is_batch_normalize: fc.boolean(),
  rollout_rs: fc.constantFrom(null, 'token_k1', 'seq_mean_k1'),
  rollout_rs_threshold: fc.constant('0.25_4.0'),
});
const trlConfig = fc.record({
  preset: fc.constant('trl'),
  loss_type: fc.constantFrom('grpo', 'bnpo', 'dr_grpo', 'dapo'),
  delta: fc.constantFrom(null, 1.5, 2),
  beta: fc.constantFrom(0, 0.5),
  scale_rewards: fc.constantFrom('group', 'batch', 'none'),
  importance_sampling_level: fc.constantFrom('token', 'sequence'),
  use_bias_correction_kl: fc.boolean(),
  vllm_importance_sampling_correction: fc.boolean(),
  vllm_importance_sampling_mode: fc.constantFrom(
    'sequence_mask',
    'sequence_truncate',
    'token_mask',
    'token_truncate',
  ),
  entropy_coef: fc.constantFrom(0, 0.3),
  gradient_accumulation_steps: fc.constantFrom(1, 4),
});

test.each([
  ['verl', verlConfig],
  ['trl', trlConfig],
])('steps at random under %s [GRP-08]', (name, config) => {
  fc.assert(
    fc.property(config as fc.Arbitrary<object>, groups, (c, g) => {
      // Two processes' worth of denominators would hide an empty step's NaN.
      checkGradients({ config: c, groups: g }, `${name} ${JSON.stringify(c)}`);
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('logits: derivatives of log-prob and entropy by dual numbers [GRP-16]', () => {
  const f = STEP_FLOAT.float64;
  const duals = (logits: readonly number[], k: number, temperature: number) => {
    const x = logits.map((v, l) => ({ v: v / temperature, d: l === k ? 1 / temperature : 0 }));
    const e = x.map(({ v, d }) => ({ v: Math.exp(v), d: d * Math.exp(v) }));
    const s = e.reduce((a, b) => ({ v: a.v + b.v, d: a.d + b.d }));
    const lp = x.map(({ v, d }) => ({ v: v - Math.log(s.v), d: d - s.d / s.v }));
    const h = lp.reduce((a, { v, d }) => a - (Math.exp(v) * d * v + Math.exp(v) * d), 0);
    return { lp, h };
  };
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 6 }),
      fc.constantFrom(1, 0.5, 2, 0.7),
      (logits, temperature) => {
        const h = entropyGradient(logits, f, temperature);
        logits.forEach((_, token) => {
          const g = logitGradient(logits, token, 1.5, f, temperature);
          logits.forEach((__, k) => {
            const exact = duals(logits, k, temperature);
            expect(Math.abs(g[k]! - 1.5 * exact.lp[token]!.d)).toBeLessThan(1e-13);
            expect(Math.abs(h[k]! - exact.h)).toBeLessThan(1e-13);
          });
        });
      },
    ),
  );
  expect(entropy([0, 0], 'verl', f)).toBeCloseTo(Math.LN2, 15);
  expect(logProbs([0, 0], f)).toEqual([-Math.LN2, -Math.LN2]);
});
