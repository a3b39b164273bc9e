/**
 * HiF4 on typed arrays: integers and small tables, proven equal to src/format/hif4.ts. A unit with a NaN or an infinity goes to
 * the definition. Clauses: spec/hif4.md.
 * @module
 */
import { decodeElement, encodeUnit, UNIT } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import type { FloatValue } from '../number/binary-format.ts';
import { type BlockCodec, expectLengths } from './block-codec.ts';
import { encodeByDefinition } from './by-definition.ts';
import { encodeUnit as encodeFast, hif4Tables, LEFT_TO_DEFINITION } from './hif4-quantize.ts';
import { perPolicy } from './policy-cache.ts';
import { ROW, rowStart, throughPairs, type ValueRows, valueRows } from './value-rows.ts';

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

/**
 * HIF4-03. The values of whole units; no policy is needed to read.
 * @throws Fp4Error E_LENGTH
 */
export function hif4DequantizeTypeScript(scales: Uint32Array, codes: Uint8Array, words: Uint32Array): void {
  expectLengths('unit', UNIT, words.length, scales.length, codes.length);
  rows ??= valueRows(NAN_ROW + 9, rowValue);
  const table = rows;
  throughPairs(words, (out) => decodeUnits(scales, codes, table, out));
}

function makeCodec(policy: HiF4Policy): BlockCodec<Uint32Array> {
  const kind = { noun: 'unit', size: UNIT } as const;
  const define = (values: readonly FloatValue[]) => encodeUnit(values, policy);
  const tables = hif4Tables(policy);
  return {
    blockSize: UNIT,
    quantize(words, scales, codes) {
      expectLengths('unit', UNIT, words.length, scales.length, codes.length);
      for (let unit = 0; unit < scales.length; unit++) {
        const word = encodeFast(words, unit * UNIT, tables, codes);
        scales[unit] =
          word === LEFT_TO_DEFINITION ? encodeByDefinition(words, unit, kind, define, codes).word : word;
      }
    },
    dequantize: hif4DequantizeTypeScript,
  };
}

/** The TypeScript codec of a policy, its tables made at first use. */
export const hif4TypeScript = perPolicy(makeCodec);
