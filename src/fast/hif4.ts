/**
 * HiF4 as callers use it: WebAssembly for arrays where it is quicker and where the engine has it, else TypeScript. Both
 * give the same bytes, so that the choice shows in time alone; either by name is in src/fast/paths.ts. Clauses: spec/hif4.md.
 * @module
 */
import { UNIT } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { type BlockCodec, WORTH_WEBASSEMBLY } from './block-codec.ts';
import { hif4DequantizeTypeScript, hif4TypeScript } from './hif4-typescript.ts';
import { perPolicy } from './policy-cache.ts';
import { hif4DequantizeWebAssembly, hif4QuantizeWebAssembly } from './wasm-codecs.ts';

/** HIF4-03. Of two ways to read, the one for so many words. */
function dequantize(scales: Uint32Array, codes: Uint8Array, words: Uint32Array): void {
  const wasm = words.length >= WORTH_WEBASSEMBLY ? hif4DequantizeWebAssembly() : undefined;
  (wasm ?? hif4DequantizeTypeScript)(scales, codes, words);
}

/** The codec of a policy; nothing of either path is made before it is used. */
export const hif4Codec = perPolicy(
  (policy: HiF4Policy): BlockCodec<Uint32Array> => ({
    blockSize: UNIT,
    quantize(words, scales, codes) {
      const wasm = words.length >= WORTH_WEBASSEMBLY ? hif4QuantizeWebAssembly(policy) : undefined;
      (wasm ?? hif4TypeScript(policy).quantize)(words, scales, codes);
    },
    dequantize,
  }),
);

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
  const words = new Uint32Array(scales.length * UNIT);
  dequantize(scales, codes, words);
  return words;
}
