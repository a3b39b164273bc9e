/**
 * An operand of a product as integers: rows along the contraction axis, each element an integer under its group's scale.
 * Every accumulator and every kernel works on this form, whatever format the operand had.
 * @module
 */

/** What a group is, beside a number: its scale, or, where a group is one unquantized element, that element. */
export const FINITE = 0;
export const NAN = 1;
export const PLUS_INFINITY = 2;
export const MINUS_INFINITY = 3;

/**
 * Element k of row i, in group h = i x groups + floor(k / group), is
 * integers[i x groups x group + k] x significands[h] x 2^exponents[h], exactly.
 *
 * HiF4: integer = code x 2^(level bits), at most 28; significand 4 + f, exponent e - 4. MXFP4: integer in halves, at most 12;
 * significand 1, exponent e - 1. Unquantized: groups of one element, integer its significand, significand 1.
 */
export interface Operand {
  readonly format: string;
  readonly rows: number;
  /** K, without padding. */
  readonly depth: number;
  /** Elements that share a scale: 64, 32, or 1 where nothing is quantized. */
  readonly group: number;
  /** Groups of a row: depth / group, rounded up. */
  readonly groups: number;
  /** rows x groups x group; 0 where a row is padded, and in a group that is not finite. */
  readonly integers: Int8Array | Int16Array | Int32Array;
  readonly significands: Uint8Array;
  readonly exponents: Int16Array;
  /** Of each group: FINITE, NAN; infinities only where a group is one element. */
  readonly marks: Uint8Array;
}
