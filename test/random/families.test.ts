/** Input families: the library against a twin that shares no code with it, and properties of each. */
import { describe, expect, test } from 'vitest';
import { FAMILIES, type Family, familyByName, fillFamily } from '../../src/random/families.ts';
import { twinElement, twinPhilox } from './twin.ts';

const names = Object.keys(FAMILIES) as Family[];
/** No divisor of 64, so that channels and groups differ. */
const CHANNELS = 387;
const draw = (family: Family, type: 'bf16' | 'f32', first: number, count: number, seed = 7n, operand = 0) => {
  const out = new Uint32Array(count);
  fillFamily({ family, seed, operand, type, channels: CHANNELS }, first, out);
  return out;
};

describe.each(names)('family %s', (family) => {
  test.each([
    ['bf16', 7],
    ['f32', 23],
  ] as const)(
    '%s: equal to the twin [RND-02, RND-04, RND-05, RND-06, RND-07, RND-08, RND-09, RND-10]',
    (type, fraction) => {
      const number = FAMILIES[family];
      for (const [seed, operand, first] of [
        [0n, 0, 0],
        [0xfedcba9876543210n, 1, 2 ** 32 - 70],
        [1n << 63n, 3, 2 ** 40],
      ] as const) {
        const found = draw(family, type, first, 300, seed, operand);
        const expected = Array.from(found, (_, j) =>
          twinElement({ family: number, seed, operand, fraction, channels: CHANNELS }, first + j),
        );
        expect([...found]).toEqual(expected);
      }
    },
  );

  test('drawn by thousands or by dozens, across 2^32 too [RND-01, RND-02]', () => {
    for (const [first, count] of [
      [2 ** 32 - 4099, 9001],
      [17, 4097],
    ] as const) {
      const whole = draw(family, 'f32', first, count, 99n, 2);
      for (let at = 0; at < count; at += 60) {
        const few = draw(family, 'f32', first + at, Math.min(60, count - at), 99n, 2);
        expect(whole.subarray(at, at + 60)).toEqual(few);
      }
    }
  });

  test('an element depends on its index alone [RND-02]', () => {
    const whole = draw(family, 'bf16', 0, 1000);
    for (const first of [1, 63, 64, 500])
      expect([...draw(family, 'bf16', first, 100)]).toEqual([...whole.slice(first, first + 100)]);
  });
});

test('ladder: exponents at the ends of BF16 and FP32, subnormals and overflow included [RND-06]', () => {
  for (const [low, high] of [
    [-170, -120],
    [100, 130],
    [3, 3],
  ] as const) {
    for (const [type, fraction] of [
      ['bf16', 7],
      ['f32', 23],
    ] as const) {
      const out = new Uint32Array(2000);
      fillFamily({ family: 'ladder', seed: 5n, operand: 0, type, channels: 64, range: [low, high] }, 0, out);
      const expected = Array.from(out, (_, i) =>
        twinElement({ family: 3, seed: 5n, operand: 0, fraction, channels: 64, low, high }, i),
      );
      expect([...out]).toEqual(expected);
    }
  }
});

test('an input that is no float takes low bits; the counter keeps the family asked for [RND-04]', () => {
  const codes = new Uint32Array(64);
  fillFamily({ family: 'gauss', seed: 9n, operand: 1, type: { bits: 4 }, channels: 64 }, 128, codes);
  const expected = Array.from(codes, (_, j) =>
    Number(twinPhilox(9n, [BigInt(128 + j), 0n, 2n, 16n])[0]! & 15n),
  );
  expect([...codes]).toEqual(expected);
});

test('bits never draws a NaN or an infinity; bits-any does [RND-04]', () => {
  const infinite = (w: number): boolean => (w & 0x7f80) === 0x7f80;
  expect([...draw('bits', 'bf16', 0, 20_000)].some(infinite)).toBe(false);
  expect([...draw('bits-any', 'bf16', 0, 20_000)].some(infinite)).toBe(true);
});

test('a family that does not exist [RND-03]', () => {
  expect(() => familyByName('gaus')).toThrow(/unknown family "gaus"; did you mean "gauss"\?/);
});
