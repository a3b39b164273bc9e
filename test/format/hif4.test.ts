/** HiF4 units: worked examples, level thresholds, clamp and wrap, the word's fields. Right values worked out in the comments. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeElement,
  decodeUnit,
  encodeUnit,
  packScaleWord,
  unpackScaleWord,
} from '../../src/format/hif4.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { encode } from '../../src/number/binary-format.ts';
import { FP32 } from '../../src/number/floats.ts';
import { codesOf, digits, numberOf, valuesOf } from '../block-of.ts';
import { decodeHiF4 } from '../independent/hif4-by-thresholds.ts';
import { bf16FromBits, hex } from '../independent/platform-floats.ts';

type Elements = Readonly<Record<number, number>>;
const encoded = (elements: Elements, overrides: Record<string, string> = {}, profile = 'authors') => {
  const { word, codes } = encodeUnit(valuesOf(64, elements), hif4Policy(profile, overrides));
  return { word: hex(word, 8), codes: digits(codes) };
};
const unit = (word: string, codes: Elements) => ({ word, codes: codesOf(64, codes) });

describe('worked examples [HIF4-05]', () => {
  test('12.25 and 7: the BF16 reciprocal keeps the second octet below 4 [HIF4-06] [HIF4-08] [HIF4-10]', () => {
    // SF = bf16(12.25 x 73/512) = bf16(1.74658) = 224/128 = 1.75 = c3. REC = 3f12 = 0.5703125.
    // Octet 0: 12.25 REC = 6.986 >= 4, halved 3.493 >= 2: both bits. 1.7466 -> 7 quarters.
    // Octet 1: 7 REC = 3.9921875 < 4; quad 2: >= 2. 1.99609 -> saturated at 7 quarters.
    expect(encoded({ 0: 12.25, 8: 7 })).toEqual(unit('000501c3', { 0: 7, 8: 7 }));
    expect(numberOf(decodeElement(0x000501c3, 7, 8))).toBe(6.125); // 1.75 x 2 x 1.75
    expect(numberOf(decodeElement(0x000501c3, 7, 0))).toBe(12.25);
    // With the exact reciprocal 7 / 1.75 = 4 reaches the threshold: both bits, 1.0, decoded to 7.
    expect(encoded({ 0: 12.25, 8: 7 }, { reciprocal: 'exact' })).toEqual(unit('000503c3', { 0: 7, 8: 4 }));
    expect(numberOf(decodeElement(0x000503c3, 4, 8))).toBe(7);
  });

  test.each([
    // Vmax, SF = bf16(Vmax x 73/512) in units of its last place, then half-even to E6M2
    [7.875, '1.12280 x 128 = 143.72 -> 144: 1.125, a tie of 1 and 1.25'],
    [6.5625, '0.93567 x 256 = 239.53 -> 240: 0.9375, a tie of 0.875 and 1'],
    [7.90625, '1.12726 x 128 = 144.29 -> 144: 1.125 again'],
  ])('Vmax %d gives scale 1.0: %s [HIF4-06] [HIF4-07]', (vmax) => {
    // Both bits, then 1.97, 1.64, 1.98: 7 quarters (saturated), 7 (6.56 rounded), 7.
    expect(encoded({ 0: vmax })).toEqual(unit('000101c0', { 0: 7 }));
  });

  test('0.125 and 0.625 at scale 1: half-away 0.25 and 0.75, half-even 0 and 0.5 [HIF4-12]', () => {
    // 7 in octet 0 sets the scale: SF = 7 x 73/512 = 0.998 -> 255.5/256, a tie to 256/256 = 1.
    const x = { 0: 7, 8: 0.125, 9: 0.625, 10: -0.125, 11: -0.625 };
    expect(encoded(x)).toEqual(unit('000101c0', { 0: 7, 8: 1, 9: 3, 10: 9, 11: 11 }));
    expect(encoded(x, { ties: 'even' })).toEqual(unit('000101c0', { 0: 7, 8: 0, 9: 2, 10: 8, 11: 10 }));
  });

  test('BF16 3e60 at scale 1.75 gives code 0, an exact quotient 1 [HIF4-08]', () => {
    const x = bf16FromBits(0x3e60); // 0.21875: x 0.5703125 = 0.12476 < 1/8; / 1.75 = 1/8 exactly, half-away 1/4
    expect(encoded({ 0: 12.25, 8: x })).toEqual(unit('000101c3', { 0: 7, 8: 0 }));
    expect(encoded({ 0: 12.25, 8: x }, { reciprocal: 'exact' })).toEqual(unit('000101c3', { 0: 7, 8: 1 }));
  });

  test('the trace shows every stage of the first example [HIF4-16]', () => {
    const { trace } = encodeUnit(valuesOf(64, { 0: 12.25, 8: -7 }), hif4Policy());
    const of = (x: { significand: bigint; divisor: bigint; exponent: number }): number =>
      numberOf({ kind: 'finite', negative: false, magnitude: x });
    expect(trace!.max4.map(of)).toEqual([12.25, 0, 7, ...Array(13).fill(0)]);
    expect(trace!.max8.map(of)).toEqual([12.25, 7, ...Array(6).fill(0)]);
    expect([of(trace!.max64), of(trace!.sf), trace!.e6m2, of(trace!.rcp)]).toEqual([
      12.25, 1.75, 0xc3, 0.5703125,
    ]);
    expect([trace!.e1_8, trace!.e1_16]).toEqual([0b1, 0b101]);
    expect([of(trace!.scaled[0]!.magnitude), of(trace!.scaled[8]!.magnitude)]).toEqual([
      12.25 * 0.142578125,
      1.99609375,
    ]);
    expect(trace!.scaled[8]!.negative).toBe(true);
  });
});

describe('level bits at their thresholds, at scale 1 [HIF4-10] [HIF4-11]', () => {
  test.each([
    // elements beside x56 = 7, which sets scale 1 and bits 7 and 14
    ['exactly 4 reaches level 2, halved exactly 2 level 3', { 0: 4 }, 0x0001, 0x01, { 0: 4 }],
    // The largest BF16 below 4 is 3.984375: level 3 alone, 1.992 saturates.
    ['just below 4 does not', { 0: 3.984375 }, 0x0001, 0x00, { 0: 7 }],
    ['exactly 2 reaches level 3', { 0: 2 }, 0x0001, 0x00, { 0: 4 }],
    ['just below 2 does not', { 0: 1.9921875 }, 0x0000, 0x00, { 0: 7 }],
    // Octet 0 has its bit by x0 = 5; quad 1's 3 becomes 1.5 < 2: no level-3 bit, 1.5 = 6 quarters. 5/4 = 1.25.
    ['level 3 looks at the halved product', { 0: 5, 4: 3 }, 0x0001, 0x01, { 0: 5, 4: 6 }],
    ['and reaches 2 from 4 there', { 0: 5, 4: 4 }, 0x0003, 0x01, { 0: 5, 4: 4 }],
    ['negative elements count by magnitude', { 0: -4 }, 0x0001, 0x01, { 0: 12 }],
  ] as const)('%s', (_, elements, level3, level2, codes) => {
    const word = 0x400080c0 + level3 * 65536 + level2 * 256;
    expect(encoded({ ...elements, 56: 7 })).toEqual(unit(hex(word, 8), { ...codes, 56: 7 }));
  });

  test('each bit covers consecutive elements: 8k to 8k + 7, 4k to 4k + 3 [HIF4-02]', () => {
    for (let q = 0; q < 64; q++) {
      const { word, codes } = encodeUnit(valuesOf(64, { [q]: 7 }), hif4Policy());
      expect(hex(word, 8)).toBe(hex(2 ** (16 + Math.floor(q / 4)) + 2 ** (8 + Math.floor(q / 8)) + 0xc0, 8));
      expect(digits(codes)).toBe(codesOf(64, { [q]: 7 }));
    }
  });
});

describe('scales out of range [HIF4-07]', () => {
  test('above: clamped to fe, elements saturate at 344064; wrapped, the low 8 bits', () => {
    // 2^19: SF = 73/512 x 2^19 = 1.140625 x 2^16, above the tie 1.125: 1.25 x 2^16 is index 4 (16 + 48) + 1 = 257.
    expect(encoded({ 0: 2 ** 19 })).toEqual(unit('000101fe', { 0: 7 }));
    expect(numberOf(decodeElement(0x000101fe, 7, 0))).toBe(344064);
    // Under scale 01 = 1.25 x 2^-48 the element saturates as well.
    expect(encoded({ 0: 2 ** 19 }, { 'e6m2-range': 'wrap' })).toEqual(unit('00010101', { 0: 7 }));
    // 1.75 x 2^15 is index 255: ff, a NaN unit. 401408 x 73/512 = 57232 -> bf16 57344 = 1.75 x 2^15.
    expect(encoded({ 0: 401408 })).toEqual(unit('000101fe', { 0: 7 }));
    expect(encoded({ 0: 401408 }, { 'e6m2-range': 'wrap' })).toEqual(unit('000000ff', {}));
  });

  test('below: clamped to 00, elements shrink; wrapped, a large scale and zeros', () => {
    // 2^-60: SF = 1.140625 x 2^-63 -> 1.25 x 2^-63, index 4 (-63 + 48) + 1 = -59, low 8 bits 197 = c5.
    expect(encoded({ 0: 2 ** -60 })).toEqual(unit('00000000', {}));
    expect(encoded({ 0: 2 ** -60 }, { 'e6m2-range': 'wrap' })).toEqual(unit('000000c5', {}));
    // 2^-48 is code 4 (1.0) at scale 00; 2^-51 is a tie of 0 and 1 quarter.
    expect(encoded({ 0: 2 ** -48, 1: -(2 ** -51) })).toEqual(unit('00000000', { 0: 4, 1: 9 }));
    // 2^-46: SF = 73/512 x 2^-46 = 1.140625 x 2^-49, below the range; level bits as ever: 4 x 2^-48.
    expect(encoded({ 0: 2 ** -46 })).toEqual(unit('00010100', { 0: 4 }));
  });

  test('an SF that BF16 rounds to zero: the smallest BF16 subnormal', () => {
    expect(encoded({ 0: 2 ** -133 })).toEqual(unit('00000000', {}));
    expect(encoded({ 0: 2 ** -133 }, { 'e6m2-range': 'wrap' })).toEqual(unit('00000000', {}));
  });

  test('the range ends: 7 x 49152 and 2^-48 x 7', () => {
    // 344064 = 1.3125 x 2^18: SF = 1.3125 x 1.140625 x 2^15 = 1.49707 -> bf16 191.625 -> 192/128 = 1.5: fe, not clamped.
    // REC of fe = 3f2b / 2^15 (0.66796875): 7.0137 / 4 = 1.7534 -> 7.
    expect(encoded({ 0: 344064 })).toEqual(unit('000101fe', { 0: 7 }));
    expect(encoded({ 0: 344064 }, { 'e6m2-range': 'wrap' })).toEqual(unit('000101fe', { 0: 7 }));
    expect(encoded({ 0: 7 * 2 ** -48 })).toEqual(unit('00010100', { 0: 7 }));
  });
});

describe('all-zero units [HIF4-14] [CON-06]', () => {
  const minusZeros = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [i, -0]));
  test.each(['clamp', 'wrap'])('%s', (range) => {
    const overrides = { 'e6m2-range': range };
    expect(encoded({}, overrides)).toEqual(unit('00000000', {}));
    expect(encoded(minusZeros, overrides)).toEqual({ word: '00000000', codes: '8'.repeat(64) });
    expect(encoded({ 5: -0 }, overrides)).toEqual(unit('00000000', { 5: 8 }));
    for (const rule of ['drop', 'drop-input']) {
      expect(encoded(minusZeros, { ...overrides, 'zero-sign': rule })).toEqual(unit('00000000', {}));
    }
  });

  test('quads and octets of zeros have exponent bits 0', () => {
    expect(encoded({ 17: 7 })).toEqual(unit('001004c0', { 17: 7 }));
  });
});

describe('sign of zero [CON-06]', () => {
  // At scale 1: -0 in, and -0.0625, a quarter of a quarter, which underflows under every rule to the nearest.
  test.each([
    ['keep', { 0: 7, 8: 8, 9: 8 }],
    ['drop-input', { 0: 7, 8: 0, 9: 8 }],
    ['drop', { 0: 7, 8: 0, 9: 0 }],
  ])('%s', (rule, codes) => {
    expect(encoded({ 0: 7, 8: -0, 9: -0.0625 }, { 'zero-sign': rule })).toEqual(unit('000101c0', codes));
  });
});

describe('decoding [HIF4-03] [HIF4-13]', () => {
  const f32 = (word: number, codes: readonly number[]): string[] =>
    decodeUnit(word, codes).map((v) => hex(encode(FP32, v, 'even', 'nonfinite'), 8));

  test('every code, with both exponent bits, at scale 1', () => {
    const codes = Array.from({ length: 64 }, (_, q) => q % 16);
    const found = decodeUnit(0xf05a0fc0, codes).map(numberOf);
    const level3 = [0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1]; // of f05a, low bit first
    const level2 = [1, 1, 1, 1, 0, 0, 0, 0]; // of 0f
    const right = codes.map((code, q) => {
      const magnitude = ((code % 8) / 4) * 2 ** (level2[q >> 3]! + level3[q >> 2]!);
      return code < 8 ? magnitude : -magnitude;
    });
    expect(found).toEqual(right);
  });

  test('random words and codes as an independent decoder gives', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 0xffffffff }).filter((w) => w % 256 !== 255),
        fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 64, maxLength: 64 }),
        (word, codes) => {
          expect(decodeUnit(word, codes).map(numberOf)).toEqual(decodeHiF4(word, codes));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('scale ff makes all 64 values NaN, whatever the bits and codes', () => {
    const codes = Array.from({ length: 64 }, (_, q) => q % 16);
    expect(f32(0x000000ff, codes)).toEqual(Array(64).fill('7fc00000'));
    expect(f32(0xffffffff, codes)).toEqual(Array(64).fill('7fc00000'));
  });

  test('the ends: 2^-48 x 0.25, and 49152 x 4 x 1.75', () => {
    expect(f32(0x00000000, [1, 9])).toEqual(['26800000', 'a6800000']); // 2^-50: field 77
    expect(f32(0xfffffffe, [7, 15])).toEqual(['48a80000', 'c8a80000']); // 344064 = 1.3125 x 2^18
  });
});

describe('the scale word [HIF4-02]', () => {
  test('fields lie at bits 7:0, 15:8 and 31:16', () => {
    expect(hex(packScaleWord(0xc3, 0x01, 0x0005), 8)).toBe('000501c3');
    expect(hex(packScaleWord(0xfe, 0x80, 0x8000), 8)).toBe('800080fe');
    expect(unpackScaleWord(0xdeadbeef)).toEqual({ e6m2: 0xef, e1_8: 0xbe, e1_16: 0xdead });
  });

  test('pack and unpack are inverse, for every value of each field and for random words', () => {
    for (let field = 0; field < 65536; field++) {
      const low = field & 0xff;
      if (packScaleWord(low, 0, 0) !== low || unpackScaleWord(low).e6m2 !== low)
        expect(low).toBe('kept as E6M2');
      if (packScaleWord(0, low, 0) !== low * 256 || unpackScaleWord(low * 256).e1_8 !== low)
        expect(low).toBe('kept as E1_8');
      const high = field * 65536;
      if (packScaleWord(0, 0, field) !== high || unpackScaleWord(high).e1_16 !== field)
        expect(field).toBe('kept as E1_16');
    }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), (word) => {
        const { e6m2, e1_8, e1_16 } = unpackScaleWord(word);
        expect(packScaleWord(e6m2, e1_8, e1_16)).toBe(word);
      }),
    );
  });
});

test('a unit of another length is refused [HIF4-01]', () => {
  expect(() => encodeUnit(valuesOf(32, {}), hif4Policy())).toThrow(RangeError);
});
