/**
 * Unquantized rows as an operand: every element is a group of its own, its significand the integer.
 * Clauses: spec/gemm.md GEM-02.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import { valuesOf } from '../fast/f32.ts';
import { roundedWords } from '../fast/input-words.ts';
import { exponentOf, twoTo } from '../number/number-bits.ts';
import { FINITE, MINUS_INFINITY, NAN, type Operand, PLUS_INFINITY } from './operand.ts';
import { binary16Values } from './output.ts';

export const PLAIN_FORMATS = ['bf16', 'f16', 'f32'] as const;
export type PlainFormat = (typeof PLAIN_FORMATS)[number];

export const isPlainFormat = (name: string): name is PlainFormat =>
  (PLAIN_FORMATS as readonly string[]).includes(name);

/** Significand bits, the hidden one included. */
const PRECISION: Readonly<Record<PlainFormat, number>> = { bf16: 8, f16: 11, f32: 24 };
const SMALLEST_EXPONENT: Readonly<Record<PlainFormat, number>> = { bf16: -133, f16: -24, f32: -149 };

const ARRAYS = { bf16: Int16Array, f16: Int16Array, f32: Int32Array } as const;

/** Each value rounded once, half-even, to the format. */
function rounded(format: PlainFormat, values: Float64Array): Float64Array {
  if (format === 'f16') return binary16Values(values);
  const words = new Uint32Array(values.length);
  roundedWords(values, format, words);
  return Float64Array.from(valuesOf(words));
}

/**
 * GEM-02. Values as an operand, each rounded once to the format.
 * @param values rows x depth, in rows
 * @throws Fp4Error E_USAGE for a format that does not exist, E_LENGTH
 */
export function plainOperand(format: string, values: Float64Array, rows: number, depth: number): Operand {
  if (!isPlainFormat(format)) {
    throw new Fp4Error('E_USAGE', `unknown format "${format}"; ${knownNames(format, PLAIN_FORMATS)}`);
  }
  const count = rows * depth;
  if (values.length !== count) {
    throw new Fp4Error('E_LENGTH', `${rows} rows of ${depth} elements are not ${values.length} values`);
  }
  const integers = new ARRAYS[format](count);
  const exponents = new Int16Array(count);
  const marks = new Uint8Array(count).fill(FINITE);
  const x = rounded(format, values);
  for (let k = 0; k < count; k++) {
    const value = x[k]!;
    if (Number.isNaN(value)) marks[k] = NAN;
    else if (value === Number.POSITIVE_INFINITY) marks[k] = PLUS_INFINITY;
    else if (value === Number.NEGATIVE_INFINITY) marks[k] = MINUS_INFINITY;
    else if (value !== 0) {
      const exponent = Math.max(exponentOf(value) - PRECISION[format] + 1, SMALLEST_EXPONENT[format]);
      exponents[k] = exponent;
      integers[k] = value * twoTo(-exponent);
    }
  }
  const significands = new Uint8Array(count).fill(1);
  return { format, rows, depth, group: 1, groups: depth, integers, significands, exponents, marks };
}
