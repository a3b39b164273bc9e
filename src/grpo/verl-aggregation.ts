/**
 * verl's loss_agg_mode: from a loss a token to one number, and back. Clauses: spec/grpo.md GRP-09.
 * @module
 */
import { type StepFloat, sum } from './step-float.ts';

export const AGGREGATIONS = [
  'token-mean',
  'token-sum',
  'seq-mean-token-sum',
  'seq-mean-token-sum-norm',
  'seq-mean-token-mean',
] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

export interface VerlDenominators {
  readonly dp_size: number;
  /** Undefined: the valid tokens here. */
  readonly batch_num_tokens: number | undefined;
  /** Undefined: the sequences here with a valid token. */
  readonly global_batch_size: number | undefined;
  readonly loss_scale_factor: number;
}

export interface Aggregator {
  /** The loss of a matrix: a row an answer, an element a token. */
  readonly value: (rows: readonly Float64Array[]) => number;
  /** The gradient of the loss times `outer` with respect to token j of row i. */
  readonly gradient: (i: number, j: number, outer: number) => number;
}

const TINY = 1e-8;

/** How many tokens of a mask are valid. */
export const count = (mask: Uint8Array): number => mask.reduce((n, bit) => n + bit, 0);

/** GRP-09. verl's masked_mean: the masked sum over n + 1e-8. */
export const maskedMean = (total: number, n: number, { round }: StepFloat): number =>
  round(total / round(n + round(TINY)));

const kept = (row: Float64Array, mask: Uint8Array): Float64Array => row.filter((_, j) => mask[j] === 1);

/** A sum of products with the mask: what is masked counts 0, but a NaN or an infinity there is a NaN. */
function product(row: Float64Array, mask: Uint8Array, f: StepFloat): number {
  return sum(
    row.map((x, j) => x * mask[j]!),
    f,
  );
}

export function verlAggregator(
  mode: Aggregation,
  masks: readonly Uint8Array[],
  denominators: VerlDenominators,
  f: StepFloat,
): Aggregator {
  const { round } = f;
  const { dp_size: dp, loss_scale_factor: factor } = denominators;
  const lengths = masks.map(count);
  if (mode === 'token-mean' || mode === 'token-sum') {
    const tokens = denominators.batch_num_tokens ?? lengths.reduce((a, b) => a + b, 0);
    const over = (x: number): number => (mode === 'token-mean' ? round(x / round(tokens)) : x);
    return {
      value: (rows) => {
        const total = sum(
          rows.flatMap((row, i) => [...kept(row, masks[i]!)]),
          f,
        );
        return round(over(total) * dp);
      },
      gradient: (i, j, outer) => (masks[i]![j] === 1 ? over(round(outer * dp)) : 0),
    };
  }
  const sequences = denominators.global_batch_size ?? lengths.filter((n) => n > 0).length;
  const scaled = (x: number): number => (mode === 'seq-mean-token-sum-norm' ? round(x / round(factor)) : x);
  const inner = (x: number, n: number): number => (mode === 'seq-mean-token-mean' ? maskedMean(x, n, f) : x);
  return {
    value: (rows) => {
      const losses = rows.flatMap((row, i) =>
        lengths[i] === 0 ? [] : [inner(product(row, masks[i]!, f), lengths[i]!)],
      );
      return scaled(round(round(sum(losses, f) / round(sequences)) * dp));
    },
    gradient: (i, j, outer) => {
      if (lengths[i] === 0) return 0;
      const each = round(round(scaled(outer) * dp) / round(sequences));
      return round(inner(each, lengths[i]!) * masks[i]![j]!);
    },
  };
}
