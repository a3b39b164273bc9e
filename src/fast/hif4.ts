/**
 * HiF4 on typed arrays: integers and small tables, proven equal to src/format/hif4.ts. A unit with a NaN or an infinity goes to
 * the definition. Clauses: spec/hif4.md.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { decodeElement, encodeUnit, UNIT } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { f32Value } from '../format/scalar.ts';
import type { FloatValue } from '../number/binary-format.ts';
import { type BlockCodec, expectLengths } from './block-codec.ts';
import { encodeUnit as encodeFast, hif4Tables, LEFT_TO_DEFINITION } from './hif4-quantize.ts';
import { perPolicy } from './policy-cache.ts';
import { ROW, rowStart, throughPairs, type ValueRows, valueRows } from './value-rows.ts';

/** CON-05. The definition's answer for one unit. */
function encodeByDefinition(x: Uint32Array, unit: number, policy: HiF4Policy, codes: Uint8Array): number {
  const values = Array.from(x.subarray(unit * UNIT, (unit + 1) * UNIT), f32Value);
  try {
    const encoded = encodeUnit(values, policy);
    for (let q = 0; q < UNIT; q += 2) {
      codes[(unit * UNIT + q) >> 1] = encoded.codes[q]! | (encoded.codes[q + 1]! << 4);
    }
    return encoded.word;
  } catch (error) {
    if (!(error instanceof Fp4Error) || x.length === UNIT) throw error;
    throw new Fp4Error(error.code, `unit ${unit}: ${error.message}`);
  }
}

const NAN_SCALE = 0xff;

/** The largest row of numbers is 8 above fe; those of a NaN scale stand behind it. */
const NAN_ROW = NAN_SCALE + 8;

/** HIF4-03. An exponent bit is worth four E6M2 codes, so that rows r, r + 4 and r + 8 are those of E6M2 code r. */
function rowValue(row: number, code: number): FloatValue {
  if (row >= NAN_ROW) return decodeElement(NAN_SCALE, code, 0);
  return row < NAN_SCALE ? decodeElement(row, code, 0) : decodeElement((row - 8) | BOTH_BITS, code, 0);
}
/** HIF4-02. The first level-2 and the first level-3 bit of a scale word. */
const BOTH_BITS = 0x00010100;

let rows: ValueRows | undefined;

/** The row of a unit's elements without exponent bits; it, the next by 4 and by 8 are there afterwards. */
function firstRow(table: ValueRows, code: number): number {
  rowStart(table, code + 4);
  rowStart(table, code + 8);
  return rowStart(table, code);
}

function decodeUnits(scales: Uint32Array, codes: Uint8Array, table: ValueRows, out: Float64Array): void {
  const { pairs } = table;
  for (let unit = 0; unit < scales.length; unit++) {
    const word = scales[unit]!;
    const first = firstRow(table, (word & 0xff) === NAN_SCALE ? NAN_ROW : word & 0xff);
    for (let k = 0; k < 16; k++) {
      const increment = ((word >>> (8 + (k >> 1))) & 1) + ((word >>> (16 + k)) & 1);
      const row = first + increment * 4 * ROW;
      const at = unit * (UNIT / 2) + 2 * k;
      out[at] = pairs[row + codes[at]!]!;
      out[at + 1] = pairs[row + codes[at + 1]!]!;
    }
  }
}

/** HIF4-03. The values of whole units; no policy is needed to read. Lengths are the caller's to check. */
function decodeInto(scales: Uint32Array, codes: Uint8Array, words: Uint32Array): void {
  rows ??= valueRows(NAN_ROW + 9, rowValue);
  const table = rows;
  throughPairs(words, (out) => decodeUnits(scales, codes, table, out));
}

function makeCodec(policy: HiF4Policy): BlockCodec<Uint32Array> {
  const tables = hif4Tables(policy);
  return {
    blockSize: UNIT,
    quantize(words, scales, codes) {
      expectLengths('unit', UNIT, words.length, scales.length, codes.length);
      for (let unit = 0; unit < scales.length; unit++) {
        const word = encodeFast(words, unit * UNIT, tables, codes);
        scales[unit] = word === LEFT_TO_DEFINITION ? encodeByDefinition(words, unit, policy, codes) : word;
      }
    },
    dequantize(scales, codes, words) {
      expectLengths('unit', UNIT, words.length, scales.length, codes.length);
      decodeInto(scales, codes, words);
    },
  };
}

/** The codec of a policy, its tables made at first use. */
export const hif4Codec = perPolicy(makeCodec);

/**
 * Quantizes whole units.
 * @param x FP32 words, 64 a unit, before input rounding
 * @returns one scale word a unit, and the codes two a byte, even element in the low nibble
 * @throws Fp4Error E_LENGTH when x is not whole units, E_NONFINITE under nonfinite=error
 */
export function quantizeUnits(
  x: Uint32Array,
  policy: HiF4Policy,
): { scales: Uint32Array; codes: Uint8Array } {
  const scales = new Uint32Array(Math.floor(x.length / UNIT));
  const codes = new Uint8Array(scales.length * (UNIT / 2));
  hif4Codec(policy).quantize(x, scales, codes);
  return { scales, codes };
}

/**
 * HIF4-03. The values of whole units.
 * @param scales one scale word a unit
 * @param codes two a byte, even element in the low nibble, 32 bytes a unit
 * @returns FP32 words, 64 a unit; every finite value is exact in FP32
 * @throws Fp4Error E_LENGTH when the two do not belong together
 */
export function dequantizeUnits(scales: Uint32Array, codes: Uint8Array): Uint32Array {
  expectLengths('unit', UNIT, scales.length * UNIT, scales.length, codes.length);
  const words = new Uint32Array(scales.length * UNIT);
  decodeInto(scales, codes, words);
  return words;
}
