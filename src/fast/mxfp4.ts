/**
 * MXFP4 as callers use it: WebAssembly for arrays where it is quicker and where the engine has it, else TypeScript. Both
 * give the same bytes, so that the choice shows in time alone; either by name is in src/fast/paths.ts. Clauses: spec/mxfp4.md.
 * @module
 */
import { BLOCK } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { type BlockCodec, WORTH_WEBASSEMBLY } from './block-codec.ts';
import { mxfp4DequantizeTypeScript, mxfp4TypeScript } from './mxfp4-typescript.ts';
import { perPolicy } from './policy-cache.ts';
import { mxfp4DequantizeWebAssembly, mxfp4QuantizeWebAssembly } from './wasm-codecs.ts';

/** MX-02. Of two ways to read, the one for so many words. */
function dequantize(scales: Uint8Array, codes: Uint8Array, words: Uint32Array): void {
  const wasm = words.length >= WORTH_WEBASSEMBLY ? mxfp4DequantizeWebAssembly() : undefined;
  (wasm ?? mxfp4DequantizeTypeScript)(scales, codes, words);
}

/** The codec of a policy; nothing of either path is made before it is used. */
export const mxfp4Codec = perPolicy(
  (policy: Mxfp4Policy): BlockCodec<Uint8Array> => ({
    blockSize: BLOCK,
    quantize(words, scales, codes) {
      const wasm = words.length >= WORTH_WEBASSEMBLY ? mxfp4QuantizeWebAssembly(policy) : undefined;
      (wasm ?? mxfp4TypeScript(policy).quantize)(words, scales, codes);
    },
    dequantize,
  }),
);

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
  const scales = new Uint8Array(Math.floor(x.length / BLOCK));
  const codes = new Uint8Array(scales.length * (BLOCK / 2));
  mxfp4Codec(policy).quantize(x, scales, codes);
  return { scales, codes };
}

/**
 * MX-02. The values of whole blocks.
 * @param scales one E8M0 byte a block
 * @param codes two a byte, even element in the low nibble, 16 bytes a block
 * @returns FP32 words, 32 a block; a value beyond FP32 is an infinity of its sign
 * @throws Fp4Error E_LENGTH when the two do not belong together
 */
export function dequantizeBlocks(scales: Uint8Array, codes: Uint8Array): Uint32Array {
  const words = new Uint32Array(scales.length * BLOCK);
  dequantize(scales, codes, words);
  return words;
}
