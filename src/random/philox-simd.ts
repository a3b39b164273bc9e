/**
 * Philox4x32-10 for four consecutive elements at a time, as a WebAssembly kernel: what the families need of each element's two
 * blocks. Measured: the blocks of an element take an eighth of the time of src/random/philox.ts. Clauses: spec/random.md RND-01.
 * @module
 */
import { type Instance, instantiate } from '../wasm/engine.ts';
import { type Body, type Local, wasmFunction } from '../wasm/function.ts';
import { i8x16, i32, i32x4, i64x2, v128 } from '../wasm/instructions.ts';
import { assemble } from '../wasm/module.ts';
import { MULTIPLIER_0, MULTIPLIER_1, ROUNDS, WEYL_0, WEYL_1 } from './philox.ts';

/** Elements of one call at most, a multiple of 4. */
export const CHUNK = 2 ** 12;

/** Where the kernel leaves the i32 of each element: the sum of twelve halves, a0, b2. */
const SUMS = 0;
const FIRST = SUMS + 4 * CHUNK;
const THIRD = FIRST + 4 * CHUNK;

type Vector = Local<'v128'>;
/** The four counter words of four elements. */
type Counter = readonly [Vector, Vector, Vector, Vector];

/** The odd 32-bit lanes of two vectors of 64-bit lanes: the upper halves of four products. */
const UPPER_HALVES = [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31];

const multiplyHigh = (a: Vector, b: Vector) =>
  i8x16.shuffle(i64x2.extmul_low_i32x4_u(a, b), i64x2.extmul_high_i32x4_u(a, b), UPPER_HALVES);

/** One round of one counter under the round's keys. */
function round(
  f: Body,
  [c0, c1, c2, c3]: Counter,
  multipliers: readonly [Vector, Vector],
  keys: readonly [Vector, Vector],
): void {
  const high0 = f.let(multiplyHigh(c0, multipliers[0]));
  const low0 = f.let(i32x4.mul(c0, multipliers[0]));
  const next0 = v128.xor(v128.xor(multiplyHigh(c2, multipliers[1]), c1), keys[0]);
  const low1 = f.let(i32x4.mul(c2, multipliers[1]));
  f.set(c0, next0);
  f.set(c1, low1);
  f.set(c2, v128.xor(v128.xor(high0, c3), keys[1]));
  f.set(c3, low0);
}

const drawFour = wasmFunction(
  'draw',
  { count: 'i32', first: 'i32', upper: 'i32', family: 'i32', use: 'i32', key0: 'i32', key1: 'i32' },
  'void',
  (f, { count, first, upper, family, use, key0, key1 }) => {
    const multipliers = [
      f.let(i32x4.splat(i32.const(MULTIPLIER_0))),
      f.let(i32x4.splat(i32.const(MULTIPLIER_1))),
    ] as const;
    const keys = [f.let(i32x4.splat(key0)), f.let(i32x4.splat(key1))] as const;
    const counter = (word3: Local<'i32'>): Counter => [
      f.let(i32x4.splat(first)),
      f.let(i32x4.splat(upper)),
      f.let(i32x4.splat(family)),
      f.let(i32x4.splat(word3)),
    ];
    const otherUse = f.let(i32.add(use, 1));
    const a = counter(use);
    const b = counter(otherUse);
    const turn = f.let(i32.const(0));
    const j = f.let(i32.const(0));
    const at = f.let(i32.const(0));
    f.count(j, count, 4, () => {
      for (const [c, word3] of [
        [a, use],
        [b, otherUse],
      ] as const) {
        f.set(c[0], i32x4.add(i32x4.splat(i32.add(first, j)), i32x4.const(0, 1, 2, 3)));
        f.set(c[1], i32x4.splat(upper));
        f.set(c[2], i32x4.splat(family));
        f.set(c[3], i32x4.splat(word3));
      }
      f.set(keys[0], i32x4.splat(key0));
      f.set(keys[1], i32x4.splat(key1));
      f.set(turn, 0);
      f.count(turn, ROUNDS, 1, () => {
        round(f, a, multipliers, keys);
        round(f, b, multipliers, keys);
        f.set(keys[0], i32x4.add(keys[0], i32x4.const(WEYL_0)));
        f.set(keys[1], i32x4.add(keys[1], i32x4.const(WEYL_1)));
      });
      const halves = [...a, b[0], b[1]].map((word) => i32x4.extadd_pairwise_i16x8_u(word));
      f.set(at, i32.shl(j, 2));
      f.do(
        v128.store(
          at,
          halves.reduce((sum, half) => i32x4.add(sum, half)),
          SUMS,
        ),
      );
      f.do(v128.store(at, a[0], FIRST));
      f.do(v128.store(at, b[2], THIRD));
    });
  },
);

/** What the families need of consecutive elements; valid until the next call. */
export interface Drawn {
  /** RND-05. The sums of the twelve halves a0..a3, b0, b1. */
  readonly sums: Int32Array;
  readonly a0: Uint32Array;
  readonly b2: Uint32Array;
}

/** Takes the key, the first index by its two words, the family, the use, and how many. */
export type Draw = (
  key0: number,
  key1: number,
  first: number,
  upper: number,
  family: number,
  use: number,
  count: number,
) => Drawn;

function made(instance: Instance | undefined): Draw | undefined {
  if (instance === undefined || !littleEndian) return undefined;
  const drawn: Drawn = {
    sums: new Int32Array(instance.memory, SUMS, CHUNK),
    a0: new Uint32Array(instance.memory, FIRST, CHUNK),
    b2: new Uint32Array(instance.memory, THIRD, CHUNK),
  };
  const { draw } = instance.functions;
  return (key0, key1, first, upper, family, use, count) => {
    draw!(count, first, upper, family, use, key0, key1);
    return drawn;
  };
}

const littleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
let kept: { readonly draw: Draw | undefined } | undefined;

/**
 * RND-01. The draws of elements first, first + 1, ...; undefined where the engine has no SIMD.
 * The draw takes the key, the index of the first element by its two words, the family, the use and how many; the lower word
 * must not overflow, and `count` is at most CHUNK.
 */
export function simdDraw(): Draw | undefined {
  kept ??= { draw: made(instantiate(assemble([drawFour]), 1)) };
  return kept.draw;
}
