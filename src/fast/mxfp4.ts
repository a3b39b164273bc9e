/**
 * MXFP4 on typed arrays: the exponent from the bits of amax, the codes from comparisons of binary64 numbers; proven equal to
 * src/format/mxfp4.ts. A block with a NaN or an infinity goes to the definition. Clauses: spec/mxfp4.md.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { BLOCK, encodeBlock } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { f32Value } from '../format/scalar.ts';
import { type BlockCodec, expectLengths } from './block-codec.ts';
import { isNonfinite, roundToInteger, roundWordToBF16, twoTo } from './rounding.ts';

/** The significand, of 24 bits, at which each rule goes to the next exponent. */
const HIDDEN = 0x800000;
const THREE_QUARTERS = 0xe00000; // 1.75
const ONE_AND_A_HALF = 0xc00000; // 6 = 1.5 x 4
/** MX-09. The least significand s with (s / 2^23)^2 >= 9/8, that is s / 2^23 / 1.5 >= 2^-1/2; equality is impossible. */
const NEAREST_STEP = (() => {
  let s = Math.floor(HIDDEN * Math.sqrt(9 / 8)) - 2;
  while (BigInt(s) * BigInt(s) * 8n < 9n << 46n) s++;
  return s;
})();

/** MX-05 to MX-09. The exponent of the scale before it is clamped, from the FP32 bits of amax > 0. */
function scaleExponent(amaxBits: number, rule: Mxfp4Policy['scale']): number {
  const shift = amaxBits < HIDDEN ? Math.clz32(amaxBits) - 8 : 0;
  const significand = shift > 0 ? amaxBits << shift : (amaxBits & 0x7fffff) | HIDDEN;
  const exponent = Math.max(amaxBits >>> 23, 1) - 127 - shift - 2;
  switch (rule) {
    case 'floor':
      return exponent;
    case 'ceil':
      return significand > HIDDEN ? exponent + 1 : exponent;
    case 'even':
      return significand >= THREE_QUARTERS ? exponent + 1 : exponent;
    case 'rceil':
      return significand > ONE_AND_A_HALF ? exponent + 1 : exponent;
    case 'nearest':
      return significand >= NEAREST_STEP ? exponent : exponent - 1;
  }
}

const NAN_SCALE = 0xff;
const TOP_SCALE = 0xfe;

/** MX-10, MX-11. The E8M0 byte of a block whose largest magnitude has these FP32 bits. */
function scaleByte(amaxBits: number, policy: Mxfp4Policy): number {
  if (amaxBits === 0) return policy['zero-scale'] === '7f' ? 0x7f : 0x00;
  if (policy.scale === 'even' && policy['even-range'] === 'f32' && amaxBits >= 0x7f600000) return NAN_SCALE;
  const byte = scaleExponent(amaxBits, policy.scale) + 127;
  if (policy['scale-range'] === 'wrap') return byte & 0xff;
  return Math.min(Math.max(byte, policy['scale-min'] === '01' ? 1 : 0), TOP_SCALE);
}

const blockWords = new Uint32Array(BLOCK);
const magnitudes = new Float32Array(blockWords.buffer);
const signs = new Uint8Array(BLOCK);

/** Loads one block, input rounding done: the FP32 bits of amax, or -1 when something in it is not finite. */
function loadBlock(x: Uint32Array, at: number, policy: Mxfp4Policy): number {
  const narrow = policy.input === 'bf16';
  let amax = 0;
  for (let i = 0; i < BLOCK; i++) {
    const word = x[at + i]!;
    const rounded = narrow && !isNonfinite(word) ? roundWordToBF16(word) : word;
    if (isNonfinite(rounded)) return -1;
    const magnitude = rounded & 0x7fffffff;
    signs[i] = (rounded >>> 28) & 8;
    blockWords[i] = magnitude;
    if (magnitude > amax) amax = magnitude;
  }
  return amax;
}

/**
 * MX-12. The code of one element.
 * @param inverse 1 / scale, a power of two
 * @param sign 8 or 0
 */
export function elementCode(magnitude: number, inverse: number, sign: number, policy: Mxfp4Policy): number {
  const z = magnitude * inverse;
  // The spacing of E2M1 is 1/2 below 2, then 1, then 2: codes count them from 0, from 2 and from 4.
  const spacing = z < 2 ? 0.5 : z < 4 ? 1 : 2;
  const first = z < 2 ? 0 : z < 4 ? 2 : 4;
  const code = Math.min(first + roundToInteger(z / spacing, sign !== 0, policy.ties), 7);
  const rule = policy['zero-sign'];
  if ((rule === 'drop' && code === 0) || (rule !== 'keep' && magnitude === 0)) return code;
  return sign | code;
}

/** CON-05. The definition's answer for a block with a NaN or an infinity. */
function encodeByDefinition(x: Uint32Array, block: number, policy: Mxfp4Policy, codes: Uint8Array): number {
  const values = Array.from(x.subarray(block * BLOCK, (block + 1) * BLOCK), f32Value);
  try {
    const encoded = encodeBlock(values, policy);
    for (let i = 0; i < BLOCK; i += 2) {
      codes[(block * BLOCK + i) >> 1] = encoded.codes[i]! | (encoded.codes[i + 1]! << 4);
    }
    return encoded.scale;
  } catch (error) {
    if (!(error instanceof Fp4Error) || x.length === BLOCK) throw error;
    throw new Fp4Error(error.code, `block ${block}: ${error.message}`);
  }
}

/**
 * Quantizes whole blocks.
 * @param x FP32 words, 32 a block, before input rounding
 * @returns one E8M0 scale a block, and the codes two a byte, even element in the low nibble
 * @throws Fp4Error E_LENGTH when x is not whole blocks, E_NONFINITE under nonfinite=error
 */
export function quantizeBlocks(
  x: Uint32Array,
  policy: Mxfp4Policy,
): { scales: Uint8Array; codes: Uint8Array } {
  if (x.length % BLOCK !== 0) {
    throw new Fp4Error('E_LENGTH', `${x.length} values are no whole number of blocks of ${BLOCK}`);
  }
  const scales = new Uint8Array(x.length / BLOCK);
  const codes = new Uint8Array(x.length / 2);
  const nanByte = policy['nan-code'] === '3' ? 0x33 : 0x00;
  for (let block = 0; block < scales.length; block++) {
    const at = block * BLOCK;
    const amax = loadBlock(x, at, policy);
    if (amax < 0) {
      scales[block] = encodeByDefinition(x, block, policy, codes);
      continue;
    }
    const scale = scaleByte(amax, policy);
    scales[block] = scale;
    if (scale === NAN_SCALE) {
      codes.fill(nanByte, at / 2, (at + BLOCK) / 2);
      continue;
    }
    const inverse = twoTo(127 - scale);
    for (let i = 0; i < BLOCK; i += 2) {
      const low = elementCode(magnitudes[i]!, inverse, signs[i]!, policy);
      codes[(at + i) >> 1] = low | (elementCode(magnitudes[i + 1]!, inverse, signs[i + 1]!, policy) << 4);
    }
  }
  return { scales, codes };
}

/** SCA-01. Magnitudes of E2M1. */
const E2M1_MAGNITUDES = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
const FP32_NAN = 0x7fc00000;

/**
 * MX-02. The values of whole blocks.
 * @param scales one E8M0 byte a block
 * @param codes two a byte, even element in the low nibble, 16 bytes a block
 * @returns FP32 words, 32 a block; a value beyond FP32 is an infinity of its sign
 * @throws Fp4Error E_LENGTH when the two do not belong together
 */
export function dequantizeBlocks(scales: Uint8Array, codes: Uint8Array): Uint32Array {
  if (codes.length !== (scales.length * BLOCK) / 2) {
    throw new Fp4Error(
      'E_LENGTH',
      `${scales.length} blocks need ${(scales.length * BLOCK) / 2} code bytes, not ${codes.length}`,
    );
  }
  const words = new Uint32Array(scales.length * BLOCK);
  const values = new Float32Array(words.buffer);
  for (let block = 0; block < scales.length; block++) {
    const scale = scales[block]!;
    if (scale === NAN_SCALE) {
      words.fill(FP32_NAN, block * BLOCK, (block + 1) * BLOCK);
      continue;
    }
    const factor = twoTo(scale - 127);
    for (let i = 0; i < BLOCK; i++) {
      const at = block * BLOCK + i;
      const code = (codes[at >> 1]! >>> (4 * (i & 1))) & 15;
      values[at] = E2M1_MAGNITUDES[code & 7]! * factor;
      if (code & 8) words[at] = (words[at]! | 0x80000000) >>> 0;
    }
  }
  return words;
}

/** The codec of a policy, on arrays of the caller. */
export const mxfp4Codec = (policy: Mxfp4Policy): BlockCodec<Uint8Array> => ({
  blockSize: BLOCK,
  quantize(words, scales, codes) {
    expectLengths('block', BLOCK, words.length, scales.length, codes.length);
    const quantized = quantizeBlocks(words, policy);
    scales.set(quantized.scales);
    codes.set(quantized.codes);
  },
  dequantize(scales, codes, words) {
    expectLengths('block', BLOCK, words.length, scales.length, codes.length);
    words.set(dequantizeBlocks(scales, codes));
  },
});
