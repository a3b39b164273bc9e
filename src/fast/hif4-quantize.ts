/**
 * HiF4 encoding on integers: two passes over a unit, magnitudes first, then codes.
 *
 * What was measured to matter (2^20 Gaussian elements, one core): maxima without branches, by the sign of a difference, are
 * 2 times as fast in all as with `if`, since half of such branches are mispredicted; a table on the distance needs no
 * clamping and no test for the sign or for zero when it has all 2^16 distances, of which a tensor touches some kilobytes;
 * a function that takes its tables as locals runs as fast as one written for one policy.
 * Clauses: spec/hif4.md HIF4-05 to HIF4-14.
 * @module
 */
import { UNIT } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { type ElementTable, elementTable, ROW_BITS, TOP } from './hif4-elements.ts';
import { type ScaleTable, scaleCode, scaleTable } from './hif4-scale.ts';
import { larger, largestOf4 } from './largest.ts';
import { BELOW_HALF, roundWordToBF16 } from './rounding.ts';
import { BINADE, INFINITY_WORD, ONE } from './thresholds.ts';

/** What the loops read, for one policy. */
export interface HiF4Tables {
  readonly narrow: boolean;
  readonly scale: ScaleTable;
  readonly element: ElementTable;
}

export const hif4Tables = (policy: HiF4Policy): HiF4Tables => ({
  narrow: policy.input === 'bf16',
  scale: scaleTable(policy),
  element: elementTable(policy),
});

const E6M2_BIAS = 48;
const NAN_SCALE = 0xff;
/** HIF4-09. A product rounds to zero in BF16 up to 2^-134, which under the largest scale, 49152, is a magnitude below 2^-118. */
const UNDERFLOW_FREE = ONE - 117 * BINADE;

/** Moved words are below this, the first of the last upper half. */
const FARTHEST = 0x7fff0000;

/** The largest magnitudes of the quads of the unit that is encoded, as FP32 words before input rounding. */
const max4 = new Int32Array(16);

/** CON-04, HIF4-05. Fills max4; the largest magnitude of all, after input rounding. */
function loadMaxima(x: Uint32Array, at: number, narrow: boolean): number {
  let max = 0;
  for (let k = 0; k < 16; k++) {
    const q = at + 4 * k;
    const largest = largestOf4(x[q]!, x[q + 1]!, x[q + 2]!, x[q + 3]!);
    max4[k] = largest;
    max = larger(max, largest);
  }
  // Rounding keeps order, so that of all maxima only this one needs it. A NaN is carried to 0x80000000 at most.
  return narrow ? roundWordToBF16(max) >>> 0 : max;
}

/** HIF4-10, HIF4-11. The scale word of the unit whose maxima are loaded. */
function scaleWord(code: number, element: ElementTable): number {
  const exponent = (code >>> 2) - E6M2_BIAS;
  // One less, so that the sign of a difference tells a word that reaches it.
  const below4 = (element.reach4[code & 3]! + (exponent << 23) - 1) | 0;
  const below2 = (element.reach2[code & 3]! + (exponent << 23) - 1) | 0;
  let word = code;
  for (let k = 0; k < 8; k++) {
    const even = max4[2 * k]!;
    const odd = max4[2 * k + 1]!;
    const level2 = ((below4 - even) | (below4 - odd)) >>> 31;
    const below = (below2 + (level2 << 23)) | 0;
    word |= (level2 << (8 + k)) | (((below - even) >>> 31) << (16 + 2 * k));
    word |= ((below - odd) >>> 31) << (17 + 2 * k);
  }
  return word;
}

/** Binades by which words are moved under a scale code, where no exponent bit is set. */
const moveOf = (code: number): number => TOP + E6M2_BIAS - (code >>> 2);

/** How many exponent bits of quad k are set. */
const incrementOf = (word: number, k: number): number =>
  ((word >>> (8 + (k >> 1))) & 1) + ((word >>> (16 + k)) & 1);

/** HIF4-12. The codes of one unit, from BF16 words moved by whole binades; the sign stays their first bit. */
function codesOfBF16(x: Uint32Array, at: number, word: number, table: Uint8Array, out: Uint8Array): void {
  const row = (word & 3) << ROW_BITS;
  const move = (moveOf(word & 0xff) * BINADE + BELOW_HALF) | 0;
  for (let k = 0; k < 16; k++) {
    const q = at + 4 * k;
    const by = (move - (incrementOf(word, k) << 23)) | 0;
    const a = x[q]! | 0;
    const b = x[q + 1]! | 0;
    const c = x[q + 2]! | 0;
    const d = x[q + 3]! | 0;
    out[q >> 1] =
      table[row | ((a + by + ((a >>> 16) & 1)) >>> 16)]! |
      (table[row | ((b + by + ((b >>> 16) & 1)) >>> 16)]! << 4);
    out[(q >> 1) + 1] =
      table[row | ((c + by + ((c >>> 16) & 1)) >>> 16)]! |
      (table[row | ((d + by + ((d >>> 16) & 1)) >>> 16)]! << 4);
  }
}

/** The same from FP32 words, whose lower halves decide where a threshold lies within an upper half. */
function codesOfF32(x: Uint32Array, at: number, word: number, table: ElementTable, out: Uint8Array): void {
  const { codes, last } = table;
  const row = (word & 3) << ROW_BITS;
  const move = moveOf(word & 0xff) * BINADE;
  for (let k = 0; k < 16; k++) {
    const by = (move - (incrementOf(word, k) << 23)) | 0;
    for (let q = at + 4 * k; q < at + 4 * k + 4; q += 2) {
      const a = (x[q]! + by) | 0;
      const b = (x[q + 1]! + by) | 0;
      const i = row | (a >>> 16);
      const j = row | (b >>> 16);
      out[q >> 1] =
        codes[i + ((last[i]! - (a & 0xffff)) >>> 31)]! |
        (codes[j + ((last[j]! - (b & 0xffff)) >>> 31)]! << 4);
    }
  }
}

/** HIF4-12. The code of one FP32 word, whatever its distance from the scale, zero apart from what is tiny. */
function carefulCode(input: number, move: number, row: number, tables: HiF4Tables): number {
  const { codes, last, zeros } = tables.element;
  const word = tables.narrow ? roundWordToBF16(input) : input | 0;
  const magnitude = word & 0x7fffffff;
  if (magnitude === 0) return zeros[word >>> 31]!;
  // Far above every threshold a word may be moved beyond 31 bits, and is then held at the last one.
  const moved = Math.min(magnitude + move, FARTHEST);
  const i = row | ((word >>> 31) << 15) | (moved >>> 16);
  return tables.narrow ? codes[i]! : codes[i + ((last[i]! - (moved & 0xffff)) >>> 31)]!;
}

function carefulCodes(x: Uint32Array, at: number, word: number, tables: HiF4Tables, out: Uint8Array): void {
  const row = (word & 3) << ROW_BITS;
  for (let k = 0; k < 16; k++) {
    const move = (moveOf(word & 0xff) - incrementOf(word, k)) * BINADE;
    for (let q = at + 4 * k; q < at + 4 * k + 4; q += 2) {
      out[q >> 1] = carefulCode(x[q]!, move, row, tables) | (carefulCode(x[q + 1]!, move, row, tables) << 4);
    }
  }
}

/** Whether a unit has a zero, or what input rounding makes one. */
function hasZero(x: Uint32Array, at: number, narrow: boolean): boolean {
  const largestZero = narrow ? 0x8000 : 0;
  for (let q = at; q < at + UNIT; q++) if ((x[q]! & 0x7fffffff) <= largestZero) return true;
  return false;
}

/** Whether a product with the reciprocal may round to zero in a unit. */
function mayUnderflow(x: Uint32Array, at: number): boolean {
  for (let q = at; q < at + UNIT; q++) {
    const magnitude = x[q]! & 0x7fffffff;
    if (magnitude !== 0 && magnitude < UNDERFLOW_FREE) return true;
  }
  return false;
}

/** What encodeUnit answers for a unit that the integers do not cover. */
export const LEFT_TO_DEFINITION = -1;

/**
 * Encodes one unit into `out`, from byte `at` / 2.
 * @returns its scale word, as an unsigned number; or LEFT_TO_DEFINITION for a unit with a NaN or an infinity, and, under a
 * directed or odd rule with products=bf16, for one with magnitudes below 2^-117, whose products may underflow
 */
export function encodeUnit(x: Uint32Array, at: number, tables: HiF4Tables, out: Uint8Array): number {
  const { element, narrow } = tables;
  const max = loadMaxima(x, at, narrow);
  if (max >= INFINITY_WORD) return LEFT_TO_DEFINITION;
  const code = scaleCode(tables.scale, max);
  if (code === NAN_SCALE) {
    out.fill(0, at >> 1, (at + UNIT) >> 1);
    return NAN_SCALE;
  }
  if (element.underflows && mayUnderflow(x, at)) return LEFT_TO_DEFINITION;
  const word = scaleWord(code, element);
  // Only far beyond a clamped or wrapped scale could a moved word reach its own sign bit.
  const fits = max + moveOf(code) * BINADE < FARTHEST;
  // Zeros are moved to where tiny magnitudes are, too.
  const apart = !element.tinyIsZero && hasZero(x, at, narrow);
  if (apart || !fits) carefulCodes(x, at, word, tables, out);
  else if (narrow) codesOfBF16(x, at, word, element.codes, out);
  else codesOfF32(x, at, word, element, out);
  return word >>> 0;
}
