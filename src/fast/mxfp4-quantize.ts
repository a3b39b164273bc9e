/**
 * MXFP4 encoding on integers: two passes over a block, the largest magnitude first, then codes. What was measured to matter is
 * as in HiF4 (hif4-quantize.ts); here, too, an entry that counts a word's rest as zero or not, from two shifts that round down
 * and up, instead of a threshold looked up for each element.
 * Clauses: spec/mxfp4.md MX-04 to MX-13.
 * @module
 */
import { BLOCK } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { larger, largestOf4 } from './largest.ts';
import { type ElementTable, elementTable, REST_BITS, TOP } from './mxfp4-elements.ts';
import { type ScaleTable, scaleByte, scaleTable } from './mxfp4-scale.ts';
import { roundWordToBF16 } from './rounding.ts';
import { BINADE, INFINITY_WORD } from './thresholds.ts';

/** What the loops read, for one policy. */
export interface Mxfp4Tables {
  readonly narrow: boolean;
  /** Every code of a NaN block, two a byte (MX-13). */
  readonly nanByte: number;
  readonly scale: ScaleTable;
  readonly element: ElementTable;
}

export const mxfp4Tables = (policy: Mxfp4Policy): Mxfp4Tables => ({
  narrow: policy.input === 'bf16',
  nanByte: 0x11 * Number(policy['nan-code']),
  scale: scaleTable(policy),
  element: elementTable(policy),
});

const NAN_SCALE = 0xff;
/** Under a smaller scale a threshold between codes is subnormal in FP32, whose words do not move by binades. */
const LEAST_SCALE = 3;
const REST_MASK = 2 ** REST_BITS - 1;

/** CON-04, MX-04. The largest magnitude of a block, after input rounding. */
function largestOf(x: Uint32Array, at: number, narrow: boolean): number {
  let max = 0;
  for (let q = at; q < at + BLOCK; q += 4) {
    max = larger(max, largestOf4(x[q]!, x[q + 1]!, x[q + 2]!, x[q + 3]!));
  }
  // Rounding keeps order, so that only the largest needs it.
  return narrow ? roundWordToBF16(max) >>> 0 : max;
}

/** The entry of a moved word, sign included. */
const entryOf = (moved: number): number => (moved >>> REST_BITS) + ((moved + REST_MASK) >>> REST_BITS);

/** MX-12. The codes of a block, from FP32 words moved by whole binades; the sign stays their first bit. */
function codesOfF32(x: Uint32Array, at: number, move: number, table: Uint8Array, out: Uint8Array): void {
  for (let q = at; q < at + BLOCK; q += 4) {
    const a = (x[q]! + move) | 0;
    const b = (x[q + 1]! + move) | 0;
    const c = (x[q + 2]! + move) | 0;
    const d = (x[q + 3]! + move) | 0;
    out[q >> 1] = table[entryOf(a)]! | (table[entryOf(b)]! << 4);
    out[(q >> 1) + 1] = table[entryOf(c)]! | (table[entryOf(d)]! << 4);
  }
}

/** The same after input rounding to BF16. */
function codesOfBF16(x: Uint32Array, at: number, move: number, table: Uint8Array, out: Uint8Array): void {
  for (let q = at; q < at + BLOCK; q += 2) {
    const a = (roundWordToBF16(x[q]!) + move) | 0;
    const b = (roundWordToBF16(x[q + 1]!) + move) | 0;
    out[q >> 1] = table[entryOf(a)]! | (table[entryOf(b)]! << 4);
  }
}

/** MX-12. The code of one FP32 word, whatever its distance from the scale, zero apart from what is tiny. */
function carefulCode(input: number, move: number, { narrow, element }: Mxfp4Tables): number {
  const word = narrow ? roundWordToBF16(input) : input;
  const sign = word >>> 31;
  const magnitude = word & 0x7fffffff;
  if (magnitude === 0) return element.zeros[sign]!;
  return element.codes[(sign << 15) | entryOf(Math.max(magnitude + move, 0))]!;
}

function carefulCodes(x: Uint32Array, at: number, move: number, tables: Mxfp4Tables, out: Uint8Array): void {
  for (let q = at; q < at + BLOCK; q += 2) {
    out[q >> 1] = carefulCode(x[q]!, move, tables) | (carefulCode(x[q + 1]!, move, tables) << 4);
  }
}

/** Whether a block has a zero, or what input rounding makes one. */
function hasZero(x: Uint32Array, at: number, narrow: boolean): boolean {
  const largestZero = narrow ? 0x8000 : 0;
  for (let q = at; q < at + BLOCK; q++) if ((x[q]! & 0x7fffffff) <= largestZero) return true;
  return false;
}

const LIFT = 64;
const lifted = new Uint32Array(BLOCK);
const liftedValues = new Float32Array(lifted.buffer);
const liftedCodes = new Uint8Array(BLOCK / 2);

/** The codes of a block whose thresholds are subnormal: those of the block times 2^64, which is exact, under its scale times 2^64. */
function codesOfLifted(
  x: Uint32Array,
  at: number,
  scale: number,
  tables: Mxfp4Tables,
  out: Uint8Array,
): void {
  for (let i = 0; i < BLOCK; i++) {
    lifted[i] = tables.narrow ? roundWordToBF16(x[at + i]!) : x[at + i]!;
    liftedValues[i] = liftedValues[i]! * 2 ** LIFT;
  }
  carefulCodes(lifted, 0, (TOP - scale - LIFT) * BINADE, tables, liftedCodes);
  out.set(liftedCodes, at >> 1);
}

/** What encodeBlock answers for a block that the integers do not cover. */
export const LEFT_TO_DEFINITION = -1;

/**
 * Encodes one block into `out`, from byte `at` / 2.
 * @returns its scale byte, or LEFT_TO_DEFINITION for a block with a NaN or an infinity
 */
export function encodeBlock(x: Uint32Array, at: number, tables: Mxfp4Tables, out: Uint8Array): number {
  const { element, narrow } = tables;
  const max = largestOf(x, at, narrow);
  if (max >= INFINITY_WORD) return LEFT_TO_DEFINITION;
  const scale = scaleByte(tables.scale, max);
  const move = (TOP - scale) * BINADE;
  if (scale === NAN_SCALE) out.fill(tables.nanByte, at >> 1, (at + BLOCK) >> 1);
  else if (scale < LEAST_SCALE) codesOfLifted(x, at, scale, tables, out);
  // Zeros are moved to where tiny magnitudes are, too.
  else if (scale > TOP || (!element.tinyIsZero && hasZero(x, at, narrow))) {
    carefulCodes(x, at, move, tables, out);
  } else if (narrow) codesOfBF16(x, at, move, element.codes, out);
  else codesOfF32(x, at, move, element.codes, out);
  return scale;
}
