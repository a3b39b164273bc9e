/**
 * TRL's loss_type: from a loss a token to one number, and back. Clauses: spec/grpo.md GRP-10, GRP-12.
 * @module
 */
import type { TrlConfig } from './step-config.ts';
import { type StepFloat, sum } from './step-float.ts';
import { count } from './verl-aggregation.ts';

export interface TrlAggregator {
  /** Before the division by accumulation steps. */
  readonly value: (rows: readonly Float64Array[]) => number;
  /** After it: dapo's denominator holds those steps already. */
  readonly scaled: (loss: number) => number;
  /** The gradient of the scaled loss with respect to token j of row i. */
  readonly gradient: (i: number, j: number) => number;
  /** The masked mean over all tokens, at least one. */
  readonly tokenMean: (rows: readonly Float64Array[]) => number;
}

type Aggregated = Pick<
  TrlConfig,
  'lossType' | 'accumulation' | 'processes' | 'maxCompletionLength' | 'itemsInBatch'
>;

/** Tokens of one process's share of a batch; without the trainer's count, those here. */
function items({ itemsInBatch, processes }: Aggregated, valid: number, { round }: StepFloat): number {
  return itemsInBatch === undefined ? Math.max(valid, 1) : round(itemsInBatch / processes);
}

export function trlAggregator(config: Aggregated, masks: readonly Uint8Array[], f: StepFloat): TrlAggregator {
  const { round } = f;
  const { lossType, accumulation } = config;
  const lengths = masks.map(count);
  const valid = lengths.reduce((a, b) => a + b, 0);
  const masked = (rows: readonly Float64Array[]): Float64Array[] =>
    rows.map((row, i) => row.map((x, j) => x * masks[i]![j]!));
  const all = (rows: readonly Float64Array[]): number =>
    sum(
      masked(rows).flatMap((row) => [...row]),
      f,
    );
  const denominator = ((): number => {
    if (lossType === 'bnpo') return Math.max(valid, 1);
    if (lossType === 'dr_grpo') return masks.length * config.maxCompletionLength;
    return lossType === 'dapo' ? items(config, valid, f) : masks.length;
  })();
  const scaled = (x: number): number => (lossType === 'dapo' ? x : round(x / accumulation));
  return {
    value: (rows) => {
      if (lossType !== 'grpo') return round(all(rows) / round(denominator));
      const means = masked(rows).map((row, i) => round(sum(row, f) / Math.max(lengths[i]!, 1)));
      return round(sum(means, f) / denominator);
    },
    scaled,
    gradient: (i, j) => {
      const each = round(scaled(1) / round(denominator));
      const ofToken = lossType === 'grpo' ? round(each / Math.max(lengths[i]!, 1)) : each;
      return ofToken * masks[i]![j]!;
    },
    tokenMean: (rows) => round(all(rows) / Math.max(valid, 1)),
  };
}

/** GRP-12. The entropy that the total takes: the masked mean over the accumulation steps; for dapo over the items of the batch. */
export function trlEntropy(
  config: Aggregated,
  rows: readonly Float64Array[],
  masks: readonly Uint8Array[],
  f: StepFloat,
): number {
  const { round } = f;
  const total = sum(
    rows.flatMap((row, i) => [...row.map((x, j) => x * masks[i]![j]!)]),
    f,
  );
  const valid = masks.reduce((n, mask) => n + count(mask), 0);
  if (config.lossType === 'dapo') return round(total / round(items(config, valid, f)));
  return round(round(total / Math.max(valid, 1)) / config.accumulation);
}
