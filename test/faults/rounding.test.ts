/** Faults of rounding elements, R1 to R5 and R7: the right value, and the value the fault gives. */
import { describe, expect, test } from 'vitest';
import { encodeUnit, type HiF4Stages, hif4Stages } from '../../src/format/hif4.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { encodeBlock, type Mxfp4Stages, mxfp4Stages } from '../../src/format/mxfp4.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { convert, E1M2, E2M1, E4M3 } from '../../src/format/scalar.ts';
import { decode, encode, fromExact } from '../../src/number/binary-format.ts';
import { divide, fromNumber } from '../../src/number/exact.ts';
import { BF16, FP32, fromBinary64 } from '../../src/number/floats.ts';
import { codesOf, digits, numberOf, valuesOf } from '../block-of.ts';
import { bf16OfF32Bits, bitsOfF32, f32FromBits, hex } from '../independent/platform-floats.ts';

const half = { ties: 'even', overflow: 'saturate', nan: 'canonical' } as const;

test('R1: half-away where half-even is meant [NUM-02] [MX-12]', () => {
  // 0.25, 1.25, 2.5, 5 lie midway between 0 0.5, 1 1.5, 2 3, 4 6; element 4 keeps the scale at 1.
  const x = valuesOf(32, { 0: 0.25, 1: 1.25, 2: 2.5, 3: 5, 4: 4 });
  const encoded = (ties: string): string => digits(encodeBlock(x, mxfp4Policy('ocp', { ties })).codes);
  expect(encoded('even')).toBe(codesOf(32, { 0: 0, 1: 2, 2: 4, 3: 6, 4: 6 })); // 0 1 2 4
  expect(encoded('away')).toBe(codesOf(32, { 0: 1, 1: 3, 2: 5, 3: 7, 4: 6 })); // 0.5 1.5 3 6
});

test('R2: the subnormal branch rounds at the wrong bit [MX-12] [SCA-01]', () => {
  // 3e800001 = 0.25000003 lies above the midpoint of 0 and 0.5.
  const x = 0x3e800001;
  expect(convert(FP32, E2M1, x, half)).toBe(0x1);
  expect(convert(FP32, E2M1, 0x3e800002, half)).toBe(0x1); // 0.25000006
  const block = valuesOf(32, { 0: f32FromBits(x), 1: 4 });
  expect(digits(encodeBlock(block, mxfp4Policy()).codes)).toBe(codesOf(32, { 0: 1, 1: 6 }));
  // Where the significand is cut to 20 fraction bits before the tie is judged, it is a tie, and goes to 0.
  const codes: Mxfp4Stages['codes'] = (t, p) =>
    mxfp4Stages.codes(
      {
        ...t,
        scaled: t.scaled.map((s) => {
          const bits = bitsOfF32(numberOf({ kind: 'finite', ...s }));
          return {
            ...s,
            magnitude: (decode(FP32, bits - (bits % 8)) as typeof s & { kind: 'finite' }).magnitude,
          };
        }),
      },
      p,
    );
  expect(digits(encodeBlock(block, mxfp4Policy(), { ...mxfp4Stages, codes }).codes)).toBe(
    codesOf(32, { 0: 0, 1: 6 }),
  );
});

test('R3: encode(decode(code)) is the code, for all 16 [SCA-01] [SCA-02]', () => {
  const all = Array.from({ length: 16 }, (_, code) => code);
  for (const f of [E2M1, E1M2]) {
    expect(all.map((code) => encode(f, decode(f, code)))).toEqual(all);
    // Through the words a backend sees.
    expect(all.map((code) => convert(BF16, f, convert(f, BF16, code, half), half))).toEqual(all);
    expect(all.map((code) => convert(FP32, f, convert(f, FP32, code, half), half))).toEqual(all);
  }
  expect(all.map((code) => hex(convert(E2M1, BF16, code, half), 4))).toEqual([
    ...['0000', '3f00', '3f80', '3fc0', '4000', '4040', '4080', '40c0'],
    ...['8000', 'bf00', 'bf80', 'bfc0', 'c000', 'c040', 'c080', 'c0c0'],
  ]);
});

describe('R4: a product with a rounded reciprocal for a quotient', () => {
  const byReciprocal = (x: number, scale: number): number => Math.fround(x * Math.fround(1 / scale));

  test('3cc3ffff over 7 x 2^-9 in E2M1: code 3, not 4 [NUM-01] [NUM-05]', () => {
    // 1.7499999: 1.5. In FP32 the product with 1 / (7 x 2^-9) is 1.75, a tie, to even 2.
    const [x, scale] = [f32FromBits(0x3cc3ffff), 7 / 512];
    expect(encode(E2M1, fromExact(divide(fromNumber(x), fromNumber(scale))))).toBe(3);
    expect(byReciprocal(x, scale)).toBe(1.75);
    expect(encode(E2M1, fromBinary64(byReciprocal(x, scale)))).toBe(4);
  });

  test('3e5fffff at HiF4 scale 1.75 with an exact reciprocal: code 0, not 1 [HIF4-08] [HIF4-12]', () => {
    // 12.25 makes the scale c3. 0.21875 / 1.75 = 0.125 is the tie of codes 0 and 1; 3e5fffff lies below.
    const x = valuesOf(64, { 0: 12.25, 8: f32FromBits(0x3e5fffff) });
    const policy = hif4Policy('authors', { input: 'f32', reciprocal: 'exact' });
    const { word, codes } = encodeUnit(x, policy);
    expect(`${hex(word, 8)} ${digits(codes)}`).toBe(`000101c3 ${codesOf(64, { 0: 7, 8: 0 })}`);
    const scaled: HiF4Stages['scaled'] = (t, p) =>
      hif4Stages
        .scaled(t, p)
        .with(8, { negative: false, magnitude: fromNumber(byReciprocal(f32FromBits(0x3e5fffff), 1.75)) });
    const faulty = encodeUnit(x, policy, { ...hif4Stages, scaled });
    expect(`${hex(faulty.word, 8)} ${digits(faulty.codes)}`).toBe(`000101c3 ${codesOf(64, { 0: 7, 8: 1 })}`);
  });
});

test('R5: rounded twice, through a narrower type: 400.199585 to E4M3 [NUM-05] [SCA-06]', () => {
  // 400 is the midpoint of 384 (7c) and 416 (7d): above it, 416. BF16 makes it 400, a tie, to even 384.
  const word = bitsOfF32(400.199585);
  expect(hex(word, 8)).toBe('43c8198c');
  expect(hex(convert(FP32, E4M3, word, half), 2)).toBe('7d');
  expect(hex(bf16OfF32Bits(word), 4)).toBe('43c8');
  expect(hex(convert(BF16, E4M3, bf16OfF32Bits(word), half), 2)).toBe('7c');
});

test('R7: a cast after a floor scale saturates: 500 to E4M3 is 448 [NUM-05] [SCA-09]', () => {
  const word = bitsOfF32(500);
  expect(hex(word, 8)).toBe('43fa0000');
  expect(hex(convert(FP32, E4M3, word, half), 2)).toBe('7e');
  expect(hex(convert(FP32, E4M3, word, { ...half, overflow: 'nonfinite' }), 2)).toBe('7f'); // NaN
});
