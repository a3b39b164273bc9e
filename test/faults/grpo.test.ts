/** Faults of GRPO found in real code: what each does to its smallest input, and what is right (spec/faults.md). */
import { expect, test } from 'vitest';
import { trlAdvantages, verlAdvantages } from '../../src/grpo/advantage.ts';
import { clipByNorm } from '../../src/grpo/clip.ts';
import { verlKl } from '../../src/grpo/kl.ts';
import { logitGradient, logProbs } from '../../src/grpo/log-prob.ts';
import { rejectionMasks } from '../../src/grpo/rejection.ts';
import { runStep } from '../../src/grpo/step.ts';
import { STEP_FLOAT } from '../../src/grpo/step-float.ts';
import { parseStep } from '../../src/grpo/step-record.ts';

const F64 = STEP_FLOAT.float64;
const F32 = STEP_FLOAT.float32;
const take = (config: object, ...answers: object[]) =>
  runStep(parseStep({ config, groups: [{ answers }] }, ''));
const PLAIN = { norm_adv_by_std_in_grpo: false };

test('O1: the gradient of an estimator is not that of the KL [GRP-11] [GRP-16]', () => {
  const p = logProbs([0, 0], F64);
  const ref = [Math.log(0.9), Math.log(0.1)];
  /** In expectation over both tokens, with respect to logit 0. */
  const expected = (type: string): number =>
    p.reduce(
      (s, lp, a) => s + 0.5 * logitGradient([0, 0], a, verlKl(type, lp, ref[a]!, F64).gradient(1), F64)[0]!,
      0,
    );
  expect(expected('k1')).toBeCloseTo(0, 12);
  expect(expected('k3')).toBeCloseTo(-0.4, 12);
  expect(expected('abs')).toBeCloseTo(-0.5, 12);
  for (const type of ['k2', 'k1+', 'k3+', 'abs+']) expect(expected(type)).toBeCloseTo(-0.549306, 6);
});

test('O2: the variance floored before the root [GRP-02]', () => {
  const rule = { divide: true, epsilon: 1e-6 };
  const [low, high] = verlAdvantages([1, 1.00001], rule, F64);
  expect([low, high].map((a) => a!.toFixed(6))).toEqual(['-0.619497', '0.619497']);
  expect(verlAdvantages([1, Math.fround(1.00001)], rule, F32)[1]).toBeCloseTo(0.6196, 4);
  const variance = 2 * 0.000005 ** 2;
  expect((0.000005 / Math.sqrt(variance + 1e-6)).toFixed(8)).toBe('0.00499988');
});

test('O3: the token mean is over all tokens [GRP-09]', () => {
  // Losses 1 at the one token, 0 at three: as entropy, which is plainly aggregated.
  const row = (n: number, h: number) => {
    const zeros = new Array(n).fill(0);
    return {
      reward: 0,
      mask: zeros.map(() => 1),
      log_prob: zeros,
      old_log_prob: zeros,
      entropy: zeros.map(() => h),
    };
  };
  expect(take({}, row(1, 1), row(3, 0)).loss.entropy).toBe(0.25);
  expect(((1 / 1 + 0 / 3) / 2).toString()).toBe('0.5');
});

const RATIOS = [0.1, -1.5, 0.8, -10, 0.3];
const far = {
  reward: -1,
  mask: [1, 1, 1, 1, 1],
  log_prob: RATIOS.map((l) => Math.min(l, 0)),
  old_log_prob: RATIOS.map((l) => Math.min(l, 0)),
  rollout_log_prob: RATIOS.map((l) => Math.min(-l, 0)),
};

test('O4: who stays in the denominator [GRP-13] [GRP-14]', () => {
  const reject = take(
    {
      ...PLAIN,
      rollout_is: 'token',
      rollout_is_threshold: 1e12,
      rollout_rs: 'token_k1',
      rollout_rs_threshold: '0.5_2.0',
    },
    far,
  );
  const band = take({ ...PLAIN, rollout_is: 'token', rollout_is_threshold: '0.5_2.0' }, far);
  expect(reject.loss.policy!.toFixed(4)).toBe('1.2275');
  expect(band.loss.policy!.toFixed(3)).toBe('0.491');
  expect([...reject.groups[0]!.answers[0]!.mask!]).toEqual([1, 0, 0, 0, 1]);
});

test('O5: one answer, equal rewards [GRP-02] [GRP-03]', () => {
  const rule = { divide: true, epsilon: 1e-6 };
  expect(verlAdvantages([1], rule, F64)[0]!.toFixed(6)).toBe('0.999999');
  expect(verlAdvantages([0.1, 0.1, 0.1], rule, F64)).toEqual([0, 0, 0]);
  expect(verlAdvantages([0.1, 0.1, 0.1], { ...rule, mean: 'sequential' }, F64)[0]).toBeCloseTo(-1.4e-11, 12);
  expect(trlAdvantages([[1], [0.1, 0.1, 0.1]], 'group', F64)).toEqual([[0], [0, 0, 0]]);
});

test('O6: all tokens masked [GRP-09] [GRP-10]', () => {
  const masked = { reward: 1, mask: [0, 0], log_prob: [-1, -1], old_log_prob: [-1, -2] };
  const gradients = (result: ReturnType<typeof take>) =>
    [...result.groups[0]!.answers[0]!.grad].map(Math.abs);
  const modes = [
    'token-mean',
    'token-sum',
    'seq-mean-token-sum',
    'seq-mean-token-sum-norm',
    'seq-mean-token-mean',
  ];
  for (const loss_agg_mode of modes) {
    const local = take({ loss_agg_mode }, masked);
    expect(gradients(local)).toEqual([0, 0]);
    expect(local.loss.policy).toBe(loss_agg_mode === 'token-sum' ? 0 : Number.NaN);
    const given = take({ loss_agg_mode, batch_num_tokens: 4, global_batch_size: 2 }, masked);
    expect([given.loss.policy, ...gradients(given)]).toEqual([0, 0, 0]);
  }
  for (const loss_type of ['grpo', 'bnpo', 'dr_grpo', 'dapo']) {
    const result = take({ preset: 'trl', loss_type }, masked);
    expect([result.loss.policy, ...gradients(result)]).toEqual([0, 0, 0]);
  }
});

test('O7: k3 does not overflow [GRP-11]', () => {
  expect(Math.fround(Math.exp(89))).toBe(Infinity);
  for (const f of [F32, F64]) {
    const { value, gradient } = verlKl('low_var_kl', -89, 0, f);
    expect([value, Math.abs(gradient(1))]).toEqual([10, 0]);
  }
});

test('O8: the temperature divides [GRP-16]', () => {
  expect(logProbs([2, 0], F64, { temperature: 0.5 })[0]!.toFixed(7)).toBe('-0.0181499');
  expect(logProbs([2, 0], F64)[0]!.toFixed(6)).toBe('-0.126928');
});

test('O9: the dual clip is for negative advantages [GRP-06]', () => {
  const up = { reward: 2, mask: [1], log_prob: [Math.LN2], old_log_prob: [0] };
  const down = { reward: 0, mask: [1], log_prob: [0], old_log_prob: [0] };
  const config = { ...PLAIN, clip_ratio_low: 0.2, clip_ratio_high: 0.28, clip_ratio_c: 3 };
  expect([...(take(config, up, down).groups[0]!.answers[0]!.loss as Float64Array)]).toEqual([-1.28]);
  expect(Math.min(-1 * 3, Math.max(-2, -1.28))).toBe(-3);
});

test('O10: the band of token_k1 is of rollout / training [GRP-14]', () => {
  const rows = { masks: [Uint8Array.of(1, 1)], logRatios: [Float64Array.of(Math.log(3), Math.log(0.25))] };
  const [kept] = rejectionMasks(rows, [{ rule: 'token_k1', lower: 0.5, upper: 5 }], F64);
  expect([...kept!]).toEqual([0, 1]);
  expect([3, 0.25].map((w) => Number(w >= 0.5 && w <= 5))).toEqual([1, 0]);
});

test('O11: the clip coefficient is a reciprocal and a product [ADW-10]', () => {
  const norm = Math.fround(0.3);
  const max = 0.3;
  const { coefficient } = clipByNorm([Float64Array.of(norm)], max, 'float32', norm);
  const below = Math.fround(norm + Math.fround(1e-6));
  const divided = Math.fround(Math.fround(max) / below);
  const product = Math.fround(Math.fround(max) * Math.fround(1 / below));
  expect(coefficient).toBe(product);
  expect(divided === product, `${divided} ${product}`).toBe(false);
});
