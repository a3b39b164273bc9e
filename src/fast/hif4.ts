/**
 * HiF4 on typed arrays: the encoder and decoder as comparisons of binary64 numbers, proven equal to src/format/hif4.ts.
 * A unit with a NaN or an infinity goes to the definition. Clauses: spec/hif4.md.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { encodeUnit, UNIT } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { e6m2_to_bf16_reciprocal, f32Value } from '../format/scalar.ts';
import { type BlockCodec, expectLengths } from './block-codec.ts';
import { exponentOf, isNonfinite, roundToBF16, roundToInteger, roundWordToBF16, twoTo } from './rounding.ts';

/** HIF4-06. bf16(1/7). */
const BF16_ONE_SEVENTH = 146 / 1024;

/** HIF4-08. The reciprocal of every scale code, rounded to BF16. */
const RECIPROCAL = (() => {
  const word = new Uint32Array(1);
  const value = new Float32Array(word.buffer);
  return Float64Array.from({ length: 256 }, (_, code) => {
    word[0] = e6m2_to_bf16_reciprocal(code) << 16;
    return value[0]!;
  });
})();

/** SCA-03. The value of every scale code; ff is NaN. */
const SCALE = Float64Array.from({ length: 256 }, (_, code) =>
  code === 0xff ? Number.NaN : (4 + (code & 3)) * twoTo((code >> 2) - 50),
);

/** HIF4-12. Quarters in an element's own scale, by the number of its exponent bits. */
const QUARTERS = [4, 2, 1];

/** HIF4-06, HIF4-07. The E6M2 code of a unit whose largest magnitude is vmax. */
function scaleCode(vmax: number, policy: HiF4Policy): number {
  if (vmax === 0) return 0;
  const wide = policy.sf === 'quotient' ? vmax / 7 : vmax * BF16_ONE_SEVENTH;
  const sf = policy.sf === 'bf16' ? roundToBF16(wide) : wide;
  if (sf === 0) return 0;
  const exponent = exponentOf(sf);
  const significand = roundToInteger(sf * twoTo(2 - exponent), false, policy['e6m2-ties']);
  const code = 4 * (exponent + 48) + significand - 4;
  return policy['e6m2-range'] === 'wrap' ? code & 0xff : Math.min(Math.max(code, 0), 0xfe);
}

/** HIF4-08, HIF4-09. The product of a magnitude with the reciprocal of a scale. */
export function productWith(code: number, policy: HiF4Policy): (magnitude: number) => number {
  const exact = policy.reciprocal === 'exact';
  const factor = exact ? SCALE[code]! : RECIPROCAL[code]!;
  const narrow = policy.products === 'bf16';
  return (magnitude) => {
    const wide = exact ? magnitude / factor : magnitude * factor;
    return narrow ? roundToBF16(wide) : wide;
  };
}

/**
 * HIF4-12. The code of one element.
 * @param product of its magnitude with the reciprocal
 * @param increment how many of its exponent bits are set
 * @param sign 8 or 0
 */
export function elementCode(
  magnitude: number,
  product: number,
  increment: number,
  sign: number,
  policy: HiF4Policy,
): number {
  const z = product * QUARTERS[increment]!;
  const rounded =
    policy.ties === 'away-bf16'
      ? Math.floor(roundToBF16(z + 0.5))
      : roundToInteger(z, sign !== 0, policy.ties);
  const code = Math.min(rounded, 7);
  const rule = policy['zero-sign'];
  if ((rule === 'drop' && code === 0) || (rule !== 'keep' && magnitude === 0)) return code;
  return sign | code;
}

const unitWords = new Uint32Array(UNIT);
const unitMagnitudes = new Float32Array(unitWords.buffer);
const signs = new Uint8Array(UNIT);
const max4 = new Float64Array(16);

/** Loads one unit, input rounding done; false when something in it is not finite. */
function loadUnit(x: Uint32Array, at: number, policy: HiF4Policy): boolean {
  const narrow = policy.input === 'bf16';
  let finite = true;
  for (let q = 0; q < UNIT; q++) {
    const word = x[at + q]!;
    const rounded = narrow && !isNonfinite(word) ? roundWordToBF16(word) : word;
    if (isNonfinite(rounded)) finite = false;
    signs[q] = (rounded >>> 28) & 8;
    unitWords[q] = rounded & 0x7fffffff;
  }
  return finite;
}

/** The unit that was loaded, encoded: its scale word, and its codes into `codes` from byte `at`. */
function encodeLoaded(policy: HiF4Policy, codes: Uint8Array, at: number): number {
  let max64 = 0;
  for (let k = 0; k < 16; k++) {
    const q = 4 * k;
    max4[k] = Math.max(
      unitMagnitudes[q]!,
      unitMagnitudes[q + 1]!,
      unitMagnitudes[q + 2]!,
      unitMagnitudes[q + 3]!,
    );
    max64 = Math.max(max64, max4[k]!);
  }
  const code = scaleCode(max64, policy);
  if (code === 0xff) {
    codes.fill(0, at, at + UNIT / 2);
    return 0xff;
  }
  const product = productWith(code, policy);
  let word = code;
  for (let k = 0; k < 8; k++) {
    const level2 = product(Math.max(max4[2 * k]!, max4[2 * k + 1]!)) >= 4 ? 1 : 0;
    word |= level2 << (8 + k);
    const threshold = level2 === 1 ? 4 : 2;
    if (product(max4[2 * k]!) >= threshold) word |= 1 << (16 + 2 * k);
    if (product(max4[2 * k + 1]!) >= threshold) word |= 1 << (17 + 2 * k);
  }
  for (let q = 0; q < UNIT; q += 2) {
    const low = element(q, word, product, policy);
    codes[at + (q >> 1)] = low | (element(q + 1, word, product, policy) << 4);
  }
  return word >>> 0;
}

/** The code of element q of the unit that was loaded. */
function element(q: number, word: number, product: (v: number) => number, policy: HiF4Policy): number {
  const increment = ((word >>> (8 + (q >> 3))) & 1) + ((word >>> (16 + (q >> 2))) & 1);
  const magnitude = unitMagnitudes[q]!;
  return elementCode(magnitude, product(magnitude), increment, signs[q]!, policy);
}

/** CON-05. The definition's answer for a unit with a NaN or an infinity. */
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
  if (x.length % UNIT !== 0) {
    throw new Fp4Error('E_LENGTH', `${x.length} values are no whole number of units of ${UNIT}`);
  }
  const scales = new Uint32Array(x.length / UNIT);
  const codes = new Uint8Array(x.length / 2);
  for (let unit = 0; unit < scales.length; unit++) {
    scales[unit] = loadUnit(x, unit * UNIT, policy)
      ? encodeLoaded(policy, codes, (unit * UNIT) / 2)
      : encodeByDefinition(x, unit, policy, codes);
  }
  return { scales, codes };
}

const FP32_NAN = 0x7fc00000;

/**
 * HIF4-03. The values of whole units.
 * @param scales one scale word a unit
 * @param codes two a byte, even element in the low nibble, 32 bytes a unit
 * @returns FP32 words, 64 a unit; every finite value is exact in FP32
 * @throws Fp4Error E_LENGTH when the two do not belong together
 */
export function dequantizeUnits(scales: Uint32Array, codes: Uint8Array): Uint32Array {
  if (codes.length !== (scales.length * UNIT) / 2) {
    throw new Fp4Error(
      'E_LENGTH',
      `${scales.length} units need ${(scales.length * UNIT) / 2} code bytes, not ${codes.length}`,
    );
  }
  const words = new Uint32Array(scales.length * UNIT);
  const values = new Float32Array(words.buffer);
  for (let unit = 0; unit < scales.length; unit++) {
    const word = scales[unit]!;
    const quarter = SCALE[word & 0xff]! / 4;
    if (Number.isNaN(quarter)) {
      words.fill(FP32_NAN, unit * UNIT, (unit + 1) * UNIT);
      continue;
    }
    for (let q = 0; q < UNIT; q++) {
      const at = unit * UNIT + q;
      const code = (codes[at >> 1]! >>> (4 * (q & 1))) & 15;
      const increment = ((word >>> (8 + (q >> 3))) & 1) + ((word >>> (16 + (q >> 2))) & 1);
      values[at] = (code & 7) * quarter * (1 << increment);
      if (code & 8) words[at] = (words[at]! | 0x80000000) >>> 0;
    }
  }
  return words;
}

/** The codec of a policy, on arrays of the caller. */
export const hif4Codec = (policy: HiF4Policy): BlockCodec<Uint32Array> => ({
  blockSize: UNIT,
  quantize(words, scales, codes) {
    expectLengths('unit', UNIT, words.length, scales.length, codes.length);
    const quantized = quantizeUnits(words, policy);
    scales.set(quantized.scales);
    codes.set(quantized.codes);
  },
  dequantize(scales, codes, words) {
    expectLengths('unit', UNIT, words.length, scales.length, codes.length);
    words.set(dequantizeUnits(scales, codes));
  },
});
