/**
 * MXFP4 as WebAssembly SIMD kernels: a chunk of blocks into scales and codes, and back. Clauses: spec/mxfp4.md.
 * A block is left to the TypeScript path where its largest magnitude is not finite, or so near an end of FP32 that the scale's
 * range, an overflow of input rounding or a subnormal could matter: below 2^-111 (unless it is 0) or from 2^127 on.
 * @module
 */
import { BLOCK } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { E2M1 } from '../format/scalar.ts';
import { type WasmFunction, wasmFunction } from '../wasm/function.ts';
import { i32, i32x4, select, v128 } from '../wasm/instructions.ts';
import { BINADE } from './thresholds.ts';
import { beforeStep, elementRules, largestLane, magnitudes, packed, signedCodes } from './wasm-elements.ts';
import { type LeftBlocks, leaveBlock } from './wasm-left.ts';
import { CODES, SCALES, WORDS } from './wasm-memory.ts';
import { mxfp4Steps } from './wasm-mxfp4-steps.ts';
import { leastNonzero } from './wasm-steps.ts';
import { storeNaNs, storeProducts, valuesOfCodes } from './wasm-values.ts';

/** Words of 2^-111 and 2^127: between them scales are 0e to fe, and a subnormal element is far below half a code. */
const LOWEST = 16 * BINADE;
const HIGHEST = 254 * BINADE;
const BIAS = 127;
const NAN_SCALE = 0xff;
/** The FP32 word of 2^-127, the scale of byte 00. */
const WORD_OF_00 = 0x00400000;

const VECTORS = [0, 1, 2, 3, 4, 5, 6, 7];

/** MX-04. quantize(blocks) -> how many blocks were left. */
export function mxfp4Quantize(policy: Mxfp4Policy): WasmFunction {
  const steps = mxfp4Steps(policy);
  const rules = elementRules(policy['zero-sign'], leastNonzero(policy.input), [steps]);
  const vectors = {
    positive: steps.positive.words.map((word) => i32x4.const(beforeStep(word))),
    negative: steps.negative.words.map((word) => i32x4.const(beforeStep(word))),
  };
  return wasmFunction('quantize', { blocks: 'i32' }, 'i32', (f, { blocks }) => {
    const left: LeftBlocks = { count: f.let(i32.const(0)) };
    const block = f.let(i32.const(0));
    f.count(block, blocks, 1, () => {
      const words = f.let(i32.shl(block, 7));
      const halves = [0, 64].map((half) => {
        const four = [0, 16, 32, 48].map((k) => f.let(magnitudes(v128.load(words, WORDS + half + k))));
        const [a, b, c, d] = four as [(typeof four)[0], (typeof four)[0], (typeof four)[0], (typeof four)[0]];
        return f.let(i32x4.max_s(i32x4.max_s(a, b), i32x4.max_s(c, d)));
      });
      const amax = f.let(largestLane(f, f.let(i32x4.max_s(halves[0]!, halves[1]!))));
      f.if(
        i32.and(i32.ge_u(i32.sub(amax, LOWEST), HIGHEST - LOWEST), i32.ne(amax, 0)),
        () => leaveBlock(f, left, block),
        () => {
          // MX-05 to MX-09. The exponent field, moved, and the steps within its binade.
          const significand = f.let(i32.and(amax, BINADE - 1));
          let byte = i32.add(i32.shr_u(amax, 23), steps.scaleOfOne - BIAS);
          for (const step of steps.scale) byte = i32.add(byte, i32.ge_u(significand, step & (BINADE - 1)));
          const scale = f.let(select(byte, i32.const(BIAS), amax));
          const base = f.let(i32x4.splat(i32.shl(i32.sub(scale, BIAS), 23)));
          // MX-11.
          const zeroScale = Number.parseInt(policy['zero-scale'], 16);
          f.do(i32.store8(block, select(scale, i32.const(zeroScale), amax), SCALES));
          const codes = VECTORS.map((k) =>
            signedCodes(f, f.let(v128.load(words, WORDS + 16 * k)), base, vectors, rules),
          );
          f.do(v128.store(i32.shl(block, 4), packed(f, codes), CODES));
        },
      );
    });
    f.return(left.count);
  });
}

/** MX-02. dequantize(blocks). */
export const mxfp4Dequantize = (): WasmFunction =>
  wasmFunction('dequantize', { blocks: 'i32' }, 'void', (f, { blocks }) => {
    const block = f.let(i32.const(0));
    f.count(block, blocks, 1, () => {
      const words = f.let(i32.shl(block, 7));
      const scale = f.let(i32.load8_u(block, SCALES));
      f.if(
        i32.eq(scale, NAN_SCALE),
        () => storeNaNs(f, words, BLOCK),
        () => {
          const factor = f.let(i32x4.splat(select(i32.shl(scale, 23), i32.const(WORD_OF_00), scale)));
          const values = valuesOfCodes(f, v128.load(i32.shl(block, 4), CODES), E2M1);
          storeProducts(f, words, WORDS, values, () => factor);
        },
      );
    });
  });
