/** BF16, FP16, FP32 and binary64 against the platform's own floating point. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BinaryFormat, decode, encode } from '../../src/number/binary-format.ts';
import { add, divide, exact, fromNumber, multiply } from '../../src/number/exact.ts';
import { BF16, FP16, FP32, fromBinary64, roundTo, toNumber } from '../../src/number/floats.ts';
import { numberOf } from '../block-of.ts';
import {
  bf16FromBits,
  bf16OfF32Bits,
  binade,
  bitsOfF32,
  f32FromBits,
  nearestEven,
  power,
} from '../independent/platform-floats.ts';

const words = fc.integer({ min: 0, max: 0xffffffff });
const finiteDoubles = fc.double({ noNaN: true, noDefaultInfinity: true });
const isNaNWord = (w: number): boolean => (w & 0x7fffffff) > 0x7f800000;
const ieee = (f: BinaryFormat, x: number): number => encode(f, fromBinary64(x), 'even', 'nonfinite');

/** A code and its value agree, and the value gives the code back; a NaN gives the canonical one. */
function roundTrips(f: BinaryFormat, code: number, right: number, canonicalNaN: number): string | undefined {
  const value = decode(f, code);
  const back = encode(f, value, 'even', 'nonfinite');
  const same = Object.is(numberOf(value), right) && back === (Number.isNaN(right) ? canonicalNaN : code);
  return same ? undefined : `${f.name} ${code.toString(16)}: ${numberOf(value)} ${back.toString(16)}`;
}

const all = Array.from({ length: 65536 }, (_, code) => code);

describe('decode and encode every code [NUM-04] [NUM-05] [NUM-07]', () => {
  test('BF16, all 65,536: the upper half of an FP32 word', () => {
    expect(all.map((c) => roundTrips(BF16, c, bf16FromBits(c), 0x7fc0)).filter(Boolean)).toEqual([]);
  });

  test('FP16, all 65,536: 5 exponent bits, bias 15, 10 fraction bits', () => {
    const magnitude = (m: number): number => {
      const e = m >> 10;
      if (e === 31) return m === 0x7c00 ? Infinity : Number.NaN;
      return e === 0 ? m * 2 ** -24 : (1024 + (m & 1023)) * 2 ** (e - 25);
    };
    const value = (c: number): number => (c >= 0x8000 ? -magnitude(c - 0x8000) : magnitude(c));
    expect(all.map((c) => roundTrips(FP16, c, value(c), 0x7e00)).filter(Boolean)).toEqual([]);
  });

  test('FP32, random words and every exponent with the outermost fractions', () => {
    const edges = Array.from({ length: 512 }, (_, e) =>
      [0, 1, 0x400000, 0x7fffff].map((f) => e * 2 ** 23 + f),
    ).flat();
    const same = (w: number): string | undefined => roundTrips(FP32, w, f32FromBits(w), 0x7fc00000);
    expect(edges.map(same).filter(Boolean)).toEqual([]);
    fc.assert(
      fc.property(words, (w) => {
        expect(same(w)).toBeUndefined();
      }),
      { numRuns: 10_000 },
    );
  });
});

describe('rounding to the interchange formats, half-even, overflow to infinity [NUM-05] [NUM-07]', () => {
  test('binary64 to FP32 as the platform rounds', () => {
    const nearF32 = fc
      .tuple(words, fc.integer({ min: -2, max: 2 }), fc.boolean())
      .filter(([w]) => (w & 0x7fffffff) < 0x7f800000)
      .map(([w, ulps, half]) => {
        // A word's value, or the midpoint of it and a neighbour, moved by a few units of the last place of binary64.
        const low = f32FromBits(w);
        const base = half ? (low + f32FromBits(w ^ 1)) / 2 : low;
        return base + ulps * Math.abs(base) * 2 ** -52;
      });
    fc.assert(
      fc.property(fc.oneof(finiteDoubles, nearF32), (x) => {
        expect(ieee(FP32, x)).toBe(bitsOfF32(x));
      }),
      { numRuns: 20_000 },
    );
  });

  test.each([
    [2 ** -149, 0x00000001],
    [2 ** -150, 0x00000000], // a tie with zero, which is even
    [2 ** -150 + 2 ** -200, 0x00000001],
    [-(2 ** -150), 0x80000000],
    [3 * 2 ** -150, 0x00000002],
    [2 ** 128 - 2 ** 103, 0x7f800000], // the tie above the largest finite value
    [2 ** 128 - 2 ** 103 - 2 ** 75, 0x7f7fffff],
    [2 ** -126 - 2 ** -150, 0x00800000], // a subnormal that rounds to the smallest normal number
    [-Infinity, 0xff800000],
    [Number.NaN, 0x7fc00000],
    [-0, 0x80000000],
  ])('binary64 %d to FP32', (x, right) => {
    expect(ieee(FP32, x)).toBe(right);
  });

  test('FP32 to BF16 by integer addition on the bits', () => {
    const tie = words.map((w) => (Math.floor(w / 65536) * 65536 + 0x8000) >>> 0);
    fc.assert(
      fc.property(fc.oneof(words, tie), fc.constantFrom(0, 1, -1), (word, off) => {
        const w = (word + off) >>> 0;
        fc.pre(!isNaNWord(w));
        expect(encode(BF16, decode(FP32, w), 'even', 'nonfinite')).toBe(bf16OfF32Bits(w));
      }),
      { numRuns: 20_000 },
    );
  });

  test('FP32 to FP16 by scaling to integers', () => {
    const range = fc.integer({ min: 0x32000000, max: 0x48000000 }); // 2^-27 to 2^17
    fc.assert(
      fc.property(range, fc.boolean(), (w, negative) => {
        const x = f32FromBits(w);
        const step = power(Math.max(binade(x), -14) - 10);
        const y = nearestEven(x / step) * step;
        // 65520 and above round to 65536, which FP16 does not have.
        const e = y === 0 ? -15 : binade(y);
        const code =
          y >= 65536 ? 0x7c00 : e < -14 ? y * 2 ** 24 : (e + 15) * 1024 + (y / power(e) - 1) * 1024;
        expect(ieee(FP16, negative ? -x : x)).toBe(negative ? 0x8000 + code : code);
      }),
      { numRuns: 20_000 },
    );
  });

  test('roundTo stays among the finite numbers', () => {
    expect(numberOf({ kind: 'finite', negative: false, magnitude: roundTo(BF16, exact(1, 200)) })).toBe(
      bf16FromBits(0x7f7f),
    );
    // 257 lies midway between 256 and 258, and 259 between 258 and 260.
    expect(toNumber(roundTo(BF16, exact(257)))).toBe(256);
    expect(toNumber(roundTo(BF16, exact(259)))).toBe(260);
  });
});

describe('binary64 [NUM-07]', () => {
  test('toNumber rounds exact sums, products and quotients as the platform does', () => {
    const factor = fc.oneof(
      finiteDoubles,
      fc.double({ min: 2 ** -540, max: 2 ** -530, noNaN: true }),
      fc.maxSafeInteger(),
    );
    fc.assert(
      fc.property(factor, factor, (a, b) => {
        const [x, y] = [fromNumber(a), fromNumber(b)];
        expect(toNumber(add(x, y)) + 0).toBe(a + b + 0); // + 0 makes a zero +0
        expect(toNumber(multiply(x, y)) + 0).toBe(a * b + 0);
        if (b !== 0) expect(toNumber(divide(x, y)) + 0).toBe(a / b + 0);
      }),
      { numRuns: 20_000 },
    );
  });

  test('fromBinary64 keeps the sign of zero, infinities and NaN', () => {
    for (const x of [0, -0, Infinity, -Infinity, Number.NaN, 1.5, -(2 ** -1074), Number.MAX_VALUE]) {
      expect(Object.is(numberOf(fromBinary64(x)), x)).toBe(true);
    }
  });
});
