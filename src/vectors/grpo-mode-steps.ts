/**
 * Steps of every mode of GRPO that the vectors take, a few tokens each.
 * Clauses: spec/grpo.md GRP-01 to GRP-17.
 * @module
 */
import { AGGREGATIONS } from '../grpo/verl-aggregation.ts';
import type { Config, VectorStep } from './grpo-steps.ts';

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

export const MODE_STEPS: readonly VectorStep[] = [
  whole('every default of verl', ['GRP-01', 'GRP-02', 'GRP-04', 'GRP-06', 'GRP-17'], {}),
  whole('every default of trl', ['GRP-01', 'GRP-03', 'GRP-07', 'GRP-10', 'GRP-15', 'GRP-17'], {
    preset: 'trl',
  }),
  whole('every default of paper', ['GRP-09', 'GRP-13', 'GRP-17'], { preset: 'paper' }),
  whole('in binary32', ['GRP-01'], { dtype: 'float32', use_kl_loss: true, rollout_is: 'token' }),
  whole('TRL in binary32', ['GRP-01'], { preset: 'trl', dtype: 'float32', beta: 0.04 }),
  ...AGGREGATIONS.flatMap((loss_agg_mode) => [
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
