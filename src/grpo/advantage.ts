/**
 * Group advantages: how much better an answer is than the others to its prompt.
 * Sources: DeepSeekMath (arXiv 2402.03300), Dr. GRPO (arXiv 2503.20783), verl, TRL. Clauses: spec/grpo.md GRP-02, GRP-03.
 * @module
 */
import { deviation, mean, type StepFloat } from './step-float.ts';

/** GRP-02. What stands beside the answers of a group of one. */
const LONE = { mean: 0, std: 1 };

export interface VerlAdvantage {
  /** norm_adv_by_std_in_grpo. */
  readonly divide: boolean;
  /** Added to the standard deviation. */
  readonly epsilon: number;
  /** The group's mean: exact and rounded once, or added up in order with every addition rounded. */
  readonly mean?: 'exact' | 'sequential';
}

function sequentialMean(values: readonly number[], { round }: StepFloat): number {
  let total = 0;
  for (const x of values) total = round(total + x);
  return round(total / values.length);
}

/** GRP-02. verl's: (score - mean) / (std + eps); alone, score / (1 + eps). A score is a sum, so -0 counts as +0. */
export function verlAdvantages(
  rewards: readonly number[],
  { divide, epsilon, mean: kind = 'exact' }: VerlAdvantage,
  f: StepFloat,
): number[] {
  const { round } = f;
  const scores = rewards.map((reward) => reward + 0);
  const alone = scores.length === 1;
  const centre = alone ? LONE.mean : kind === 'exact' ? mean(scores, f) : sequentialMean(scores, f);
  const differences = scores.map((score) => round(score - centre));
  if (!divide) return differences;
  const divisor = round((alone ? LONE.std : deviation(scores, f)) + round(epsilon));
  return differences.map((difference) => round(difference / divisor));
}

export type Scale = 'group' | 'batch' | 'none';

const TRL_EPSILON = 1e-4;

/** GRP-03. TRL's, of all groups of a batch. A reward that is NaN is missing: advantage 0, and it counts in no mean. */
export function trlAdvantages(
  groups: readonly (readonly number[])[],
  scale: Scale,
  f: StepFloat,
): number[][] {
  const { round } = f;
  const present = (rewards: readonly number[]): number[] => rewards.filter((r) => !Number.isNaN(r));
  const spread = (rewards: readonly number[]): number => (rewards.length < 2 ? 0 : deviation(rewards, f));
  const batch = scale === 'batch' ? spread(present(groups.flat())) : 0;
  return groups.map((rewards) => {
    const known = present(rewards).map((reward) => reward + 0);
    const centre = known.length === 0 ? 0 : mean(known, f);
    const divisor = round((scale === 'batch' ? batch : spread(known)) + round(TRL_EPSILON));
    return rewards.map((reward) => {
      if (Number.isNaN(reward)) return 0;
      const difference = round(reward - centre);
      return scale === 'none' ? difference : round(difference / divisor);
    });
  });
}
