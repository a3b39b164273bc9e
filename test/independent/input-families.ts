/**
 * Inputs of the tests that compare encoders: seeded families of FP32 numbers, each after a kind of trouble.
 * @module
 */
import { bitsOfF32, f32FromBits, power } from './platform-floats.ts';

/** A 32-bit generator (mulberry32): the same seed gives the same numbers on every platform. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** Below n. */
const draw = (random: () => number, n: number): number => random() % n;

/** Close to a Gaussian of sigma 1: twelve uniforms summed, so that no transcendental function is involved. */
function gaussian(random: () => number): number {
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += random() / 2 ** 32;
  return sum - 6;
}

const signed = (random: () => number, x: number): number => (random() & 1 ? -x : x);

/** `count` numbers; none is infinite or a NaN, in BF16 either. */
export type Family = (random: () => number, count: number) => number[];

const each = (one: (random: () => number) => number): Family => {
  return (random, count) => Array.from({ length: count }, () => Math.fround(one(random)));
};

/** FP32 words below 7f7f8000, which BF16 would round to an infinity. */
const anyWord = (random: () => number): number => signed(random, f32FromBits(draw(random, 0x7f7f8000)));

export const FAMILIES: Readonly<Record<string, Family>> = {
  /** One scale a block, from 2^-140 to 2^120. */
  gaussian: (random, count) => {
    const scale = power(draw(random, 261) - 140);
    return each((r) => gaussian(r) * scale)(random, count);
  },
  /** As in trained tensors. */
  unit: each((r) => gaussian(r)),
  /** Forty binades in one block. */
  wide: (random, count) => {
    const scale = draw(random, 160) - 120;
    return each((r) => gaussian(r) * power(scale + draw(r, 40)))(random, count);
  },
  anyWord: each(anyWord),
  /** Multiples of 1/8 up to 7 at one power of two, sometimes moved by one FP32 step. */
  ties: (random, count) => {
    const scale = power(draw(random, 200) - 100);
    return each((r) => {
      const bits = bitsOfF32((draw(r, 57) / 8) * scale);
      const moved = bits === 0 ? 0 : bits + draw(r, 3) - 1;
      return signed(r, f32FromBits(draw(r, 2) ? bits : moved));
    })(random, count);
  },
  /** The maximum is a power of two times 1, 1.5, 1.75, 7/4, or next to it: every scale rule changes there. */
  scaleEdges: (random, count) => {
    const edge = bitsOfF32([1, 1.5, 1.75, 0.9375, 1.125, 7, 49, 1.96875][draw(random, 8)]! * 2 ** 4);
    const top = f32FromBits(edge + draw(random, 3) - 1) * power(draw(random, 230) - 120);
    const rest = each((r) => (top * (draw(r, 2 ** 16) - 2 ** 15)) / 2 ** 15)(random, count);
    rest[draw(random, count)] = Math.fround(signed(random, top));
    return rest;
  },
  /** BF16 subnormals and what surrounds them. */
  subnormals: each((r) => signed(r, f32FromBits(draw(r, 2) ? draw(r, 0x01800000) : draw(r, 128) * 65536))),
  /** Top binades. */
  extremes: each((r) => signed(r, f32FromBits(0x7f7f7fff - draw(r, 0x01800000)))),
  /** Mostly zeros of both signs. */
  zeros: each((r) => (draw(r, 4) === 0 ? anyWord(r) : signed(r, 0))),
};
