/**
 * Faults of the HiF4 encoder, H1 to H13: the right value, and the value the fault gives, by the parameter that is its
 * rule or by one stage replaced.
 */
import { describe, expect, test } from 'vitest';
import { encodeUnit, type HiF4Stages, hif4Stages } from '../../src/format/hif4.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { type Exact, ZERO } from '../../src/number/exact.ts';
import { codesOf, digits, numberOf, valuesOf } from '../block-of.ts';
import { bf16FromBits, hex } from '../independent/platform-floats.ts';

type Elements = Readonly<Record<number, number>>;
const number = (magnitude: Exact): number => numberOf({ kind: 'finite', negative: false, magnitude });

function encoded(
  x: Elements,
  overrides: Record<string, string> = {},
  faulty: Partial<HiF4Stages> = {},
): string {
  const stages = { ...hif4Stages, ...faulty };
  const { word, codes } = encodeUnit(valuesOf(64, x), hif4Policy('authors', overrides), stages);
  return `${hex(word, 8)} ${digits(codes)}`;
}
const unit = (word: string, codes: Elements): string => `${word} ${codesOf(64, codes)}`;

describe('H1: Vmax / 7, or an unrounded product, for bf16(Vmax x bf16(1/7)) [HIF4-06]', () => {
  test('40fd = 7.90625: scale 1.0 (c0), by the quotient or the product 1.25 (c1)', () => {
    // / 7 = 1.12946 and x 73/512 = 1.12726 lie above the midpoint 1.125, which BF16 makes it: to even, 1.
    const x = { 0: bf16FromBits(0x40fd) };
    expect(encoded(x)).toBe(unit('000101c0', { 0: 7 }));
    expect(encoded(x, { sf: 'quotient' })).toBe(unit('000101c1', { 0: 6 }));
    expect(encoded(x, { sf: 'product' })).toBe(unit('000101c1', { 0: 6 }));
  });

  test('40d2 = 6.5625: scale 1.0 (c0), by the product 0.875 (bf)', () => {
    // x 73/512 = 0.93567, below the midpoint 0.9375, which BF16 makes it; / 7 = 0.9375 exactly, to even 1.
    const x = { 0: bf16FromBits(0x40d2) };
    expect(encoded(x)).toBe(unit('000101c0', { 0: 7 }));
    expect(encoded(x, { sf: 'product' })).toBe(unit('000101bf', { 0: 7 }));
    expect(encoded(x, { sf: 'quotient' })).toBe(unit('000101c0', { 0: 7 }));
  });
});

describe('H2: an exact reciprocal for the BF16 one [HIF4-08]', () => {
  test('BF16 3e60 at scale 1.75: code 0, not 1', () => {
    const x = { 0: 12.25, 8: bf16FromBits(0x3e60) };
    expect(encoded(x)).toBe(unit('000101c3', { 0: 7, 8: 0 }));
    expect(encoded(x, { reciprocal: 'exact' })).toBe(unit('000101c3', { 0: 7, 8: 1 }));
  });

  test('scales 1.25 and 1.5 round their reciprocals as well: up from 0.8 and 0.6667', () => {
    // Scale 1.25 (8.75 x 73/512 = 1.2476 -> 1.25): x8 = 2.5 x 205/256 = 2.00195, 2.5 / 1.25 = 2: both reach level 3.
    // Its products are 0.1% larger: FP32 2.4980469 x 205/256 = 2.0004 reaches level 3, / 1.25 = 1.9984 does not.
    const x = { 0: 8.75, 8: 2.498046875 };
    expect(encoded(x, { input: 'f32' })).toBe(unit('000501c1', { 0: 7, 8: 4 }));
    expect(encoded(x, { input: 'f32', reciprocal: 'exact' })).toBe(unit('000101c1', { 0: 7, 8: 7 }));
    // Scale 1.5 (10.5 x 73/512 = 1.4971 -> 1.5): 2.9980469 x 171/256 = 2.0026, / 1.5 = 1.9987.
    const y = { 0: 10.5, 8: 2.998046875 };
    expect(encoded(y, { input: 'f32' })).toBe(unit('000501c2', { 0: 7, 8: 4 }));
    expect(encoded(y, { input: 'f32', reciprocal: 'exact' })).toBe(unit('000101c2', { 0: 7, 8: 7 }));
  });
});

describe('H3: products rounded to BF16 where they stay wide, or the reverse [HIF4-09]', () => {
  test('a code: 21/32 at scale 1.75', () => {
    // x 73/128 = 1533/4096, 1.497 quarters: 1. In BF16 0.375, 1.5 quarters: half-away 2 (half-even 2).
    const x = { 0: 12.25, 8: 21 / 32 };
    expect(encoded(x)).toBe(unit('000101c3', { 0: 7, 8: 1 }));
    expect(encoded(x, { products: 'bf16' })).toBe(unit('000101c3', { 0: 7, 8: 2 }));
  });

  test('level bits: 7 and 3.5 at scale 1.75', () => {
    // 7 x 73/128 = 3.9921875 = 511/128, in BF16 (step 1/64) a tie of 255/64 and 4, to even 4. 3.5 likewise at 2.
    const x = { 0: 12.25, 8: 7, 16: 3.5 };
    expect(encoded(x)).toBe(unit('000501c3', { 0: 7, 8: 7, 16: 7 }));
    expect(encoded(x, { products: 'bf16' })).toBe(unit('001503c3', { 0: 7, 8: 4, 16: 4 }));
  });
});

test('H4: the E6M2 tie half-up, or truncated [HIF4-07]', () => {
  // SF of 7.875 is 1.125, midway between 1 (c0) and 1.25 (c1); of 6.5625 0.9375, midway between 0.875 (bf) and 1.
  const scaleOf = (vmax: number, ties: string): string =>
    encoded({ 0: vmax }, { 'e6m2-ties': ties }).slice(6, 8);
  const rules = ['even', 'away', 'up', 'truncate'];
  expect(rules.map((ties) => scaleOf(7.875, ties))).toEqual(['c0', 'c1', 'c1', 'c0']);
  expect(rules.map((ties) => scaleOf(6.5625, ties))).toEqual(['c0', 'c0', 'c0', 'bf']);
});

test('H5: the clamp missing, the byte wraps, in both directions; zero units [HIF4-07] [HIF4-14]', () => {
  // 2^19: SF = 1.140625 x 2^16, index 257. 2^-60: 1.140625 x 2^-63, index -59.
  expect(encoded({ 0: 2 ** 19 })).toBe(unit('000101fe', { 0: 7 }));
  expect(encoded({ 0: 2 ** 19 }, { 'e6m2-range': 'wrap' })).toBe(unit('00010101', { 0: 7 }));
  expect(encoded({ 0: 2 ** -60 })).toBe(unit('00000000', {}));
  expect(encoded({ 0: 2 ** -60 }, { 'e6m2-range': 'wrap' })).toBe(unit('000000c5', {}));
  expect(encoded({})).toBe(unit('00000000', {}));
  // 2^18 x 1.53125 = 401408 has index 255, which is the NaN.
  expect(encoded({ 0: 401408 })).toBe(unit('000101fe', { 0: 7 }));
  expect(encoded({ 0: 401408 }, { 'e6m2-range': 'wrap' })).toBe(unit('000000ff', {}));
});

/** Level bits by a condition on the product's number, everything else as it is. */
const bitsBy = (products: readonly number[], reached: (x: number, k: number) => boolean): number =>
  products.reduce((word, x, k) => word + (reached(x, k) ? 2 ** k : 0), 0);

test('H6: level thresholds are reached at exactly 4 and 2 [HIF4-10] [HIF4-11]', () => {
  // Scale 1 by x56 = 7 (bits 14 and 7). 4 in octet 0; 2 in quad 2.
  const x = { 0: 4, 8: 2, 56: 7 };
  expect(encoded(x)).toBe(unit('400581c0', { 0: 4, 8: 4, 56: 7 }));
  const above = { e1_8: 4, e1_16: 2 };
  const e1_8: HiF4Stages['e1_8'] = (t) =>
    bitsBy(
      t.max8.map((m) => number(m) * number(t.rcp)),
      (p) => p > above.e1_8,
    );
  const e1_16: HiF4Stages['e1_16'] = (t) =>
    bitsBy(
      t.max4.map((m, k) => (number(m) * number(t.rcp)) / 2 ** ((t.e1_8 >> (k >> 1)) & 1)),
      (p) => p > above.e1_16,
    );
  // Above 4 alone: octet 0 has no level-2 bit, its 4 then exceeds 2 in level 3: 2.0 saturates. 2 has no bit: saturated.
  expect(encoded(x, {}, { e1_8, e1_16 })).toBe(unit('400180c0', { 0: 7, 8: 7, 56: 7 }));
});

test('H7: level 3 looks at the product after the level-2 halving [HIF4-11]', () => {
  // Octet 0 has its bit by 5 (1.25 in the end); quad 1 holds 3: halved 1.5, below 2, code 6. Not halved, it gets a bit: 0.75.
  const x = { 0: 5, 4: 3, 56: 7 };
  expect(encoded(x)).toBe(unit('400181c0', { 0: 5, 4: 6, 56: 7 }));
  const e1_16: HiF4Stages['e1_16'] = (t) =>
    bitsBy(
      t.max4.map((m) => number(m) * number(t.rcp)),
      (p) => p >= 2,
    );
  expect(encoded(x, {}, { e1_16 })).toBe(unit('400381c0', { 0: 5, 4: 3, 56: 7 }));
});

test('H8: scale / 3.5 with the exponent bits forced to 0 [HIF4-06] [HIF4-10]', () => {
  // 7 / 3.5 = 2, c4 is the word then; 7 / 2 = 3.5 saturates at 1.75. Right: scale 1, both bits.
  expect(encoded({ 0: 7 })).toBe(unit('000101c0', { 0: 7 }));
  const faulty = { e6m2: () => 0xc4, e1_8: () => 0, e1_16: () => 0 };
  expect(encoded({ 0: 7 }, {}, faulty)).toBe(unit('000000c4', { 0: 7 }));
});

test('H9: a zero unit is 00000000, not NaN [HIF4-14]', () => {
  expect(encoded({})).toBe(unit('00000000', {}));
  expect(encoded({ 63: -0 })).toBe(unit('00000000', { 63: 8 }));
  expect(encoded({}, {}, { e6m2: () => 0xff })).toBe(unit('000000ff', {}));
});

test('H10: floor(x + 0.5) with the addition in BF16 [HIF4-12]', () => {
  // 0.498046875 quarters at scale 1: below one half, 0. + 0.5 = 0.998046875 = 511/512 takes nine bits: BF16 makes it 1.
  const x = { 0: 7, 8: 0.498046875 / 4 };
  expect(encoded(x)).toBe(unit('000101c0', { 0: 7, 8: 0 }));
  expect(encoded(x, { ties: 'away-bf16' })).toBe(unit('000101c0', { 0: 7, 8: 1 }));
});

test('H11: a value far beyond the largest is the largest code, not 0 [HIF4-12]', () => {
  // 7f7f under scale fe. Where the nearest of eight values is taken by distances that overflow, all are infinite: the first.
  const x = { 0: bf16FromBits(0x7f7f), 4: bf16FromBits(0xff7f) };
  for (const products of ['exact', 'bf16']) {
    expect(encoded(x, { products })).toBe(unit('000301fe', { 0: 7, 4: 15 }));
  }
  const codes: HiF4Stages['codes'] = (t) =>
    t.scaled.map((s) => {
      const distances = [0, 1, 2, 3, 4, 5, 6, 7].map((q) => Math.fround((number(s.magnitude) - q / 4) ** 2));
      return distances.indexOf(Math.min(...distances));
    });
  expect(encoded(x, {}, { codes })).toBe(unit('000301fe', {}));
});

test('H12: scale 00 is 2^-48, not zero [HIF4-07] [SCA-03]', () => {
  expect(encoded({ 0: 2 ** -48, 1: -(2 ** -49) })).toBe(unit('00000000', { 0: 4, 1: 10 }));
  const codes: HiF4Stages['codes'] = (t, p) =>
    t.e6m2 === 0 ? t.scaled.map(() => 0) : hif4Stages.codes(t, p);
  expect(encoded({ 0: 2 ** -48, 1: -(2 ** -49) }, {}, { codes })).toBe(unit('00000000', {}));
});

test('H13: a NaN that opens a quad does not hide the maximum of the quad [HIF4-05] [CON-05]', () => {
  // Quad 1 is NaN, 7, 0, 0: under saturate the NaN counts as 0, and 7 makes the scale 1 (c0), bits 8 and 17.
  const x = { 4: Number.NaN, 5: 7 };
  const saturate = { nonfinite: 'saturate' };
  expect(encoded(x, saturate)).toBe(unit('000201c0', { 5: 7 }));
  // A maximum that starts from a NaN never finds a larger number. Taken for 0, it leaves an all-zero unit, in which 7 saturates.
  const max4: HiF4Stages['max4'] = (t, p) => hif4Stages.max4(t, p).with(1, ZERO);
  expect(encoded(x, saturate, { max4 })).toBe(unit('00000000', { 5: 7 }));
});
