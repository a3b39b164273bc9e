/**
 * Steps at the edges: one answer, masks of zeros, ratios at the bounds of clips and clamps, NaN and infinities.
 * Clauses: spec/grpo.md GRP-02 to GRP-15.
 * @module
 */

import { AGGREGATIONS } from '../grpo/verl-aggregation.ts';
import { log } from '../number/elementary.ts';
import type { Config, VectorStep } from './grpo-steps.ts';

/** exp of it rounds to 2; its neighbours are the literals beside it. */
const LN2 = log(2);

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

export const EDGE_STEPS: readonly VectorStep[] = [
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
  ...AGGREGATIONS.map((loss_agg_mode) =>
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
