/** MXFP4 blocks: scale rules, the range of the scale, elements, decoding. Right values worked out in the comments. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBlock, decodeElement, encodeBlock } from '../../src/format/mxfp4.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { encode } from '../../src/number/binary-format.ts';
import { FP32 } from '../../src/number/floats.ts';
import { codesOf, digits, numberOf, valuesOf } from '../block-of.ts';
import { decodeMXFP4 } from '../independent/mxfp4-by-thresholds.ts';
import { f32FromBits, hex } from '../independent/platform-floats.ts';

type Elements = Readonly<Record<number, number>>;
const encoded = (elements: Elements, overrides: Record<string, string> = {}): string => {
  const { scale, codes } = encodeBlock(valuesOf(32, elements), mxfp4Policy('ocp', overrides));
  return `${hex(scale, 2)} ${digits(codes)}`;
};
const block = (scale: string, codes: Elements): string => `${scale} ${codesOf(32, codes)}`;

const RULES = ['floor', 'ceil', 'even', 'rceil', 'nearest'] as const;

describe('scale rules on the real number amax [MX-05] [MX-06] [MX-07] [MX-08] [MX-09]', () => {
  test.each([
    // amax as an FP32 word; exponents under floor, ceil, even, rceil, nearest; log2(amax / 6) for the last two
    ['1', 0x3f800000, [-2, -2, -2, -2, -3]], // -2.58
    ['1 + 2^-23', 0x3f800001, [-2, -1, -2, -2, -3]],
    ['1.5', 0x3fc00000, [-2, -1, -2, -2, -2]], // -2 exactly
    ['1.5 + 2^-23', 0x3fc00001, [-2, -1, -2, -1, -2]],
    ['just below 1.75', 0x3fdfffff, [-2, -1, -2, -1, -2]], // -1.78
    ['1.75', 0x3fe00000, [-2, -1, -1, -1, -2]],
    ['just below 2', 0x3fffffff, [-2, -1, -1, -1, -2]], // -1.58
    ['2', 0x40000000, [-1, -1, -1, -1, -2]], // -1.58
    ['just below 1.5 sqrt 2 = 2.12132034', 0x4007c3b6, [-1, 0, -1, -1, -2]], // -1.50
    ['just above it', 0x4007c3b7, [-1, 0, -1, -1, -1]],
    ['3', 0x40400000, [-1, 0, -1, -1, -1]], // -1 exactly
    ['6', 0x40c00000, [0, 1, 0, 0, 0]], // 0 exactly
    ['7', 0x40e00000, [0, 1, 1, 1, 0]], // 0.22
    ['7.9999995', 0x40ffffff, [0, 1, 1, 1, 0]], // 0.41
    ['8', 0x41000000, [1, 1, 1, 1, 0]], // 0.42
    ['2^-149, the smallest subnormal', 0x00000001, [-151, -151, -151, -151, -152]],
    ['3 x 2^-149', 0x00000003, [-150, -149, -150, -150, -150]], // log2(0.5) - 149
    ['7 x 2^-149', 0x00000007, [-149, -148, -148, -148, -149]], // 7 = 1.75 x 4
    ['just below 2^-126', 0x007fffff, [-129, -128, -128, -128, -129]],
    ['the largest FP32', 0x7f7fffff, [125, 126, 126, 126, 125]], // 125.42
  ] as const)('amax %s', (_, word, exponents) => {
    const x = valuesOf(32, { 7: -f32FromBits(word) });
    RULES.forEach((rule, k) => {
      const { trace, scale } = encodeBlock(x, mxfp4Policy('ocp', { scale: rule }));
      expect([rule, trace!.exponent]).toEqual([rule, exponents[k]]);
      expect([rule, scale]).toEqual([rule, Math.max(0, exponents[k]! + 127)]);
    });
  });

  test('amax is the largest magnitude, wherever it stands and whatever its sign [MX-04]', () => {
    for (let i = 0; i < 32; i++) {
      expect(encoded({ ...(i === 0 ? {} : { 0: 1 }), [i]: -4 })).toBe(
        block('7f', { ...(i === 0 ? {} : { 0: 2 }), [i]: 14 }),
      );
    }
  });
});

describe('range of the scale [MX-10] [MX-11]', () => {
  test('clamped to 00 below 2^-125; wrapped, the low 8 bits', () => {
    // floor: 2^-124 has exponent -126, byte 01; 2^-125 byte 00; below, the elements shrink: 2^-127 is code 2 (1.0).
    expect(encoded({ 0: 2 ** -124 })).toBe(block('01', { 0: 6 }));
    expect(encoded({ 0: 2 ** -125 })).toBe(block('00', { 0: 6 }));
    expect(encoded({ 0: 2 ** -127 })).toBe(block('00', { 0: 2 }));
    // 2^-129 is a quarter of the scale, a tie of 0 and 0.5; 3 x 2^-129 a tie of 0.5 and 1.
    expect(encoded({ 0: 2 ** -129, 1: -(2 ** -129) })).toBe(block('00', { 1: 8 }));
    expect(encoded({ 0: 3 * 2 ** -129 })).toBe(block('00', { 0: 2 }));
    // 2^-126: exponent -128, byte -1 is ff, a NaN block; 2^-127: fe, 2^127, and the code is 0.
    expect(encoded({ 0: 2 ** -126 }, { 'scale-range': 'wrap' })).toBe(block('ff', {}));
    expect(encoded({ 0: 2 ** -127 }, { 'scale-range': 'wrap' })).toBe(block('fe', {}));
    expect(encoded({ 0: 2 ** -149 }, { 'scale-range': 'wrap' })).toBe(block('e8', {})); // -151 + 127 = -24
  });

  test('scale-min=01 for blocks that are not all zero', () => {
    // 2^-125 over 2^-126 is 2.
    expect(encoded({ 0: 2 ** -125 }, { 'scale-min': '01' })).toBe(block('01', { 0: 4 }));
    expect(encoded({}, { 'scale-min': '01' })).toBe(block('00', {}));
  });

  test('even-range=f32: from 1.75 x 2^127 on a NaN block [MX-07]', () => {
    const even = { scale: 'even', 'even-range': 'f32' };
    // 7f5fffff is just below 1.75 x 2^127: exponent 125, 7 saturates. 7f600000 has exponent 126: 3.5, a tie, to 4.
    expect(encoded({ 0: f32FromBits(0x7f5fffff) }, even)).toBe(block('fc', { 0: 7 }));
    expect(encoded({ 0: f32FromBits(0x7f600000) }, even)).toBe(block('ff', {}));
    expect(encoded({ 0: f32FromBits(0x7f600000) }, { scale: 'even' })).toBe(block('fd', { 0: 6 }));
  });

  test('all-zero blocks: 00 or 7f, with the signs of the zeros', () => {
    const minusZeros = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [i, -0]));
    for (const rule of RULES) {
      expect(encoded({}, { scale: rule })).toBe(block('00', {}));
      expect(encoded({}, { scale: rule, 'zero-scale': '7f' })).toBe(block('7f', {}));
      expect(encoded({}, { scale: rule, 'scale-range': 'wrap' })).toBe(block('00', {}));
    }
    expect(encoded(minusZeros)).toBe(`00 ${'8'.repeat(32)}`);
    expect(encoded({ 3: -0 })).toBe(block('00', { 3: 8 }));
    expect(encoded(minusZeros, { 'zero-sign': 'drop' })).toBe(block('00', {}));
    expect(encoded(minusZeros, { 'zero-sign': 'drop-input' })).toBe(block('00', {}));
  });

  test('the trace of an all-zero block has exponent -127 [MX-16]', () => {
    expect(encodeBlock(valuesOf(32, {}), mxfp4Policy()).trace!.exponent).toBe(-127);
  });
});

describe('elements [MX-12] [CON-06]', () => {
  test('midpoints and their neighbours at scale 1, half-even', () => {
    const next = (x: number): number => Math.fround(x * (1 + 2 ** -23));
    const middles = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5];
    const up = [1, 2, 3, 4, 5, 6, 7];
    const x = (values: readonly number[]): Elements => ({ ...values, 31: 4 });
    expect(encoded(x(middles))).toBe(block('7f', { ...[0, 2, 2, 4, 4, 6, 6], 31: 6 }));
    expect(encoded(x(middles.map(next)))).toBe(block('7f', { ...up, 31: 6 }));
    expect(encoded(x(middles.map((m) => -m)))).toBe(block('7f', { ...[8, 10, 10, 12, 12, 14, 14], 31: 6 }));
  });

  test('beyond 6 they saturate, under every rule for ties', () => {
    for (const ties of ['even', 'away', 'zero', 'up', 'truncate', 'ceil', 'floor', 'odd']) {
      expect(encoded({ 0: 7.5, 1: -7.5 }, { ties })).toBe(block('7f', { 0: 7, 1: 15 }));
    }
  });

  test.each([
    ['keep', { 0: 6, 1: 8, 2: 8 }],
    ['drop-input', { 0: 6, 1: 0, 2: 8 }],
    ['drop', { 0: 6, 1: 0, 2: 0 }],
  ])('zero-sign=%s: -0, and -0.125 which underflows', (rule, codes) => {
    expect(encoded({ 0: 4, 1: -0, 2: -0.125 }, { 'zero-sign': rule })).toBe(block('7f', codes));
  });

  test('encoded again, byte 7f with code 1 alone is 7c with code 6: the same values', () => {
    const values = decodeBlock(0x7f, [1, ...Array(31).fill(0)]);
    const { scale, codes } = encodeBlock(values, mxfp4Policy());
    expect(`${hex(scale, 2)} ${digits(codes)}`).toBe(block('7c', { 0: 6 }));
    expect(decodeBlock(scale, codes).map(numberOf)).toEqual(values.map(numberOf));
  });
});

describe('decoding [MX-02] [MX-13]', () => {
  const f32 = (scale: number, code: number): string =>
    hex(encode(FP32, decodeElement(scale, code), 'even', 'nonfinite'), 8);

  test('every code at every scale as an independent decoder gives', () => {
    const codes = Array.from({ length: 32 }, (_, i) => i % 16);
    for (let scale = 0; scale < 255; scale++) {
      expect(decodeBlock(scale, codes).map(numberOf)).toEqual(decodeMXFP4(scale, codes));
    }
  });

  test.each([
    [0x7f, 0x2, '3f800000'],
    [0x7f, 0x8, '80000000'],
    [0x00, 0x2, '00400000'], // 2^-127, a subnormal of FP32
    [0x00, 0x1, '00200000'],
    [0x00, 0xf, '81400000'], // -6 x 2^-127 = -1.5 x 2^-125
    [0xfe, 0x2, '7f000000'], // 2^127
    [0xfe, 0x3, '7f400000'],
    [0xfe, 0x4, '7f800000'], // 2^128 and beyond: infinity
    [0xfe, 0x7, '7f800000'], // 6 x 2^127
    [0xfe, 0xf, 'ff800000'],
    [0xfd, 0x5, '7f400000'], // 3 x 2^126 = 1.5 x 2^127
    [0xfd, 0x7, '7f800000'],
    [0xfe, 0x0, '00000000'],
    [0xff, 0x0, '7fc00000'],
    [0xff, 0xf, '7fc00000'],
  ])('scale %i, code %i is FP32 %s', (scale, code, right) => {
    expect(f32(scale, code)).toBe(right);
  });

  test('random blocks keep their values when encoded with a scale that fits', () => {
    // floor puts amax in [4, 8) scales: a block with code 6 or 7 gets its own scale back, and its own codes.
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 254 }),
        fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 31, maxLength: 31 }),
        fc.constantFrom(6, 7, 14, 15),
        (scale, codes, top) => {
          fc.pre(scale < 253); // beyond, values exceed FP32
          const all = [...codes, top];
          const again = encodeBlock(decodeBlock(scale, all), mxfp4Policy());
          expect(`${hex(again.scale, 2)} ${digits(again.codes)}`).toBe(`${hex(scale, 2)} ${digits(all)}`);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

test('a block of another length is refused [MX-01]', () => {
  expect(() => encodeBlock(valuesOf(64, {}), mxfp4Policy())).toThrow(RangeError);
});
