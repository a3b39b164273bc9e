/**
 * HiF4 as WebAssembly SIMD kernels: a chunk of units into scale words and codes, and back. Clauses: spec/hif4.md.
 * A unit is left to the TypeScript path where its largest magnitude is not finite, or so small or large that the range of E6M2
 * could matter: below 2^-44 (unless it is 0) or from 2^17 on.
 * @module
 */
import { UNIT } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { E1M2 } from '../format/scalar.ts';
import { type Body, type Local, type WasmFunction, wasmFunction } from '../wasm/function.ts';
import { type Expr, i32, i32x4, select, v128 } from '../wasm/instructions.ts';
import { BINADE } from './thresholds.ts';
import {
  beforeStep,
  type ElementRules,
  elementRules,
  lane,
  largestLane,
  magnitudes,
  maximaOfFour,
  packed,
  pick,
  signedCodes,
} from './wasm-elements.ts';
import type { HiF4Steps } from './wasm-hif4-steps.ts';
import { type LeftBlocks, leaveBlock } from './wasm-left.ts';
import { CODES, SCALES, TABLES, WORDS } from './wasm-memory.ts';
import { leastNonzero, stepsOfBinade } from './wasm-steps.ts';
import { storeNaNs, storeProducts, valuesOfCodes } from './wasm-values.ts';

type Vector = Expr<'v128'>;

/** Words of 2^-44 and 2^17: between them a scale is at least 2^-47 and below 2^15. */
const LOWEST = (127 - 44) * BINADE;
const HIGHEST = (127 + 17) * BINADE;
const BIAS = 127;
const E6M2_BIAS = 48;
const NAN_SCALE = 0xff;

/** A row of vectors for each fraction of E6M2: the two levels, then the codes' steps of both signs. */
const FOUR = 0;
const TWO = 16;
const POSITIVE = 32;
const NEGATIVE = POSITIVE + 7 * 16;
const ROW_BITS = 8;
/** Behind the four rows: what the scale code of words is above four times the exponent field, and the steps within a binade. */
const SCALE_OFFSET = TABLES + (4 << ROW_BITS);
const SCALE_STEPS = SCALE_OFFSET + 4;

/** A policy as its kernel finds it at TABLES; what vectors are made of is in all four lanes. */
export function hif4Tables(steps: HiF4Steps): Int32Array {
  const rows = steps.byFraction.flatMap((row) =>
    [row.four, row.two, ...row.positive.words, ...row.negative.words].map(beforeStep),
  );
  return Int32Array.from([
    ...rows.flatMap((number) => [number, number, number, number]),
    steps.scaleOfOne - 4 * BIAS,
    ...stepsOfBinade(steps.scale, 4),
  ]);
}

const FOUR_QUADS = [0, 1, 2, 3];
const SEVEN_STEPS = [0, 1, 2, 3, 4, 5, 6];

/** Exponent bits of four quads, as masks by lane; the two quads of an octet have the same level-2 mask. */
interface ExponentBits {
  readonly level2: Local<'v128'>;
  readonly level3: Local<'v128'>;
}

/** HIF4-10, HIF4-11. From the largest magnitudes of four quads. */
function exponentBits(f: Body, quads: Local<'v128'>, base: Vector, row: Local<'i32'>): ExponentBits {
  const distance = f.let(i32x4.sub(quads, base));
  const octets = i32x4.max_s(distance, pick(distance, distance, [1, 0, 3, 2]));
  const four = f.let(v128.load(row, TABLES + FOUR));
  const level2 = f.let(i32x4.gt_s(octets, four));
  // After a level-2 bit, 2 scales of the octet are 4 of the unit.
  const level3 = v128.bitselect(
    i32x4.gt_s(distance, four),
    i32x4.gt_s(distance, v128.load(row, TABLES + TWO)),
    level2,
  );
  return { level2, level3: f.let(level3) };
}

/** HIF4-02. The scale word of its code and the bits of 16 quads. */
function scaleWord(code: Expr<'i32'>, bits: readonly ExponentBits[]): Expr<'i32'> {
  let word = code;
  for (const k of [0, 1]) {
    const octets = pick(bits[2 * k]!.level2, bits[2 * k + 1]!.level2, [0, 2, 4, 6]);
    word = i32.or(word, i32.shl(i32x4.bitmask(octets), 8 + 4 * k));
  }
  for (const [k, { level3 }] of bits.entries()) {
    word = i32.or(word, i32.shl(i32x4.bitmask(level3), 16 + 4 * k));
  }
  return word;
}

/** What the kernel of a policy is generated for. */
export const hif4Rules = (policy: HiF4Policy, steps: HiF4Steps): ElementRules =>
  elementRules(policy['zero-sign'], leastNonzero(policy.input), steps.byFraction);

/** HIF4-05. quantize(blocks) -> how many units were left; the tables of the policy have to be in the memory. */
export const hif4Quantize = (rules: ElementRules): WasmFunction =>
  wasmFunction('quantize', { blocks: 'i32' }, 'i32', (f, { blocks }) => {
    const scaleOffset = f.let(i32.load(0, SCALE_OFFSET));
    const scaleSteps = [0, 1, 2, 3].map((k) => f.let(i32.load(0, SCALE_STEPS + 4 * k)));
    const left: LeftBlocks = { count: f.let(i32.const(0)) };
    const unit = f.let(i32.const(0));
    f.count(unit, blocks, 1, () => {
      const words = f.let(i32.shl(unit, 8));
      const load = (quad: number): Local<'v128'> => f.let(v128.load(words, WORDS + 16 * quad));
      const quads = FOUR_QUADS.map((j) =>
        maximaOfFour(
          f,
          FOUR_QUADS.map((k) => f.let(magnitudes(load(4 * j + k)))),
        ),
      );
      const [a, b, c, d] = quads as [Local<'v128'>, Local<'v128'>, Local<'v128'>, Local<'v128'>];
      const all = f.let(i32x4.max_s(i32x4.max_s(a, b), i32x4.max_s(c, d)));
      const max64 = f.let(largestLane(f, all));
      f.if(
        i32.and(i32.ge_u(i32.sub(max64, LOWEST), HIGHEST - LOWEST), i32.ne(max64, 0)),
        () => leaveBlock(f, left, unit),
        () => {
          // HIF4-06, HIF4-07. Four codes a binade, and the steps within it.
          const significand = f.let(i32.and(max64, BINADE - 1));
          let code = i32.add(i32.shl(i32.shr_u(max64, 23), 2), scaleOffset);
          for (const step of scaleSteps) code = i32.add(code, i32.ge_u(significand, step));
          const scale = f.let(code);
          // An all-zero unit has code 0 but is measured from exponent 0, which no zero reaches a step of.
          const exponent = i32.sub(i32.shr_u(scale, 2), E6M2_BIAS);
          const base = f.let(i32x4.splat(i32.shl(select(exponent, i32.const(0), max64), 23)));
          const row = f.let(i32.shl(i32.and(scale, 3), ROW_BITS));
          const bits = quads.map((q) => exponentBits(f, q, base, row));
          f.do(i32.store(i32.shl(unit, 2), scaleWord(select(scale, i32.const(0), max64), bits), SCALES));
          const stepsAt = (offset: number): Local<'v128'>[] =>
            SEVEN_STEPS.map((k) => f.let(v128.load(row, TABLES + offset + 16 * k)));
          const positive = stepsAt(POSITIVE);
          const vectors = { positive, negative: rules.signed ? stepsAt(NEGATIVE) : positive };
          // HIF4-12. Each bit that is set, -1 in its mask, is one more in the exponent.
          const bases = bits.map(({ level2, level3 }) =>
            f.let(i32x4.sub(base, i32x4.shl(i32x4.add(level2, level3), 23))),
          );
          for (const half of [0, 1]) {
            const codes = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => {
              const quad = 8 * half + k;
              return signedCodes(f, load(quad), lane(bases[quad >> 2]!, quad & 3), vectors, rules);
            });
            f.do(v128.store(i32.shl(unit, 5), packed(f, codes), CODES + 16 * half));
          }
        },
      );
    });
    f.return(left.count);
  });

/** The factors of four quads: the scale's FP32 word and one more in the exponent for each bit that is set. */
function factors(f: Body, word: Vector, scale: Vector, j: number): Local<'v128'> {
  const clear = (first: number, at: (k: number) => number): Vector => {
    const bits = i32x4.const(...FOUR_QUADS.map((k) => 1 << (first + at(4 * j + k))));
    return i32x4.eq(v128.and(word, bits), i32x4.const(0)); // -1 where the bit is not set
  };
  const clears = i32x4.add(
    clear(8, (quad) => quad >> 1),
    clear(16, (quad) => quad),
  );
  return f.let(i32x4.add(scale, i32x4.shl(clears, 23)));
}

/** HIF4-03. dequantize(blocks). */
export const hif4Dequantize = (): WasmFunction =>
  wasmFunction('dequantize', { blocks: 'i32' }, 'void', (f, { blocks }) => {
    const unit = f.let(i32.const(0));
    f.count(unit, blocks, 1, () => {
      const words = f.let(i32.shl(unit, 8));
      const scaleWord = f.let(i32.load(i32.shl(unit, 2), SCALES));
      const code = f.let(i32.and(scaleWord, 0xff));
      f.if(
        i32.eq(code, NAN_SCALE),
        () => storeNaNs(f, words, UNIT),
        () => {
          const word = f.let(i32x4.splat(scaleWord));
          // E6M2's two fraction bits are the upper two of FP32; 2 more for bits that are counted where they are clear.
          const scale = f.let(i32x4.splat(i32.add(i32.shl(code, 21), (BIAS - E6M2_BIAS + 2) * BINADE)));
          for (const half of [0, 1]) {
            const byQuad = [2 * half, 2 * half + 1].map((j) => factors(f, word, scale, j));
            const values = valuesOfCodes(f, v128.load(i32.shl(unit, 5), CODES + 16 * half), E1M2);
            storeProducts(f, words, WORDS + 128 * half, values, (k) => lane(byQuad[k >> 2]!, k & 3));
          }
        },
      );
    });
  });
