/**
 * The two halves of a binary64 number, read and written in place: what the paths for speed need of its bits.
 * @module
 */

/** Put a number into FLOAT[0] and read WORDS[HIGH] and WORDS[LOW], or the other way round. */
export const FLOAT = new Float64Array(1);
export const WORDS = new Uint32Array(FLOAT.buffer);

FLOAT[0] = 1;
/** Index of the word with sign and exponent: it depends on the byte order of the machine. */
export const HIGH = WORDS[1] === 0 ? 0 : 1;
export const LOW = 1 - HIGH;

/** 2^exponent, for -1022 to 1023; 2 ** exponent is slower. */
export function powerOf2(exponent: number): number {
  WORDS[HIGH] = (exponent + 1023) << 20;
  WORDS[LOW] = 0;
  return FLOAT[0]!;
}
