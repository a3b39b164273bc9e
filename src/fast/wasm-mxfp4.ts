/**
 * MXFP4 as WebAssembly SIMD kernels: a chunk of blocks into scales and codes, and back. Clauses: spec/mxfp4.md.
 * A block is left to the TypeScript path where its largest magnitude is not finite, or so near an end of FP32 that the scale's
 * range, an overflow of input rounding or a subnormal could matter: below 2^-111 (unless it is 0) or from 2^127 on.
 * @module
 */
import { BLOCK } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { E2M1 } from '../format/scalar.ts';
import { type Local, type WasmFunction, wasmFunction } from '../wasm/function.ts';
import { i32, i32x4, select, v128 } from '../wasm/instructions.ts';
import { BINADE } from './thresholds.ts';
import {
  beforeStep,
  type ElementRules,
  elementRules,
  largestLane,
  magnitudes,
  packed,
  signedCodes,
} from './wasm-elements.ts';
import { type LeftBlocks, leaveBlock } from './wasm-left.ts';
import { CODES, SCALES, TABLES, WORDS } from './wasm-memory.ts';
import type { Mxfp4Steps } from './wasm-mxfp4-steps.ts';
import { leastNonzero, stepsOfBinade } from './wasm-steps.ts';
import { storeNaNs, storeProducts, valuesOfCodes } from './wasm-values.ts';

/** Words of 2^-111 and 2^127: between them scales are 0e to fe, and a subnormal element is far below half a code. */
const LOWEST = 16 * BINADE;
const HIGHEST = 254 * BINADE;
const BIAS = 127;
const NAN_SCALE = 0xff;
/** The FP32 word of 2^-127, the scale of byte 00. */
const WORD_OF_00 = 0x00400000;

/** Steps of both signs as vectors, then numbers. */
const POSITIVE = TABLES;
const NEGATIVE = POSITIVE + 7 * 16;
const SCALE_OFFSET = NEGATIVE + 7 * 16;
const SCALE_STEPS = SCALE_OFFSET + 4;
const ZERO_SCALE = SCALE_STEPS + 2 * 4;

/** A policy as its kernel finds it at TABLES; what vectors are made of is in all four lanes. */
export function mxfp4Tables(policy: Mxfp4Policy, steps: Mxfp4Steps): Int32Array {
  const rows = [...steps.positive.words, ...steps.negative.words].map(beforeStep);
  return Int32Array.from([
    ...rows.flatMap((number) => [number, number, number, number]),
    steps.scaleOfOne - BIAS,
    ...stepsOfBinade(steps.scale, 2),
    Number.parseInt(policy['zero-scale'], 16),
  ]);
}

/** What the kernel of a policy is generated for. */
export const mxfp4Rules = (policy: Mxfp4Policy, steps: Mxfp4Steps): ElementRules =>
  elementRules(policy['zero-sign'], leastNonzero(policy.input), [steps]);

const VECTORS = [0, 1, 2, 3, 4, 5, 6, 7];

/** MX-04. quantize(blocks) -> how many blocks were left; the tables of the policy have to be in the memory. */
export const mxfp4Quantize = (rules: ElementRules): WasmFunction =>
  wasmFunction('quantize', { blocks: 'i32' }, 'i32', (f, { blocks }) => {
    const stepsAt = (at: number): Local<'v128'>[] =>
      [0, 1, 2, 3, 4, 5, 6].map((k) => f.let(v128.load(at + 16 * k)));
    const positive = stepsAt(POSITIVE);
    const vectors = { positive, negative: rules.signed ? stepsAt(NEGATIVE) : positive };
    const scaleOffset = f.let(i32.load(SCALE_OFFSET));
    const scaleSteps = [0, 4].map((at) => f.let(i32.load(SCALE_STEPS + at)));
    const zeroScale = f.let(i32.load(ZERO_SCALE));
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
          let byte = i32.add(i32.shr_u(amax, 23), scaleOffset);
          for (const step of scaleSteps) byte = i32.add(byte, i32.ge_u(significand, step));
          const scale = f.let(select(byte, i32.const(BIAS), amax));
          const base = f.let(i32x4.splat(i32.shl(i32.sub(scale, BIAS), 23)));
          // MX-11.
          f.do(i32.store8(block, select(scale, zeroScale, amax), SCALES));
          const codes = VECTORS.map((k) =>
            signedCodes(f, f.let(v128.load(words, WORDS + 16 * k)), base, vectors, rules),
          );
          f.do(v128.store(i32.shl(block, 4), packed(f, codes), CODES));
        },
      );
    });
    f.return(left.count);
  });

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
