/**
 * The clipped loss of one token and its gradient with respect to the ratio, in the frameworks' order of operations.
 * Sources: PPO (arXiv 1707.06347), dual clip (arXiv 1912.09729), DAPO (arXiv 2503.14476), verl, TRL.
 * Clauses: spec/grpo.md GRP-06, GRP-07, GRP-08.
 * @module
 */
import type { StepFloat } from './step-float.ts';
import { clamp, clampGradient, maximumGradient, minimumGradient } from './tie-gradient.ts';

export interface Clip {
  /** 1 - low and 1 + high, rounded to the dtype. */
  readonly low: number;
  readonly high: number;
}

/** The bounds that two epsilons make: formed in binary64, then rounded to the dtype. */
export const clipBounds = (low: number, high: number, { round }: StepFloat): Clip => ({
  low: round(1 - low),
  high: round(1 + high),
});

export interface TokenLoss {
  readonly loss: number;
  /** The gradient with respect to the ratio, for that of the loss. */
  readonly ratioGradient: (lossGradient: number) => number;
}

/**
 * GRP-06. verl: L1 = -A r, L2 = -A clamp(r), M = max(L1, L2); for A < 0 min(-A c, M).
 * @param dual c of the dual clip; undefined for none
 */
export function verlClippedLoss(
  ratio: number,
  advantage: number,
  { low, high }: Clip,
  dual: number | undefined,
  { round }: StepFloat,
): TokenLoss {
  const negative = -advantage;
  const plain = round(negative * ratio);
  const clipped = round(negative * clamp(ratio, low, high));
  const larger = Math.max(plain, clipped);
  const bounded = dual !== undefined && advantage < 0;
  const bound = bounded ? round(negative * round(dual)) : 0;
  const ratioGradient = (gradient: number): number => {
    const inner = bounded ? minimumGradient(gradient, larger, bound) : gradient;
    const ofPlain = round(maximumGradient(inner, plain, clipped) * negative);
    const ofClipped = round(maximumGradient(inner, clipped, plain) * negative);
    return round(ofPlain + clampGradient(ofClipped, ratio, low, high));
  };
  return { loss: bounded ? Math.min(bound, larger) : larger, ratioGradient };
}

/**
 * GRP-07. TRL: -min(r A, clamp(r) A), the first r no larger than delta.
 * @param delta undefined for none
 */
export function trlClippedLoss(
  ratio: number,
  advantage: number,
  { low, high }: Clip,
  delta: number | undefined,
  { round }: StepFloat,
): TokenLoss {
  const cap = delta === undefined ? Number.POSITIVE_INFINITY : round(delta);
  const floor = Number.NEGATIVE_INFINITY;
  const plain = round(clamp(ratio, floor, cap) * advantage);
  const clipped = round(clamp(ratio, low, high) * advantage);
  const ratioGradient = (gradient: number): number => {
    const inner = -gradient;
    const ofPlain = round(minimumGradient(inner, plain, clipped) * advantage);
    const ofClipped = round(minimumGradient(inner, clipped, plain) * advantage);
    const capped = delta === undefined ? ofPlain : clampGradient(ofPlain, ratio, floor, cap);
    return round(capped + clampGradient(ofClipped, ratio, low, high));
  };
  return { loss: -Math.min(plain, clipped), ratioGradient };
}
