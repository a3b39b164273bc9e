/** Faults of decoding, D1 to D7: the right value, and the value the fault gives. */
import { describe, expect, test } from 'vitest';
import { decodeElement as decodeHiF4Element, decodeUnit } from '../../src/format/hif4.ts';
import { decodeBlock, decodeElement } from '../../src/format/mxfp4.ts';
import { encode, type FloatValue } from '../../src/number/binary-format.ts';
import { BF16, FP16, FP32 } from '../../src/number/floats.ts';
import { numberOf } from '../block-of.ts';
import { bf16FromBits, f32FromBits, hex } from '../independent/platform-floats.ts';

const f32 = (value: FloatValue): string => hex(encode(FP32, value, 'even', 'nonfinite'), 8);
const E2M1_VALUES = [0, 0.5, 1, 1.5, 2, 3, 4, 6];

/** The faulty decoder of D1 and D2: the scale byte taken for the exponent field of an FP32 number. */
function byExponentField(scale: number, code: number): number {
  const magnitude = f32FromBits(scale * 2 ** 23) * E2M1_VALUES[code % 8]!;
  return code >= 8 ? -magnitude : magnitude;
}

test('D1: byte 00 is 2^-127, not 0 [SCA-05] [MX-02]', () => {
  expect(f32(decodeElement(0x00, 2))).toBe('00400000');
  expect(byExponentField(0x00, 2)).toBe(0);
  expect([1, 4, 7, 15].map((code) => f32(decodeElement(0x00, code)))).toEqual([
    ...['00200000', '00800000', '01400000', '81400000'],
  ]);
});

test('D2: byte ff is NaN, not infinity or 2^128 [SCA-05] [MX-13]', () => {
  const values = decodeBlock(
    0xff,
    Array.from({ length: 32 }, (_, i) => i % 16),
  );
  expect(values.map(f32)).toEqual(Array(32).fill('7fc00000'));
  expect(byExponentField(0xff, 2)).toBe(Infinity);
  expect(byExponentField(0xff, 9)).toBe(-Infinity);
});

test('D3: byte 134 is 128, not a NaN: only ff is [SCA-05]', () => {
  expect(f32(decodeElement(134, 2))).toBe('43000000');
  for (let scale = 0; scale < 255; scale++) expect(decodeElement(scale, 2).kind).toBe('finite');
});

test('D4: exponents are not added as integers that wrap [MX-02]', () => {
  // BF16 0.5 (3f00) under byte 00: 2^-128 = 2^5 x 2^-133, BF16 0020.
  const value = decodeElement(0x00, 1);
  expect(hex(encode(BF16, value), 4)).toBe('0020');
  expect(numberOf(value)).toBe(bf16FromBits(0x0020));
  // 3f00 + ((0 - 127) << 7) in 16 bits.
  expect(hex((0x3f00 + (0 - 127) * 128) & 0xffff, 4)).toBe('ff80');
});

test('D5: subnormals of FP16 are not flushed: 1.0 under bytes 103 to 112 [NUM-07]', () => {
  // 2^-24 to 2^-15; the smallest normal number of FP16 is 2^-14.
  const words = Array.from({ length: 11 }, (_, k) => hex(encode(FP16, decodeElement(103 + k, 2)), 4));
  expect(words).toEqual([
    ...['0001', '0002', '0004', '0008', '0010', '0020', '0040', '0080', '0100', '0200', '0400'],
  ]);
  const flushed = (x: number): number => (Math.abs(x) < 2 ** -14 ? 0 : x);
  expect(flushed(numberOf(decodeElement(112, 2)))).toBe(0);
  expect(flushed(numberOf(decodeElement(113, 2)))).toBe(2 ** -14);
});

describe('D6: codes of the wrong table', () => {
  const all = Array.from({ length: 8 }, (_, code) => code);
  const hif4 = all.map((code) => numberOf(decodeHiF4Element(0x000000c0, code, 0)));
  test('HiF4 codes are quarters [SCA-02] [HIF4-03]', () => {
    expect(hif4).toEqual([0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]);
    expect(
      decodeUnit(
        0x000000c0,
        all.map((c) => c + 8),
      ).map(numberOf),
    ).toEqual(hif4.map((v) => -v));
  });

  test('they are not those of E2M1, nor with a hidden one below 1', () => {
    expect(hif4.filter((v, code) => v !== E2M1_VALUES[code])).toHaveLength(7);
    const hidden = [0, 0.625, 0.75, 0.875, 1, 1.25, 1.5, 1.75]; // (1 + f/4) / 2 for codes 1 to 3
    expect(hif4.filter((v, code) => v !== hidden[code])).toEqual([0.25, 0.5, 0.75]);
  });
});

test('D7: code 2 under byte 127 is 1.0: neither a doubled table with the full scale, nor half the scale [MX-02]', () => {
  expect(f32(decodeElement(127, 2))).toBe('3f800000');
  const doubled = E2M1_VALUES.map((v) => 2 * v);
  expect([doubled[2]! * 2 ** (127 - 127), E2M1_VALUES[2]! * 2 ** (127 - 128)]).toEqual([2, 0.5]);
  expect(E2M1_VALUES.map((_, code) => numberOf(decodeElement(127, code)))).toEqual(E2M1_VALUES);
});
