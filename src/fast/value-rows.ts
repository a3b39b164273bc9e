/**
 * Decoded pairs of codes: under one scale, the two FP32 words of each of the 256 bytes, side by side, so that a byte is decoded
 * by one load and one store of 64 bits. No pair is a binary64 NaN, whose bits an engine may change: that takes an upper word
 * above 7ff00000 in magnitude, and 7fc00000 is the largest there is.
 *
 * Rows are made when first asked for: a tensor uses some ten of the 256.
 * @module
 */
import { encode, type FloatValue } from '../number/binary-format.ts';
import { FP32 } from '../number/floats.ts';

/** Pairs of a row: one for each byte. */
export const ROW = 256;
const CODES = 16;

/** The definition's value of a code in a row. */
type RowValue = (row: number, code: number) => FloatValue;

export interface ValueRows {
  /** 256 pairs a row; those of a row are there once rowStart was asked for it. */
  readonly pairs: Float64Array;
  readonly words: Uint32Array;
  readonly made: Uint8Array;
  readonly value: RowValue;
}

export function valueRows(rows: number, value: RowValue): ValueRows {
  const pairs = new Float64Array(rows * ROW);
  return { pairs, words: new Uint32Array(pairs.buffer), made: new Uint8Array(rows), value };
}

/** NUM-05. FP32 words: a value beyond FP32 is an infinity. */
function makeRow({ words, made, value }: ValueRows, row: number): void {
  const decoded = Array.from({ length: CODES }, (_, code) =>
    encode(FP32, value(row, code), 'even', 'nonfinite'),
  );
  for (let byte = 0; byte < ROW; byte++) {
    const at = 2 * (row * ROW + byte);
    words[at] = decoded[byte & 15]!;
    words[at + 1] = decoded[byte >> 4]!;
  }
  made[row] = 1;
}

/** The index of the pair of byte 0 in a row. */
export function rowStart(rows: ValueRows, row: number): number {
  if (rows.made[row] === 0) makeRow(rows, row);
  return row * ROW;
}

/**
 * Calls `decode` with 64-bit units of the caller's words; where those do not begin on one, with units of a copy.
 * The order of the two words within a unit is that of memory on both sides, whatever the machine's byte order.
 */
export function throughPairs(words: Uint32Array, decode: (pairs: Float64Array) => void): void {
  if (words.byteOffset % 8 === 0) {
    decode(new Float64Array(words.buffer, words.byteOffset, words.length / 2));
    return;
  }
  const aligned = new Uint32Array(words.length);
  decode(new Float64Array(aligned.buffer));
  words.set(aligned);
}
