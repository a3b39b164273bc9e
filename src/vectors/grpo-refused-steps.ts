/**
 * Steps that must be refused.
 * Clauses: spec/grpo.md GRP-18, GRP-19.
 * @module
 */

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
