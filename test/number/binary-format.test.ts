/** Format records: widths, largest codes, and encoding of quotients that no binary format holds. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { E1M2, E2M1, E4M3, E4M3FNUZ, E5M2, E5M2FNUZ, E6M2, E8M0 } from '../../src/format/scalar.ts';
import {
  type BinaryFormat,
  codeBits,
  encode,
  finite,
  fromExact,
  hexDigits,
  largestFinite,
} from '../../src/number/binary-format.ts';
import { divide, exact, fromNumber, ZERO } from '../../src/number/exact.ts';
import { BF16, FP16, FP32 } from '../../src/number/floats.ts';
import { bitsOfF32, hex } from '../independent/platform-floats.ts';

test.each<[BinaryFormat, bits: number, digits: number, largest: string]>([
  [E2M1, 4, 1, '7'],
  [E1M2, 4, 1, '7'],
  [E6M2, 8, 2, 'fe'],
  [E8M0, 8, 2, 'fe'],
  [E4M3, 8, 2, '7e'],
  [E5M2, 8, 2, '7b'],
  [E4M3FNUZ, 8, 2, '7f'],
  [E5M2FNUZ, 8, 2, '7f'],
  [BF16, 16, 4, '7f7f'],
  [FP16, 16, 4, '7bff'],
  [FP32, 32, 8, '7f7fffff'],
])(
  '$name: bits, hex digits, code of the largest finite value [NUM-03] [CON-01]',
  (f, bits, digits, largest) => {
    expect([codeBits(f), hexDigits(f), hex(largestFinite(f), digits)]).toEqual([bits, digits, largest]);
  },
);

describe('numbers with an odd divisor are rounded once [NUM-01] [NUM-05]', () => {
  test('quotients of FP32 numbers as the platform divides', () => {
    // Binary64 has more than twice the bits of FP32, so rounding its quotient again gives the correctly rounded one.
    const normal = fc
      .tuple(fc.integer({ min: 2 ** 23, max: 2 ** 24 - 1 }), fc.integer({ min: -40, max: 40 }))
      .map(([significand, e]) => significand * 2 ** (e - 23));
    fc.assert(
      fc.property(normal, normal, (a, b) => {
        expect(encode(FP32, finite(divide(fromNumber(a), fromNumber(b))))).toBe(bitsOfF32(a / b));
      }),
      { numRuns: 10_000 },
    );
  });

  test.each([
    // Eight significant bits: 1/3 = 2^-2 x 170.67/128, 1/7 = 2^-3 x 146.29/128, 4/5 = 2^-1 x 204.8/128, 4/7 = 2^-1 x 146.29/128.
    [1, 3, '3eab'],
    [1, 7, '3e12'],
    [2, 3, '3f2b'],
    [4, 5, '3f4d'],
    [4, 7, '3f12'],
  ])('%d / %d in BF16 is %s', (a, b, word) => {
    expect(hex(encode(BF16, fromExact(divide(exact(a), exact(b)))), 4)).toBe(word);
    const negative = Number.parseInt(word, 16) + 0x8000;
    expect(encode(BF16, fromExact(divide(exact(-a), exact(b))))).toBe(negative);
  });

  test('a quotient that lies on a tie is one: 15/6 in E2M1 is 2, 21/6 is 4', () => {
    expect(encode(E2M1, finite({ significand: 15n, divisor: 6n, exponent: 0 }))).toBe(4);
    expect(encode(E2M1, finite({ significand: 21n, divisor: 6n, exponent: 0 }))).toBe(6);
  });

  test('an exact zero is +0', () => {
    expect(fromExact(ZERO)).toEqual({ kind: 'finite', negative: false, magnitude: ZERO });
  });
});
