/** Every mode with numbers worked out by hand: ratios that are powers of two or exactly 1, so that all is rational. */
import { describe, expect, test } from 'vitest';
import { trlAdvantages, verlAdvantages } from '../../src/grpo/advantage.ts';
import { verlKl } from '../../src/grpo/kl.ts';
import { trlWeights, verlWeights } from '../../src/grpo/rollout-weights.ts';
import { runStep } from '../../src/grpo/step.ts';
import { deviation, mean, STEP_FLOAT, sum } from '../../src/grpo/step-float.ts';
import { parseStep } from '../../src/grpo/step-record.ts';
import { formatStepResult } from '../../src/grpo/step-result.ts';

const F64 = STEP_FLOAT.float64;
const F32 = STEP_FLOAT.float32;
/** exp of it rounds to 2, of its negative to 1/2. */
const LN2 = Math.LN2;

const take = (config: object, ...answers: object[]) =>
  runStep(parseStep({ config: { norm_adv_by_std_in_grpo: false, ...config }, groups: [{ answers }] }, ''));
const takeTrl = (config: object, ...answers: object[]) =>
  runStep(
    parseStep({ config: { preset: 'trl', scale_rewards: 'none', ...config }, groups: [{ answers }] }, ''),
  );
const zeros = (n: number): number[] => new Array(n).fill(0);
/** n valid tokens whose policies all agree. */
const same = (n: number, reward: number, more: object = {}) => ({
  reward,
  mask: new Array(n).fill(1),
  log_prob: zeros(n),
  old_log_prob: zeros(n),
  ...more,
});

describe('sums [GRP-01]', () => {
  test('are exact, whatever the order', () => {
    expect(sum([1e308, 1, -1e308, 2 ** -60, -1], F64)).toBe(2 ** -60);
    expect(sum([2 ** 24, 1, 1], F32)).toBe(2 ** 24 + 2);
    expect(sum([1, 2 ** -53, -(2 ** -54)], F64)).toBe(1);
    expect(sum([1, 2 ** -53, 2 ** -53], F64)).toBe(1 + 2 ** -52);
    expect(sum([-0, -0], F64)).toBe(0);
    expect(sum([], F64)).toBe(0);
  });
  test('of what is not finite are those of IEEE 754', () => {
    expect(sum([1, Infinity, 2], F64)).toBe(Infinity);
    expect(sum([Infinity, -Infinity], F64)).toBeNaN();
    expect(sum([1, Number.NaN], F64)).toBeNaN();
  });
  test('means and deviations are rounded once', () => {
    expect(mean([0.1, 0.1, 0.1], F64)).toBe(0.1);
    expect(mean([1, 2, 2], F64)).toBe(5 / 3);
    // Deviations of 1, 2, 3, 4: squares add up to 5, over 3; the root of 5/3 by the integer root of 5/3 x 10^40.
    expect(deviation([1, 2, 3, 4], F64)).toBe(1.2909944487358056);
    expect(deviation([1, 2, 3, 4], F32)).toBe(Math.fround(1.2909944487358056));
    expect(deviation([0, 6], F64)).toBe(4.242640687119285);
    expect(deviation([5, 5, 5], F64)).toBe(0);
    expect(deviation([1, 3, 5], F64)).toBe(2);
  });
});

describe('advantages', () => {
  const rule = { divide: true, epsilon: 1e-6 };
  test('verl [GRP-02]', () => {
    expect(verlAdvantages([1, 3, 5], { divide: false, epsilon: 1e-6 }, F64)).toEqual([-2, 0, 2]);
    expect(verlAdvantages([1, 3, 5], rule, F64)).toEqual([-2 / 2.000001, 0, 2 / 2.000001]);
    expect(verlAdvantages([3], rule, F64)).toEqual([3 / 1.000001]);
    expect(verlAdvantages([3], { ...rule, divide: false }, F64)).toEqual([3]);
    expect(verlAdvantages([-0], rule, F64)).toEqual([0]);
    expect(verlAdvantages(new Array(16).fill(Math.fround(0.7)), rule, F32)).toEqual(new Array(16).fill(0));
    expect(verlAdvantages([1, Number.NaN], rule, F64)).toEqual([Number.NaN, Number.NaN]);
  });
  test('verl, the mean added up in order [GRP-01]', () => {
    const rewards = [0.1, 0.1, 0.1].map(Math.fround);
    // Three additions in binary64 of 0.1 give 0.30000000000000004, a third of which is 0.10000000000000002.
    const [a] = verlAdvantages([0.1, 0.1, 0.1], { ...rule, mean: 'sequential' }, F64);
    expect(a).toBe(-1.3877787807814457e-17 / 1e-6);
    expect(verlAdvantages(rewards, rule, F32)).toEqual([0, 0, 0]);
  });
  test('TRL [GRP-03]', () => {
    expect(trlAdvantages([[1, 3, 5]], 'none', F64)).toEqual([[-2, 0, 2]]);
    expect(trlAdvantages([[1, 3, 5]], 'group', F64)).toEqual([[-2 / 2.0001, 0, 2 / 2.0001]]);
    // Of 0, 2 and 4, 6 together: squares of deviations from 3 add up to 20, over 3.
    const spread = 2.581988897471611 + 1e-4;
    expect(
      trlAdvantages(
        [
          [0, 2],
          [4, 6],
        ],
        'batch',
        F64,
      ),
    ).toEqual([
      [-1 / spread, 1 / spread],
      [-1 / spread, 1 / spread],
    ]);
    expect(trlAdvantages([[Number.NaN, 1, 5, 3], [7], [Number.NaN, 2]], 'group', F64)).toEqual([
      [0, -2 / 2.0001, 2 / 2.0001, 0],
      [0],
      [0, 0],
    ]);
  });
});

describe('verl aggregation [GRP-09]', () => {
  // A = (4/2, -4/2): losses -2 at one token, +2 at three.
  const answers = [same(1, 4), same(3, 0)];
  test.each([
    ['token-mean', {}, (-2 + 6) / 4],
    ['token-mean', { batch_num_tokens: 8, dp_size: 2, global_batch_size: 1 }, 1],
    ['token-sum', {}, 4],
    ['token-sum', { dp_size: 2 }, 8],
    ['seq-mean-token-sum', {}, 2],
    ['seq-mean-token-sum', { global_batch_size: 8 }, 0.5],
    ['seq-mean-token-sum-norm', {}, 2 / 3],
    ['seq-mean-token-sum-norm', { response_length: 4 }, 0.5],
    ['seq-mean-token-sum-norm', { loss_scale_factor: 16 }, 0.125],
    ['seq-mean-token-mean', {}, (-2 / (1 + 1e-8) + 6 / (3 + 1e-8)) / 2],
  ])('%s %o', (loss_agg_mode, config, policy) => {
    expect(take({ loss_agg_mode, ...config }, ...answers).loss.policy).toBe(policy);
  });
  test('gradients', () => {
    const grads = (config: object) => take(config, ...answers).groups[0]!.answers.map((a) => [...a.grad]);
    expect(grads({ loss_agg_mode: 'token-mean' })).toEqual([[-0.5], [0.5, 0.5, 0.5]]);
    expect(grads({ loss_agg_mode: 'token-sum' })).toEqual([[-2], [2, 2, 2]]);
    expect(grads({ loss_agg_mode: 'seq-mean-token-sum' })).toEqual([[-1], [1, 1, 1]]);
    expect(grads({ loss_agg_mode: 'seq-mean-token-sum-norm', loss_scale_factor: 4 })).toEqual([
      [-0.25],
      [0.25, 0.25, 0.25],
    ]);
    const third = 2 * (0.5 / (3 + 1e-8));
    expect(grads({ loss_agg_mode: 'seq-mean-token-mean' })).toEqual([
      [-2 * (0.5 / (1 + 1e-8))],
      [third, third, third],
    ]);
  });
});

describe('TRL aggregation [GRP-10]', () => {
  // Without the division A = (2, -2): losses -2 at one token, +2 at three; and an empty answer with A = 0.
  const answers = [same(1, 4), same(3, 0), same(0, 2)];
  test.each([
    ['grpo', { gradient_accumulation_steps: 4 }, 0, 0],
    ['bnpo', { gradient_accumulation_steps: 4 }, 1, 0.25],
    ['dr_grpo', { max_completion_length: 8, gradient_accumulation_steps: 2 }, 4 / 24, 2 / 24],
    ['dapo', { num_items_in_batch: 16, num_processes: 2, gradient_accumulation_steps: 2 }, 0.5, 0.5],
    ['dapo', {}, 1, 1],
  ])('%s %o', (loss_type, config, policy, total) => {
    const { loss } = takeTrl({ loss_type, ...config }, ...answers);
    expect([loss.policy, loss.total]).toEqual([policy, total]);
  });
  test('an empty answer counts in grpo: (-2 + 2 + 0) / 3 of other advantages', () => {
    const { loss } = takeTrl({ loss_type: 'grpo' }, same(1, 3), same(3, 0), same(0, 0));
    expect(loss.policy).toBe((-2 + 1) / 3);
  });
});

describe('the clipped loss', () => {
  const ratio2 = { reward: 0, mask: [1], log_prob: [LN2], old_log_prob: [0] };
  const ratioHalf = { reward: 4, mask: [1], log_prob: [-LN2], old_log_prob: [0] };
  const all = { loss_agg_mode: 'token-sum', clip_ratio_low: 0.25, clip_ratio_high: 0.5 };
  const of = (result: ReturnType<typeof take>) =>
    result.groups[0]!.answers.map((a) => [a.advantage, ...(a.loss as Float64Array), ...a.grad]);
  test('verl [GRP-06]', () => {
    // A = -2, r = 2: max(4, 3) = 4. A = 2, r = 1/2: max(-1, -1.5) = -1.
    expect(of(take(all, ratio2, ratioHalf))).toEqual([
      [-2, 4, 4],
      [2, -1, -1],
    ]);
    // A = 2, r = 2: max(-4, -3) = -3, clipped. A = -2, r = 1/2: max(1, 1.5) = 1.5, clipped.
    expect(of(take(all, { ...ratio2, reward: 4 }, { ...ratioHalf, reward: 0 }))).toEqual([
      [2, -3, 0],
      [-2, 1.5, 0],
    ]);
  });
  test('the dual clip bounds A < 0 alone, a tie gets half [GRP-06] [GRP-08]', () => {
    expect(of(take({ ...all, clip_ratio_c: 1.5 }, ratio2, ratioHalf))).toEqual([
      [-2, 3, 0],
      [2, -1, -1],
    ]);
    expect(of(take({ ...all, clip_ratio_c: 2 }, ratio2, ratioHalf))[0]).toEqual([-2, 4, 2]);
    // r = 2 and A = 2 would give min(-3, ...) = -3 in any case; with a wide clip -4 stays.
    expect(
      of(take({ ...all, clip_ratio_high: 3, clip_ratio_c: 1.5 }, { ...ratio2, reward: 4 }, ratioHalf))[0],
    ).toEqual([0, -0, -0]);
  });
  test('at a clip bound the whole gradient comes through [GRP-08]', () => {
    const bounds = { ...all, clip_ratio_low: 0.5, clip_ratio_high: 1 };
    expect(of(take(bounds, ratio2, ratioHalf)).map(([, , g]) => g)).toEqual([4, -1]);
    expect(
      of(take(bounds, { ...ratio2, reward: 4 }, { ...ratioHalf, reward: 0 })).map(([, , g]) => g),
    ).toEqual([-4, 1]);
  });
  test('TRL [GRP-07]', () => {
    const trl = { loss_type: 'bnpo', epsilon: 0.25, epsilon_high: 0.5 };
    // Over two tokens: losses -min(-4, -3) = 4 and -min(1, 1.5) = -1.
    expect(of(takeTrl(trl, ratio2, ratioHalf))).toEqual([
      [-2, 4, 2],
      [2, -1, -0.5],
    ]);
    // delta 2 is a bound: the whole. delta 1.75: r counts 1.75, and carries nothing.
    expect(of(takeTrl({ ...trl, delta: 2 }, ratio2, ratioHalf))[0]).toEqual([-2, 4, 2]);
    expect(of(takeTrl({ ...trl, delta: 1.75 }, ratio2, ratioHalf))[0]).toEqual([-2, 3.5, 0]);
  });
});

describe('ratios', () => {
  test('of sequences: the mean over the mask [GRP-05]', () => {
    const answer = { reward: 0, mask: [1, 0, 1], log_prob: [2 * LN2, 5, 0], old_log_prob: [0, 0, 0] };
    const other = same(1, 2);
    const verl = take({ loss_mode: 'gspo' }, answer, other).groups[0]!.answers[0]!;
    expect([...(verl.ratio as Float64Array)]).toEqual([2, 2, 2]);
    // -A r / (n + 1e-8) / 2 answers at each of its own tokens.
    const each = 0.5 / (2 + 1e-8);
    expect([...verl.grad]).toEqual([each * 2, 0, each * 2]);
    const trl = takeTrl({ loss_type: 'bnpo', importance_sampling_level: 'sequence' }, answer, other);
    const first = trl.groups[0]!.answers[0]!;
    expect([first.ratio, first.loss]).toEqual([2, 2]);
    // Two of three valid tokens spread the ratio, the mean halves it back: 2/3 x 2 / 2 to each.
    const third = 1 / 3 + 1 / 3;
    expect([...first.grad]).toEqual([(third * 2) / 2, 0, (third * 2) / 2]);
  });
  test('verl clamps at 20, TRL does not [GRP-04]', () => {
    const far = { reward: 0, mask: [1, 1], log_prob: [0, 0], old_log_prob: [-20, -21] };
    const r = take({}, far).groups[0]!.answers[0]!.ratio as Float64Array;
    expect(r[0]).toBe(r[1]);
    const t = takeTrl({}, far).groups[0]!.answers[0]!.ratio as Float64Array;
    expect(t[1]).toBeGreaterThan(2 * t[0]!);
  });
});

describe('KL and entropy', () => {
  test('estimators where e = ln 2 or -ln 2 [GRP-11]', () => {
    const both = (type: string) => [verlKl(type, -LN2, 0, F64), verlKl(type, 0, -LN2, F64)];
    const [up, down] = both('k3');
    expect(up!.value).toBe(2 - LN2 - 1);
    expect(up!.gradient(1)).toBe(-1);
    expect(down!.value).toBe(0.5 + LN2 - 1);
    expect(down!.gradient(1)).toBe(0.5);
    expect(both('k1').map((k) => [k.value, k.gradient(2)])).toEqual([
      [-LN2, 2],
      [LN2, 2],
    ]);
    expect(both('abs').map((k) => [k.value, k.gradient(2)])).toEqual([
      [LN2, -2],
      [LN2, 2],
    ]);
    expect(verlKl('k2', -3, 0, F64)).toMatchObject({ value: 4.5 });
    expect(verlKl('k2', -3, 0, F64).gradient(1)).toBe(-3);
    expect(verlKl('k3+', -3, 0, F64).gradient(1)).toBe(-3);
    expect(verlKl('low_var_kl', -25, 0, F64)).toMatchObject({ value: 10 });
    expect(verlKl('low_var_kl', -25, 0, F64).gradient(1)).toBe(-0);
  });
  test('verl: policy - coef x entropy + coef x KL [GRP-12]', () => {
    const more = { ref_log_prob: [-1], entropy: [2] };
    const { loss } = take(
      { use_kl_loss: true, kl_loss_type: 'k1', kl_loss_coef: 0.25, entropy_coeff: 0.5 },
      same(1, 4, more),
      same(1, 0, more),
    );
    expect(loss).toEqual({ policy: 0, kl: 1, entropy: 2, total: 0 - 1 + 0.25 });
  });
  test('TRL: KL in the loss of a token, entropy over the accumulation steps [GRP-12]', () => {
    const more = { ref_log_prob: [LN2], entropy: [2] };
    const { loss } = takeTrl(
      { loss_type: 'bnpo', beta: 0.5, entropy_coef: 0.25, gradient_accumulation_steps: 4 },
      same(1, 4, more),
      same(1, 0, more),
    );
    const kl = 2 - LN2 - 1;
    expect(loss.policy).toBe(0);
    expect(loss.policy_incl_kl).toBe((-2 + 0.5 * kl + (2 + 0.5 * kl)) / 2);
    expect(loss.kl_mean_metric).toBe(kl);
    expect(loss.entropy).toBe(0.5);
    expect(loss.total).toBe(loss.policy_incl_kl! / 4 - 0.25 * 0.5);
  });
});

describe('rollout weights', () => {
  const rows = {
    masks: [Uint8Array.of(1, 1, 0), Uint8Array.of(1)],
    logRatios: [Float64Array.of(LN2, 2 * LN2, 7), Float64Array.of(-LN2)],
  };
  const plain = (weights: readonly (Float64Array | number)[]) =>
    weights.map((w) => (typeof w === 'number' ? w : [...w]));
  test('verl: cap, band, sequence, normalization [GRP-13]', () => {
    expect(plain(verlWeights(rows, 'token', { upper: 3 }, false, F64))).toEqual([[2, 3, 0], [0.5]]);
    expect(plain(verlWeights(rows, 'token', { lower: 0.5, upper: 3 }, false, F64))).toEqual([
      [2, 0, 0],
      [0.5],
    ]);
    const whole = verlWeights(rows, 'sequence', { upper: 100 }, false, F64);
    expect(whole[0]![0]).toBeCloseTo(8, 14);
    const mean = (2 + 3 + 0.5) / (3 + 1e-8);
    expect(plain(verlWeights(rows, 'token', { upper: 3 }, true, F64))).toEqual([
      [2 / mean, 3 / mean, 0],
      [0.5 / mean],
    ]);
  });
  test('TRL: a masked token weighs 1, clip_min 1.5 makes it 1.5 [GRP-15]', () => {
    const of = (mode: Parameters<typeof trlWeights>[1], min?: number, max?: number) =>
      plain(trlWeights(rows, mode, { min, max }, F64));
    expect(of('token_truncate', undefined, 3)).toEqual([[2, 3, 1], [0.5]]);
    expect(of('token_truncate', 1.5, 3)).toEqual([[2, 3, 1.5], [1.5]]);
    expect(of('token_mask', 0.6, 3)).toEqual([[2, 0, 1], [0]]);
    expect(of('sequence_truncate', undefined, 3)).toEqual([3, 0.5]);
    expect(of('sequence_mask', undefined, 3)).toEqual([0, 0.5]);
  });
});

test('-0, NaN and infinities in the output [GRP-18]', () => {
  const loss = { policy: -0, kl: null, entropy: Number.NaN, total: -Infinity };
  const text = formatStepResult({
    id: undefined,
    groups: [
      {
        id: 'q"',
        answers: [
          { advantage: -0, ratio: Float64Array.of(1e21, 1e-7, 0.1), loss: 5e-324, grad: Float64Array.of(-0) },
        ],
      },
    ],
    loss,
  });
  expect(text).toBe(
    '{"groups":[{"id":"q\\"","answers":[{"advantage":-0.0,"ratio":[1e+21,1e-7,0.1],"loss":5e-324,"grad":[-0.0]}]}],' +
      '"loss":{"policy":-0.0,"kl":null,"entropy":"NaN","total":"-Infinity"}}',
  );
});
