/**
 * The bits of binary64 numbers, read and written in place: the same on every engine. Clauses: spec/conventions.md NUM-07.
 * @module
 */

/** Put a number into FLOAT[0] and read WORDS[HIGH] and WORDS[LOW], or the other way round. */
export const FLOAT = new Float64Array(1);
export const WORDS = new Uint32Array(FLOAT.buffer);

FLOAT[0] = 1;
/** Index of the word with sign and exponent: it depends on the byte order of the machine. */
export const HIGH = WORDS[1] === 0 ? 0 : 1;
export const LOW = 1 - HIGH;

/** 2^k, for -1022 <= k <= 1023; 2 ** k is slower, and ECMA-262 leaves it to the engine. */
export function twoTo(k: number): number {
  WORDS[HIGH] = (k + 1023) << 20;
  WORDS[LOW] = 0;
  return FLOAT[0]!;
}

/** floor(log2 |x|) of a normal number. */
export function exponentOf(x: number): number {
  FLOAT[0] = x;
  return ((WORDS[HIGH]! >>> 20) & 0x7ff) - 1023;
}
