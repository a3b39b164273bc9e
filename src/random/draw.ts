/**
 * What the input families need of consecutive elements, four at a time where the engine has SIMD, else one by one.
 * Clauses: spec/random.md RND-02, RND-05.
 * @module
 */
import { philoxPair } from './philox.ts';
import { CHUNK, type Draw, type Drawn, simdDraw } from './philox-simd.ts';

/** Below this a call draws one by one, and no kernel is made. */
const FEW = 256;

/** How many elements from `start` on can be drawn at once: the lower word of an index must not overflow. */
export const chunkFrom = (start: number, wanted: number): number =>
  Math.min(wanted, CHUNK, 2 ** 32 - (start % 2 ** 32));

const sums = new Int32Array(CHUNK);
const a0 = new Uint32Array(CHUNK);
const b2 = new Uint32Array(CHUNK);
const a = new Uint32Array(4);
const b = new Uint32Array(4);

const halves = (word: number): number => (word & 0xffff) + (word >>> 16);

const drawSingly: Draw = (key0, key1, first, upper, family, use, count) => {
  for (let j = 0; j < count; j++) {
    philoxPair(key0, key1, first + j, upper, family, use, use + 1, a, b);
    sums[j] = halves(a[0]!) + halves(a[1]!) + halves(a[2]!) + halves(a[3]!) + halves(b[0]!) + halves(b[1]!);
    a0[j] = a[0]!;
    b2[j] = b[2]!;
  }
  return { sums, a0, b2 };
};

/**
 * RND-02. The draws of `count` elements from `start` on, as many as chunkFrom allows; valid until the next call.
 * @param use 16 times the operand
 */
export function drawElements(
  key0: number,
  key1: number,
  start: number,
  family: number,
  use: number,
  count: number,
): Drawn {
  const draw = (count >= FEW ? simdDraw() : undefined) ?? drawSingly;
  return draw(key0, key1, start % 2 ** 32, Math.floor(start / 2 ** 32), family, use, count);
}
