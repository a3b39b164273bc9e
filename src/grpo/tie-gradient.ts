/**
 * max, min and clamp with the gradients PyTorch gives them, ties, NaN and zeros included.
 * Clauses: spec/grpo.md GRP-08.
 * @module
 */

/** As torch.clamp: a NaN stays. Math.max and Math.min, as torch's, give a NaN beside a NaN. */
export const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);

/** GRP-08. Of a in max(a, b): all of it where a is larger, half of it in a tie, nothing where it is smaller, all beside a NaN. */
export const maximumGradient = (gradient: number, a: number, b: number): number =>
  a < b ? 0 : a === b ? gradient / 2 : gradient;

/** GRP-08. Of a in min(a, b). */
export const minimumGradient = (gradient: number, a: number, b: number): number =>
  a > b ? 0 : a === b ? gradient / 2 : gradient;

/** GRP-08. Of x in clamp(x, low, high): all of it inside, bounds included, +0 outside and for a NaN. */
export const clampGradient = (gradient: number, x: number, low: number, high: number): number =>
  x >= low && x <= high ? gradient : 0;
