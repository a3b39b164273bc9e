/**
 * Pieces of the quantizing kernels that both formats have: maxima, signed codes of four elements, and packing.
 * Everything is an integer operation on FP32 words, whose order is that of the magnitudes; nothing is rounded here.
 * Clauses: spec/conventions.md CON-06.
 * @module
 */
import type { ZeroSign } from '../format/zero-sign.ts';
import type { Body, Local } from '../wasm/function.ts';
import { type Expr, i8x16, i16x8, i32x4, v128 } from '../wasm/instructions.ts';
import type { CodeSteps } from './wasm-steps.ts';

type Vector = Expr<'v128'>;

export const LEAST_I32 = -0x80000000;

/** A lane is above this where the word is a step or above it; a step that all reach is the least integer. */
export const beforeStep = (word: number): number => (word === 0 ? LEAST_I32 : word - 1);

/** Lane k of each pick, from eight lanes of 32 bits: those of `a`, then those of `b`. */
export const pick = (a: Vector, b: Vector, lanes: readonly number[]): Vector =>
  i8x16.shuffle(
    a,
    b,
    lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte)),
  );

export const lane = (a: Vector, k: number): Vector => pick(a, a, [k, k, k, k]);

/** The magnitudes of four words. */
export const magnitudes = (words: Vector): Vector => v128.and(words, i32x4.const(0x7fffffff));

/** The largest lane of each of two vectors, pairwise: lanes 0 and 1 of `a`, 2 and 3 of `a`, then of `b`. */
function pairMaxima(f: Body, a: Local<'v128'>, b: Local<'v128'>): Local<'v128'> {
  return f.let(i32x4.max_s(pick(a, b, [0, 2, 4, 6]), pick(a, b, [1, 3, 5, 7])));
}

/** Lane k is the largest lane of vector k. */
export function maximaOfFour(f: Body, vectors: readonly Local<'v128'>[]): Local<'v128'> {
  const [a, b, c, d] = vectors as [Local<'v128'>, Local<'v128'>, Local<'v128'>, Local<'v128'>];
  return pairMaxima(f, pairMaxima(f, a, b), pairMaxima(f, c, d));
}

/** The largest of the four lanes. */
export function largestLane(f: Body, a: Local<'v128'>): Expr<'i32'> {
  const half = f.let(i32x4.max_s(a, pick(a, a, [2, 3, 0, 1])));
  return i32x4.extract_lane(i32x4.max_s(half, pick(half, half, [1, 0, 3, 2])), 0);
}

/** The steps of a kernel as vectors, `beforeStep` in every lane; the signs differ under rules such as ceil only. */
export interface StepVectors {
  readonly positive: readonly Vector[];
  readonly negative: readonly Vector[];
}

/** What a kernel knows of its policy's elements when it is generated. */
export interface ElementRules {
  readonly zeroSign: ZeroSign;
  /** The smallest word that input rounding does not make zero. */
  readonly leastNonzero: number;
  /** Whether steps differ between the signs. */
  readonly signed: boolean;
  readonly fromNonzero: { readonly positive: boolean; readonly negative: boolean };
}

export function elementRules(
  zeroSign: ZeroSign,
  leastNonzero: number,
  steps: readonly { readonly positive: CodeSteps; readonly negative: CodeSteps }[],
): ElementRules {
  const { positive, negative } = steps[0]!;
  return {
    zeroSign,
    leastNonzero,
    signed: steps.some((s) => s.positive.words.join() !== s.negative.words.join()),
    fromNonzero: { positive: positive.fromNonzero, negative: negative.fromNonzero },
  };
}

/**
 * Signed codes of four elements, one a lane.
 * @param base 2^23 times the exponent of each element's scale
 */
export function signedCodes(
  f: Body,
  word: Local<'v128'>,
  base: Vector,
  steps: StepVectors,
  rules: ElementRules,
): Local<'v128'> {
  const magnitude = f.let(magnitudes(word));
  const distance = f.let(i32x4.sub(magnitude, base));
  const isNegative = rules.signed ? f.let(i32x4.shr_s(word, 31)) : undefined;
  const bySign = (positive: Vector, negative: Vector): Vector =>
    isNegative ? v128.bitselect(negative, positive, isNegative) : positive;
  const step = (k: number): Vector => bySign(steps.positive[k]!, steps.negative[k]!);
  const nonzero = (): Vector => i32x4.gt_s(magnitude, i32x4.const(rules.leastNonzero - 1));

  // A distance tells nothing of zero: as a word it is as far from its scale as some number is.
  const { positive, negative } = rules.fromNonzero;
  const first = i32x4.gt_s(distance, step(0));
  const least = (from: boolean): Vector => i32x4.const(from ? rules.leastNonzero - 1 : -1);
  const atLeastOne = f.let(
    positive || negative
      ? v128.and(first, i32x4.gt_s(magnitude, bySign(least(positive), least(negative))))
      : first,
  );
  let reached: Vector = atLeastOne; // a comparison that holds is -1
  for (let k = 1; k < 7; k++) reached = i32x4.add(reached, i32x4.gt_s(distance, step(k)));

  const sign = v128.and(i32x4.shr_u(word, 28), i32x4.const(8));
  const kept = {
    keep: () => sign,
    'drop-input': () => v128.and(sign, nonzero()),
    drop: () => v128.and(sign, atLeastOne),
  };
  return f.let(i32x4.sub(kept[rules.zeroSign](), reached));
}

/** Sixteen codes, a byte each, from four vectors of four. */
const bytesOf = (c: readonly Vector[]): Vector =>
  i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_u(c[0]!, c[1]!), i16x8.narrow_i32x4_u(c[2]!, c[3]!));

/** Thirty-two codes, two a byte, the even element low, from eight vectors of four. */
export function packed(f: Body, codes: readonly Vector[]): Vector {
  const pairs = (four: readonly Vector[]): Vector => {
    const bytes = f.let(bytesOf(four)); // as 16-bit lanes: even + 256 odd
    return v128.and(v128.or(bytes, i16x8.shr_u(bytes, 4)), i16x8.const(0xff));
  };
  return i8x16.narrow_i16x8_u(pairs(codes.slice(0, 4)), pairs(codes.slice(4)));
}
