/**
 * Faults of an MX block's scale, S1 to S13 as far as E2M1 shows them: the right value, and the value the fault gives.
 * The faulty rules are written here, in binary64 or FP32 as the faulty implementations compute.
 */
import { describe, expect, test } from 'vitest';
import { decodeBlock, encodeBlock, type Mxfp4Stages, mxfp4Stages } from '../../src/format/mxfp4.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { E2M1, E8M0 } from '../../src/format/scalar.ts';
import { encode } from '../../src/number/binary-format.ts';
import { type Exact, fromNumber } from '../../src/number/exact.ts';
import { FP32, fromBinary64 } from '../../src/number/floats.ts';
import { codesOf, digits, numberOf, valuesOf } from '../block-of.ts';
import { bf16FromBits, bf16OfF32Bits, bitsOfF32, f32FromBits, hex } from '../independent/platform-floats.ts';

type Elements = Readonly<Record<number, number>>;
const number = (magnitude: Exact): number => numberOf({ kind: 'finite', negative: false, magnitude });

function encoded(x: Elements, overrides: Record<string, string>, faulty: Partial<Mxfp4Stages> = {}): string {
  const stages = { ...mxfp4Stages, ...faulty };
  const { scale, codes } = encodeBlock(valuesOf(32, x), mxfp4Policy('ocp', overrides), stages);
  return `${hex(scale, 2)} ${digits(codes)}`;
}
const block = (scale: string, codes: Elements): string => `${scale} ${codesOf(32, codes)}`;

test('S1: amax narrowed to BF16 before its exponent is taken [MX-04] [MX-05]', () => {
  // 40ffffff = 7.9999995: floor(log2) = 2, byte 7f, and the element saturates. In BF16 it is 8.0: byte 80, 8 / 2 = 4.
  const x = { 0: f32FromBits(0x40ffffff) };
  expect(encoded(x, { scale: 'floor' })).toBe(block('7f', { 0: 7 }));
  const amax: Mxfp4Stages['amax'] = (t, p) =>
    fromNumber(bf16FromBits(bf16OfF32Bits(bitsOfF32(number(mxfp4Stages.amax(t, p))))));
  expect(encoded(x, { scale: 'floor' }, { amax })).toBe(block('80', { 0: 6 }));
});

describe('S2: log2 in FP32', () => {
  const log2 = (x: number): number => Math.fround(Math.log2(x));
  test('96.00001 under rceil: byte 84, not 83 [MX-08]', () => {
    // 96 = 6 x 2^4, and 42c00001 lies above it: exponent 5. 96.00001 / 32 = 3.0000003: code 5.
    const x = { 0: f32FromBits(0x42c00001) };
    expect(encoded(x, { scale: 'rceil' })).toBe(block('84', { 0: 5 }));
    const exponent: Mxfp4Stages['exponent'] = (t) => Math.ceil(log2(Math.fround(number(t.amax) / 6)));
    expect(encoded(x, { scale: 'rceil' }, { exponent })).toBe(block('83', { 0: 7 }));
  });

  test('7.9999995 under floor: scale 1.0, not 2.0 [MX-05]', () => {
    const x = { 0: f32FromBits(0x40ffffff) };
    expect(encoded(x, { scale: 'floor' })).toBe(block('7f', { 0: 7 }));
    const exponent: Mxfp4Stages['exponent'] = (t) => Math.floor(log2(number(t.amax))) - 2;
    expect(encoded(x, { scale: 'floor' }, { exponent })).toBe(block('80', { 0: 6 }));
  });
});

test.each([
  // amax; right: floor(log2 amax) - 2, and the code; wrong: floor(log2(amax / 6)), and the code
  [2.7, '7e', 7, '7d', 7], // 2.7 / 0.5 = 5.4; / 0.25 = 10.8
  [5.5, '7f', 7, '7e', 7], // 5.5 / 1; / 0.5 = 11
  [1.2, '7d', 6, '7c', 7], // 1.2 / 0.25 = 4.8; / 0.125 = 9.6
])(
  'S3: floor(log2(amax / 6)) where floor(log2 amax) - 2 is meant, %d [MX-05]',
  (x, scale, code, wrong, wrongCode) => {
    const exponent: Mxfp4Stages['exponent'] = (t) => Math.floor(Math.log2(number(t.amax) / 6));
    expect(encoded({ 0: x }, {})).toBe(block(scale, { 0: code }));
    expect(encoded({ 0: x }, {}, { exponent })).toBe(block(wrong, { 0: wrongCode }));
  },
);

test('S4: 1/6 rounded, then the nearest power of two: amax 7 under rceil [MX-08]', () => {
  // 7 / 6 lies above 1: exponent 1, 3.5 is a tie of 3 and 4. The nearest power of two is 1: 7 saturates.
  expect(encoded({ 0: 7 }, { scale: 'rceil' })).toBe(block('80', { 0: 6 }));
  const exponent: Mxfp4Stages['exponent'] = (t) => Math.round(Math.log2(number(t.amax) * Math.fround(1 / 6)));
  expect(encoded({ 0: 7 }, { scale: 'rceil' }, { exponent })).toBe(block('7f', { 0: 7 }));
});

test.each([
  // amax; bytes under floor, ceil, even, rceil, nearest. Each rule differs from each other one in some line.
  [4, ['7f', '7f', '7f', '7f', '7e']], // 4/6 = 0.67, log2 -0.58
  [5, ['7f', '80', '7f', '7f', '7f']], // 5/6 = 0.83
  [6.5, ['7f', '80', '7f', '80', '7f']], // 1.08, log2 0.12; 6.5 = 1.625 x 4
  [7, ['7f', '80', '80', '80', '7f']], // 1.17; 7 = 1.75 x 4
])('S5: the scale rules are five: amax %d [MX-05] [MX-06] [MX-07] [MX-08] [MX-09]', (amax, scales) => {
  const rules = ['floor', 'ceil', 'even', 'rceil', 'nearest'];
  expect(rules.map((scale) => encoded({ 0: amax }, { scale }).slice(0, 2))).toEqual(scales);
});

test('S6: a hidden lower bound on amax [MX-04]', () => {
  // 358637bd = 1e-6: / 6 = 1.667e-7 = 0.6991 x 2^-22: byte 127 - 22 = 69. 1e-6 x 2^22 = 4.194: code 6 (4.0).
  const x = { 0: f32FromBits(0x358637bd) };
  expect(encoded(x, { scale: 'rceil' })).toBe(block('69', { 0: 6 }));
  // Bounded by 1e-4: / 6 = 0.546 x 2^-15, byte 70; 1e-6 x 2^15 = 0.033: 0.
  const amax: Mxfp4Stages['amax'] = (t, p) => fromNumber(Math.max(number(mxfp4Stages.amax(t, p)), 1e-4));
  expect(encoded(x, { scale: 'rceil' }, { amax })).toBe(block('70', {}));
});

test('S7: the largest element over amax, 6 / 2^-126, overflows FP32 [MX-10] [MX-12]', () => {
  // 00800000 = 2^-126: floor gives -128, clamped to byte 00; over 2^-127 it is 2.0: code 4.
  const x = { 0: f32FromBits(0x00800000) };
  expect(encoded(x, {})).toBe(block('00', { 0: 4 }));
  // The factor is infinite: every nonzero element saturates, and a zero is NaN, which E2M1 has not: code 0.
  const codes: Mxfp4Stages['codes'] = (t) => {
    const factor = Math.fround(6 / number(t.amax));
    return t.input.values.map((v) => encode(E2M1, fromBinary64(number(v.magnitude) * factor)));
  };
  expect(encoded(x, {}, { codes })).toBe(block('00', { 0: 7 }));
});

test('S8: a NaN dropped by the maximum [MX-13]', () => {
  const x = { 0: bf16FromBits(0x3f80), 1: bf16FromBits(0x7fc0) };
  expect(encoded(x, {})).toBe(block('ff', {}));
  // Where it is dropped the block gets the scale of 1.0: byte 7d, code 6. That is the rule `saturate`, by its name.
  expect(encoded(x, { nonfinite: 'saturate' })).toBe(block('7d', { 0: 6 }));
});

test('S9: ties of E8M0 are a parameter [SCA-05]', () => {
  // 3 lies midway between 2 (80) and 4 (81), 0.75 between 0.5 (7e) and 1 (7f).
  const e8m0 = (x: number, ties: 'even' | 'up'): string => hex(encode(E8M0, fromBinary64(x), ties), 2);
  expect([e8m0(3, 'even'), e8m0(0.75, 'even')]).toEqual(['80', '7e']);
  expect([e8m0(3, 'up'), e8m0(0.75, 'up')]).toEqual(['81', '7f']);
});

test('S10: a finite input that decodes to infinity, as documented [MX-02] [MX-08]', () => {
  // 7f7f = 1.9921875 x 2^127: / 6 = 1.328 x 2^125: byte fd. Over 2^126 it is 3.984: code 6 (4.0), and 4 x 2^126 = 2^128.
  const { scale, codes } = encodeBlock(
    valuesOf(32, { 0: bf16FromBits(0x7f7f) }),
    mxfp4Policy('torchao-rceil'),
  );
  expect(`${hex(scale, 2)} ${digits(codes)}`).toBe(block('fd', { 0: 6 }));
  const [value] = decodeBlock(scale, codes);
  expect(numberOf(value!)).toBe(2 ** 128);
  expect(hex(encode(FP32, value!, 'even', 'nonfinite'), 8)).toBe('7f800000');
  // The largest element below that stays finite is 3.0: clamped, which no profile does, it would be 7f400000.
  expect(hex(encode(FP32, decodeBlock(scale, [5])[0]!, 'even', 'nonfinite'), 8)).toBe('7f400000');
});

test('S11: a wrong guard for zero, and subnormals flushed [MX-05] [MX-08]', () => {
  // 0437 = 1.4296875 x 2^-119: floor -121, byte 06; / 6 = 1.906 x 2^-122, rceil -121 as well. 1.43 x 4 = 5.72: code 7.
  const x = { 0: bf16FromBits(0x0437) };
  for (const scale of ['floor', 'rceil']) {
    expect(encoded(x, { scale })).toBe(block('06', { 0: 7 }));
    // A guard that takes whatever is below 1e-30 for zero.
    const amax: Mxfp4Stages['amax'] = (t, p) => {
      const right = mxfp4Stages.amax(t, p);
      return number(right) < 1e-30 ? fromNumber(0) : right;
    };
    expect(encoded(x, { scale }, { amax })).toBe(block('00', { 0: 7 })); // 5.72 x 2^6: the largest code, far too small
  }
  // Subnormal inputs are numbers: 0001 = 2^-133 over 2^-127 is 1/64; 0040 = 2^-127 is 1.0, beside it the same 1/64.
  expect(encoded({ 0: bf16FromBits(0x0040), 1: bf16FromBits(0x8001) }, {})).toBe(block('00', { 0: 2, 1: 8 }));
});

test('S12: a block with an infinity: the largest code under fe, or ff, by name [CON-05]', () => {
  const x = { 0: bf16FromBits(0x7f80), 1: 1 };
  expect(encoded(x, { nonfinite: 'nan' })).toBe(block('ff', {}));
  expect(encoded(x, { nonfinite: 'top-scale' })).toBe(block('fe', { 0: 7 }));
  expect(encoded(x, { nonfinite: 'saturate', input: 'bf16' })).toBe(block('fc', { 0: 7 }));
});

test('S13: an all-zero block has the documented scale, 00 or 7f [MX-11]', () => {
  expect(encoded({}, {})).toBe(block('00', {}));
  expect(encoded({}, { 'zero-scale': '7f' })).toBe(block('7f', {}));
  // What a rule gives that takes the bits of zero for an exponent field: 0 - 2, wrapped.
  const scale: Mxfp4Stages['scale'] = () => (0 - 2) & 0xff;
  expect(encoded({}, {}, { scale })).toBe(block('fe', {}));
});
