/**
 * Powers of two as binary64 numbers, made from their bits: the same on every engine. Clauses: spec/conventions.md NUM-07.
 * @module
 */

const scratch = new DataView(new ArrayBuffer(8));

/** 2^k for -1022 <= k <= 1023. */
export function twoTo(k: number): number {
  scratch.setInt32(0, (k + 1023) << 20);
  return scratch.getFloat64(0);
}
