/**
 * The steps that the vectors of GRPO take: every mode and edge, a few tokens each.
 * Clauses: spec/grpo.md GRP-01 to GRP-20.
 * @module
 */
import { log } from '../number/elementary.ts';

/** exp of it rounds to 2; its neighbours are the literals beside it. */
const LN2 = log(2);

type Config = Readonly<Record<string, unknown>>;

export interface VectorStep {
  readonly comment: string;
  readonly clauses: readonly string[];
  readonly step: Readonly<Record<string, unknown>>;
}

/** Two groups, ragged answers, one masked token, all kinds of log-probs. */
const GROUPS = [
  {
    id: 'q0',
    answers: [
      {
        reward: 1,
        mask: [1, 1, 0],
        log_prob: [-0.5, -1.25, -2],
        old_log_prob: [-0.75, -1, -1.75],
        rollout_log_prob: [-0.7, -1.9, -1.5],
        ref_log_prob: [-0.6, -1.25, -4],
        entropy: [0.5, 1.5, 0.25],
      },
      {
        reward: 0,
        mask: [1, 1],
        log_prob: [-0.1, -3],
        old_log_prob: [-1.4, -2.9],
        rollout_log_prob: [-1.5, -0.4],
        ref_log_prob: [-2.5, -2.75],
        entropy: [0.125, 2],
      },
    ],
  },
  {
    id: 'q1',
    answers: [
      {
        reward: 0.3,
        mask: [1],
        log_prob: [-0.4],
        old_log_prob: [-0.3],
        rollout_log_prob: [-2.3],
        ref_log_prob: [-0.1],
        entropy: [1],
      },
      {
        reward: 0.7,
        mask: [1, 0, 1, 1],
        log_prob: [-0.9, -0.2, -1.7, -0.6],
        old_log_prob: [-0.8, -0.9, -1.6, -1.3],
        rollout_log_prob: [-0.85, -0.9, -1.4, -1.2],
        ref_log_prob: [-1, -0.2, -1.5, -0.9],
        entropy: [0.7, 0.1, 0.9, 1.1],
      },
      {
        reward: 0.2,
        mask: [0, 0],
        log_prob: [-1, -1],
        old_log_prob: [-1, -1.5],
        rollout_log_prob: [-1, -1.25],
        ref_log_prob: [-1, -2],
        entropy: [1, 1],
      },
    ],
  },
];

const whole = (comment: string, clauses: readonly string[], config: Config): VectorStep => ({
  comment,
  clauses,
  step: { config, groups: GROUPS },
});

interface Row {
  readonly reward?: unknown;
  readonly mask: readonly number[];
  readonly log_prob: readonly unknown[];
  readonly old_log_prob?: readonly unknown[];
  readonly rollout_log_prob?: readonly unknown[];
  readonly ref_log_prob?: readonly unknown[];
}

const edge = (
  comment: string,
  clauses: readonly string[],
  config: Config,
  ...answers: readonly Row[]
): VectorStep => ({ comment, clauses, step: { config, groups: [{ id: 0, answers }] } });

/** Advantages that are the rewards less their mean: for edges whose numbers can be followed. */
const PLAIN = { norm_adv_by_std_in_grpo: false };
const TRL_PLAIN = { preset: 'trl', scale_rewards: 'none' };
const ONE = { mask: [1], old_log_prob: [-1] };

const MODES = [
  'token-mean',
  'token-sum',
  'seq-mean-token-sum',
  'seq-mean-token-sum-norm',
  'seq-mean-token-mean',
];
const KL_TYPES = ['kl', 'k1', 'abs', 'mse', 'k2', 'low_var_kl', 'k3', 'kl+', 'abs+', 'mse+', 'low_var_kl+'];
const RULES: readonly (readonly [string, string | number])[] = [
  ['token_k1', '0.5_2.0'],
  ['token_k2', 0.25],
  ['token_k3', 0.5],
  ['seq_sum_k1', '0.25_4.0'],
  ['seq_sum_k2', 1],
  ['seq_sum_k3', 2],
  ['seq_mean_k1', '0.8_1.25'],
  ['seq_mean_k2', 0.5],
  ['seq_mean_k3', 0.1],
  ['seq_max_k2', 0.3],
  ['seq_max_k3', 0.3],
  ['token_k1,seq_max_k2', '0.2_5.0,2.5'],
];

const MODE_STEPS: readonly VectorStep[] = [
  whole('every default of verl', ['GRP-01', 'GRP-02', 'GRP-04', 'GRP-06', 'GRP-17'], {}),
  whole('every default of trl', ['GRP-01', 'GRP-03', 'GRP-07', 'GRP-10', 'GRP-15', 'GRP-17'], {
    preset: 'trl',
  }),
  whole('every default of paper', ['GRP-09', 'GRP-13', 'GRP-17'], { preset: 'paper' }),
  whole('in binary32', ['GRP-01'], { dtype: 'float32', use_kl_loss: true, rollout_is: 'token' }),
  whole('TRL in binary32', ['GRP-01'], { preset: 'trl', dtype: 'float32', beta: 0.04 }),
  ...MODES.flatMap((loss_agg_mode) => [
    whole(`${loss_agg_mode}, local denominators`, ['GRP-09', 'GRP-12'], {
      loss_agg_mode,
      use_kl_loss: true,
      kl_loss_coef: 0.5,
      entropy_coeff: 0.25,
    }),
    whole(`${loss_agg_mode}, denominators of a trainer`, ['GRP-09'], {
      loss_agg_mode,
      dp_size: 2,
      batch_num_tokens: 37,
      global_batch_size: 12,
      loss_scale_factor: 128,
    }),
  ]),
  ...KL_TYPES.map((kl_loss_type) =>
    whole(`KL ${kl_loss_type}`, ['GRP-11', 'GRP-12'], { use_kl_loss: true, kl_loss_type, kl_loss_coef: 1 }),
  ),
  whole('GSPO', ['GRP-05', 'GRP-09'], { loss_mode: 'gspo', clip_ratio_low: 0.1, clip_ratio_high: 0.3 }),
  ...['token', 'sequence'].flatMap((rollout_is) => [
    whole(`weights of a ${rollout_is}, capped`, ['GRP-13'], { rollout_is, rollout_is_threshold: 1.5 }),
    whole(`weights of a ${rollout_is}, banded and normalized`, ['GRP-13'], {
      rollout_is,
      rollout_is_threshold: '0.5_2.0',
      rollout_is_batch_normalize: true,
    }),
  ]),
  ...RULES.map(([rollout_rs, rollout_rs_threshold]) =>
    whole(`rejection by ${rollout_rs}`, ['GRP-14'], { rollout_rs, rollout_rs_threshold }),
  ),
  ...['grpo', 'bnpo', 'dr_grpo', 'dapo'].map((loss_type) =>
    whole(`TRL ${loss_type}`, ['GRP-10', 'GRP-11', 'GRP-12'], {
      preset: 'trl',
      loss_type,
      beta: 0.5,
      entropy_coef: 0.25,
      gradient_accumulation_steps: 4,
      num_processes: 2,
      num_items_in_batch: 30,
      vllm_importance_sampling_correction: false,
    }),
  ),
  ...['sequence_mask', 'sequence_truncate', 'token_mask', 'token_truncate'].map((mode) =>
    whole(`TRL weights, ${mode}`, ['GRP-15'], {
      preset: 'trl',
      vllm_importance_sampling_mode: mode,
      vllm_importance_sampling_clip_min: 0.75,
      vllm_importance_sampling_clip_max: 2,
    }),
  ),
  whole('TRL at sequence level, KL times the ratio, batch scale', ['GRP-03', 'GRP-05', 'GRP-11'], {
    preset: 'trl',
    importance_sampling_level: 'sequence',
    scale_rewards: 'batch',
    beta: 0.1,
    use_bias_correction_kl: true,
    delta: 1.5,
  }),
];

const EDGE_STEPS: readonly VectorStep[] = [
  edge('one answer', ['GRP-02'], {}, { ...ONE, reward: 2, log_prob: [-0.9] }),
  edge('one answer, TRL', ['GRP-03'], { preset: 'trl' }, { ...ONE, reward: 2, log_prob: [-0.9] }),
  edge(
    'equal rewards: exactly 0',
    ['GRP-01', 'GRP-02'],
    {},
    ...[0, 1, 2].map(() => ({ ...ONE, reward: 0.1, log_prob: [-0.9] })),
  ),
  edge(
    'all masked, local denominators',
    ['GRP-09'],
    {},
    { reward: 1, mask: [0, 0], log_prob: [-1, -2], old_log_prob: [-1, -2] },
    { reward: 0, mask: [0], log_prob: [-1], old_log_prob: [-1] },
  ),
  edge(
    'all masked, denominators given',
    ['GRP-09'],
    { batch_num_tokens: 8 },
    { reward: 1, mask: [0, 0], log_prob: [-1, -2], old_log_prob: [-1, -2] },
    { reward: 0, mask: [0], log_prob: [-1], old_log_prob: [-1] },
  ),
  edge(
    'all masked, TRL',
    ['GRP-10'],
    { ...TRL_PLAIN, loss_type: 'bnpo' },
    { reward: 1, mask: [0, 0], log_prob: [-1, -2], old_log_prob: [-1, -2] },
    { reward: 0, mask: [0], log_prob: [-1], old_log_prob: [-1] },
  ),
  ...['seq-mean-token-mean', 'token-mean'].map((loss_agg_mode) =>
    edge(
      `an empty answer, ${loss_agg_mode}`,
      ['GRP-09'],
      { loss_agg_mode },
      { reward: 1, mask: [], log_prob: [], old_log_prob: [] },
      { reward: 0, mask: [1, 1], log_prob: [-1, -2], old_log_prob: [-1.1, -2.2] },
    ),
  ),
  edge(
    'an empty answer, TRL',
    ['GRP-10'],
    { ...TRL_PLAIN, loss_type: 'grpo' },
    { reward: 1, mask: [], log_prob: [], old_log_prob: [] },
    { reward: 0, mask: [1, 1], log_prob: [-1, -2], old_log_prob: [-1.1, -2.2] },
  ),
  // exp of the differences rounds to 0.8 and to 1.28, and to their neighbours.
  ...[1, -1].map((reward) =>
    edge(
      `ratio exactly at both clip bounds, A = ${reward}`,
      ['GRP-06', 'GRP-08'],
      { ...PLAIN, clip_ratio_low: 0.2, clip_ratio_high: 0.28 },
      {
        reward,
        mask: [1, 1, 1, 1],
        log_prob: [-2.9731435513142097, -2.97314355131421, -1.2531399220684742, -1.253139922068474],
        old_log_prob: [-2.75, -2.75, -1.5, -1.5],
      },
    ),
  ),
  edge(
    'ratio exactly at the dual-clip bound of 2',
    ['GRP-06', 'GRP-08'],
    { ...PLAIN, clip_ratio_c: 2 },
    {
      reward: -1,
      mask: [1, 1, 1],
      log_prob: [LN2, 0.6931471805599454, 0.6931471805599452],
      old_log_prob: [0, 0, 0],
    },
  ),
  edge(
    'the dual clip leaves A > 0 alone',
    ['GRP-06'],
    PLAIN,
    { reward: 1, mask: [1], log_prob: [0], old_log_prob: [-1.5] },
    { reward: -1, mask: [1], log_prob: [0], old_log_prob: [-1.5] },
  ),
  edge(
    'TRL, ratio exactly at delta',
    ['GRP-07', 'GRP-08'],
    { ...TRL_PLAIN, delta: 2, epsilon_high: 4 },
    { reward: 1, mask: [1, 1], log_prob: [LN2, 0.6931471805599454], old_log_prob: [0, 0] },
    { reward: -1, mask: [1, 1], log_prob: [LN2, 0.6931471805599454], old_log_prob: [0, 0] },
  ),
  edge(
    'log-ratios at and beyond 20',
    ['GRP-04', 'GRP-08'],
    { ...PLAIN, clip_ratio_high: 1e300, clip_ratio_low: 1, clip_ratio_c: 1e300 },
    {
      reward: 1,
      mask: [1, 1, 1, 1],
      log_prob: [0, 0, 0, -800],
      old_log_prob: [-20, -20.000000000000004, -800, 0],
    },
  ),
  ...[undefined, 4].flatMap((delta) => [
    edge(
      `an overflowing log-ratio, TRL${delta ? ' with delta' : ''}`,
      ['GRP-07', 'GRP-08'],
      { ...TRL_PLAIN, ...(delta && { delta }) },
      { reward: 1, mask: [1, 1], log_prob: [0, -800], old_log_prob: [-800, 0] },
      { reward: -1, mask: [1, 1], log_prob: [0, -800], old_log_prob: [-800, 0] },
    ),
  ]),
  edge(
    'an overflowing log-ratio, TRL, A = 0',
    ['GRP-07', 'GRP-08'],
    TRL_PLAIN,
    { reward: 1, mask: [1], log_prob: [0], old_log_prob: [-800] },
    { reward: 1, mask: [1], log_prob: [-1], old_log_prob: [-1] },
  ),
  edge(
    'GSPO at and beyond the cap of 10',
    ['GRP-05', 'GRP-08'],
    { ...PLAIN, loss_mode: 'gspo', clip_ratio_high: 1e9 },
    { reward: 1, mask: [1, 1], log_prob: [-1, -1], old_log_prob: [-11, -11] },
    { reward: 0.5, mask: [1], log_prob: [-1], old_log_prob: [-11.000000000000002] },
    { reward: 0, mask: [1], log_prob: [-31], old_log_prob: [-1] },
  ),
  edge(
    'a NaN reward',
    ['GRP-02', 'GRP-20'],
    {},
    { ...ONE, reward: 'NaN', log_prob: [-1] },
    { ...ONE, reward: 1, log_prob: [-1] },
  ),
  edge(
    'a NaN reward and an absent one, TRL',
    ['GRP-03', 'GRP-20'],
    { preset: 'trl' },
    { ...ONE, reward: 'NaN', log_prob: [-1] },
    { ...ONE, log_prob: [-1] },
    { ...ONE, reward: 1, log_prob: [-1] },
    { ...ONE, reward: 0, log_prob: [-0.5] },
  ),
  edge(
    'A = 0',
    ['GRP-06'],
    PLAIN,
    { reward: 1, mask: [1, 0], log_prob: [-1, -1], old_log_prob: [-1.5, -1] },
    { reward: 1, mask: [1], log_prob: [-1], old_log_prob: [-0.5] },
  ),
  ...MODES.map((loss_agg_mode) =>
    edge(
      `a masked NaN, ${loss_agg_mode}`,
      ['GRP-08', 'GRP-09', 'GRP-20'],
      { ...PLAIN, loss_agg_mode },
      { reward: 1, mask: [1, 0], log_prob: [-1, 'NaN'], old_log_prob: [-1.5, -1] },
      { reward: 0, mask: [1], log_prob: [-1], old_log_prob: [-0.5] },
    ),
  ),
  edge(
    'a masked NaN in rollout and reference log-probs',
    ['GRP-11', 'GRP-13', 'GRP-20'],
    { ...PLAIN, rollout_is: 'token', use_kl_loss: true, kl_loss_type: 'k2' },
    {
      reward: 1,
      mask: [1, 0, 0],
      log_prob: [-1, -1, -1],
      old_log_prob: [-1.5, -1, -1],
      rollout_log_prob: [-1, 'NaN', -1],
      ref_log_prob: [-1, -1, 'NaN'],
    },
    {
      reward: 0,
      mask: [1],
      log_prob: [-1],
      old_log_prob: [-0.5],
      rollout_log_prob: [-0.5],
      ref_log_prob: [-0.5],
    },
  ),
  edge(
    'an infinite and a positive log-prob',
    ['GRP-04', 'GRP-20'],
    { ...PLAIN },
    { reward: 1, mask: [1, 1], log_prob: ['-Infinity', 0.5], old_log_prob: [-1, 0.25] },
    { reward: 0, mask: [1], log_prob: [-1], old_log_prob: ['-Infinity'] },
  ),
  edge(
    'k3 where its clamps begin',
    ['GRP-11', 'GRP-08'],
    { ...PLAIN, use_kl_loss: true, kl_loss_coef: 1 },
    {
      reward: 0,
      mask: [1, 1, 1, 1, 1],
      log_prob: [-2.6108686381498494, -2.610868638149876, -89, 0, 0],
      old_log_prob: [-1, -1, -1, -1, -1],
      ref_log_prob: [0, 0, 0, -11, -20.000000000000004],
    },
  ),
  edge(
    'abs at 0',
    ['GRP-11'],
    { ...PLAIN, use_kl_loss: true, kl_loss_type: 'abs', kl_loss_coef: 1 },
    { reward: 0, mask: [1, 1], log_prob: [-1, -2], old_log_prob: [-1, -2], ref_log_prob: [-1, -1] },
  ),
  ...[
    { rollout_rs: 'token_k1', rollout_rs_threshold: '0.5_2.0' },
    { rollout_is: 'token', rollout_is_threshold: '0.5_2.0' },
  ].map((config) =>
    edge(
      `who stays in the denominator: ${Object.keys(config)[0]}`,
      ['GRP-13', 'GRP-14'],
      { ...PLAIN, rollout_is: 'token', rollout_is_threshold: 1e12, ...config },
      {
        reward: -1,
        mask: [1, 1, 1, 1, 1],
        log_prob: [0, -1.5, 0, -10, 0],
        old_log_prob: [0, -1.5, 0, -10, 0],
        rollout_log_prob: [-0.1, 0, -0.8, 0, -0.3],
      },
    ),
  ),
];

export const VECTOR_STEPS: readonly VectorStep[] = [...MODE_STEPS, ...EDGE_STEPS];

const ANSWER = { reward: 1, mask: [1], log_prob: [-1], old_log_prob: [-1] };
const groupsOf = (answer: Readonly<Record<string, unknown>>) => [{ answers: [answer] }];

/** What must be refused. */
export const REFUSED_STEPS: readonly { readonly comment: string; readonly step: unknown }[] = [
  { comment: 'no such field', step: { config: { clip_ratio_lo: 0.2 }, groups: groupsOf(ANSWER) } },
  {
    comment: "another framework's field",
    step: { config: { preset: 'trl', clip_ratio: 0.2 }, groups: groupsOf(ANSWER) },
  },
  { comment: 'no such preset', step: { config: { preset: 'ppo' }, groups: groupsOf(ANSWER) } },
  { comment: 'no such mode', step: { config: { loss_agg_mode: 'mean' }, groups: groupsOf(ANSWER) } },
  { comment: 'a dual clip of 1', step: { config: { clip_ratio_c: 1 }, groups: groupsOf(ANSWER) } },
  { comment: 'dp_size alone', step: { config: { dp_size: 2 }, groups: groupsOf(ANSWER) } },
  {
    comment: 'a rule without threshold',
    step: { config: { rollout_rs: 'token_k1' }, groups: groupsOf(ANSWER) },
  },
  {
    comment: 'a lower bound for k3',
    step: { config: { rollout_rs: 'token_k3', rollout_rs_threshold: '0.5_2' }, groups: groupsOf(ANSWER) },
  },
  { comment: 'no groups', step: { groups: [] } },
  { comment: 'a group without answers', step: { groups: [{ answers: [] }] } },
  { comment: 'lengths differ', step: { groups: groupsOf({ ...ANSWER, log_prob: [-1, -1] }) } },
  { comment: 'a mask of 2', step: { groups: groupsOf({ ...ANSWER, mask: [2] }) } },
  { comment: 'a mask of true', step: { groups: groupsOf({ ...ANSWER, mask: [true] }) } },
  { comment: 'text that is no number', step: { groups: groupsOf({ ...ANSWER, log_prob: ['-1'] }) } },
  { comment: 'null among numbers', step: { groups: groupsOf({ ...ANSWER, log_prob: [null] }) } },
  { comment: 'no old log-probs', step: { groups: groupsOf({ ...ANSWER, old_log_prob: null }) } },
  {
    comment: 'weights without rollout log-probs',
    step: { config: { rollout_is: 'token' }, groups: groupsOf(ANSWER) },
  },
  {
    comment: 'KL without reference log-probs',
    step: { config: { use_kl_loss: true }, groups: groupsOf(ANSWER) },
  },
  { comment: 'no reward', step: { groups: groupsOf({ ...ANSWER, reward: null }) } },
];
