/**
 * Rounding to BF16 on the bits of FP32 words, the fast path's counterpart of src/number/round.ts. Clauses: spec/conventions.md CON-04.
 * @module
 */

/** Just below half of the last bit that stays: the bit itself, added too, breaks ties to even. */
export const BELOW_HALF = 0x7fff;

/** The FP32 word, as a signed integer, of one rounded half-even to BF16; beyond its largest, an infinity. A NaN may lose itself. */
export const roundWordToBF16 = (word: number): number =>
  (word + BELOW_HALF + ((word >>> 16) & 1)) & 0xffff0000;
