/**
 * The types of outputs, and the rounding of sums to them: once, half-even, beyond the largest finite number an infinity.
 * Clauses: spec/gemm.md GEM-09.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import { roundedWords } from '../fast/input-words.ts';
import { type BinaryFormat, decode, encode, type FloatValue } from '../number/binary-format.ts';
import { BF16, FP16, FP32 } from '../number/floats.ts';
import { exponentOf, twoTo } from '../number/number-bits.ts';

export const OUTPUTS = ['f32', 'bf16', 'f16'] as const;
export type OutputName = (typeof OUTPUTS)[number];

export const OUTPUT_FORMATS: Readonly<Record<OutputName, BinaryFormat>> = {
  f32: FP32,
  bf16: BF16,
  f16: FP16,
};

/** @throws Fp4Error E_USAGE */
export function outputByName(name: string): OutputName {
  if ((OUTPUTS as readonly string[]).includes(name)) return name as OutputName;
  throw new Fp4Error('E_USAGE', `unknown output "${name}"; ${knownNames(name, OUTPUTS)}`);
}

/** The word of a value, by the definition. */
export const outputWord = (value: FloatValue, output: OutputName): number =>
  encode(OUTPUT_FORMATS[output], value, 'even', 'nonfinite');

/** The value of a word. */
export const outputValue = (word: number, output: OutputName): FloatValue =>
  decode(OUTPUT_FORMATS[output], word);

const F16_NAN = 0x7e00;
const F16_INFINITY = 0x7c00;
const F16_LARGEST = 65504;
/** From half a unit above the largest number on, the tie itself included, values round to infinity. */
const F16_OVERFLOW = 65520;

const view = new DataView(new ArrayBuffer(8));

/** A magnitude rounded half-even to binary16, as a binary64 number: adding and subtracting 2^52 units rounds to one unit. */
function nearest16(magnitude: number): number {
  const shift = twoTo(Math.max(exponentOf(magnitude), -14) - 10 + 52);
  return magnitude + shift - shift;
}

/** GEM-02. Each value rounded once, half-even, to binary16. */
export function binary16Values(values: Float64Array): Float64Array {
  return values.map((x) => {
    const magnitude = Math.abs(x);
    if (!(magnitude <= F16_LARGEST)) {
      if (Number.isNaN(x)) return x;
      const limited = magnitude < F16_OVERFLOW ? F16_LARGEST : Number.POSITIVE_INFINITY;
      return x < 0 ? -limited : limited;
    }
    const rounded = nearest16(magnitude);
    return x < 0 || Object.is(x, -0) ? -rounded : rounded;
  });
}

function binary16Word(x: number): number {
  if (Number.isNaN(x)) return F16_NAN;
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(x);
  if (magnitude === Number.POSITIVE_INFINITY) return sign | F16_INFINITY;
  if (magnitude < 2 ** -14) return sign | (magnitude * 2 ** 24);
  view.setFloat64(0, magnitude);
  const high = view.getUint32(0);
  return sign | ((((high >>> 20) - 1008) << 10) + ((high >>> 10) & 0x3ff));
}

/**
 * GEM-09. Sums as words of the output type. A sum that no binary64 number holds comes rounded to odd, which has 53 bits: more than
 * two to spare over FP32, so that it is rounded as the sum itself would be.
 */
export function outputWords(sums: Float64Array, output: OutputName): Uint32Array {
  const words = new Uint32Array(sums.length);
  if (output === 'f16') {
    const values = binary16Values(sums);
    for (let k = 0; k < words.length; k++) words[k] = binary16Word(values[k]!);
    return words;
  }
  roundedWords(sums, output, words);
  if (output === 'bf16') for (let k = 0; k < words.length; k++) words[k] = words[k]! >>> 16;
  return words;
}
