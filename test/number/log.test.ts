/** Decibels against known values, and against exact powers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Exact, exact } from '../../src/number/exact.ts';
import { decibels } from '../../src/number/log.ts';

const ONE = exact(1);
const power = (base: bigint, n: number): Exact =>
  n >= 0 ? exact(base ** BigInt(n)) : { significand: 1n, divisor: base ** BigInt(-n), exponent: 0 };

describe('decibels [TEN-13]', () => {
  // Decimals of log10(2), log10(3), log10(7) as any table has them: 0.30102999566, 0.47712125472, 0.84509804001.
  test.each([
    ['2', exact(2), 3.0103],
    ['3', exact(3), 4.7712],
    ['7', exact(7), 8.451],
    ['1/2', exact(1, -1), -3.0103],
    ['1', ONE, 0],
    ['2^2000', exact(1, 2000), 6020.5999],
    ['2^-4000', exact(1, -4000), -12041.1998],
  ])('of %s', (_, ratio, expected) => {
    expect(decibels(ratio, ONE)).toBe(expected);
  });

  test('of powers of ten, exactly', () => {
    for (const n of [-300, -17, -1, 0, 1, 2, 9, 300]) expect(decibels(power(10n, n), ONE)).toBe(10 * n);
  });

  test('on both sides of a rounding threshold: 10^(1/20000) lies within the two ratios', () => {
    // 10 log10(x) = 0.00005 + 0.0001 n has no rational solution; the continued decimals of 10^(5e-6) by integer roots:
    const scale = 10n ** 60n;
    let low = scale;
    let high = scale + scale / 1000n;
    // x^200000 compared with 10, by bisection; 60 digits keep the comparison certain.
    const reaches = (x: bigint): boolean => {
      let result = scale;
      let base = x;
      for (let n = 200000n; n > 0n; n >>= 1n) {
        if (n & 1n) result = (result * base) / scale;
        base = (base * base) / scale;
      }
      return result >= 10n * scale;
    };
    while (high - low > 10n ** 12n) {
      const middle = (low + high) / 2n;
      if (reaches(middle)) high = middle;
      else low = middle;
    }
    const below = low - 10n ** 14n;
    const above = high + 10n ** 14n;
    expect(decibels(exact(below), exact(scale))).toBe(0);
    expect(decibels(exact(above), exact(scale))).toBe(0.0001);
  });

  test('agrees with Math.log10 to its accuracy', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 2n ** 60n), fc.bigInt(1n, 2n ** 60n), (a, b) => {
        const found = decibels(exact(a), exact(b));
        const near = 10 * (Math.log10(Number(a)) - Math.log10(Number(b)));
        expect(Math.abs(found - near)).toBeLessThan(0.00005 + 1e-9);
        expect(Math.abs(found * 10000 - Math.round(found * 10000))).toBeLessThan(1e-6);
      }),
    );
  });
});
