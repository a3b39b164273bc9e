/**
 * Maxima of magnitudes without branches. Half of the branches of a maximum are mispredicted on real data, which costs more
 * than all the rest of a quantizer; the sign of a difference costs four operations.
 * @module
 */

/** The larger of two integers that are not negative and below 2^31. */
export function larger(a: number, b: number): number {
  const difference = (a - b) | 0;
  return (a - (difference & (difference >> 31))) | 0;
}

/** The largest magnitude among four FP32 words, as a word. */
export const largestOf4 = (a: number, b: number, c: number, d: number): number =>
  larger(larger(a & 0x7fffffff, b & 0x7fffffff), larger(c & 0x7fffffff, d & 0x7fffffff));
