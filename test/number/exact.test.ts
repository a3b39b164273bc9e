/** Exact arithmetic against BigInt fractions written here. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  absolute,
  add,
  atLeast,
  ceilLog2,
  compare,
  divide,
  type Exact,
  exact,
  floorLog2,
  fromNumber,
  isNegative,
  isZero,
  maximum,
  multiply,
  negate,
  powerOfTwo,
  scale,
  subtract,
  ZERO,
} from '../../src/number/exact.ts';

/** A fraction with no power of two taken out. */
interface Fraction {
  n: bigint;
  d: bigint;
}
const fractionOf = ({ significand, divisor, exponent }: Exact): Fraction =>
  exponent >= 0
    ? { n: significand * 2n ** BigInt(exponent), d: divisor }
    : { n: significand, d: divisor * 2n ** BigInt(-exponent) };
const same = (a: Fraction, b: Fraction): boolean => a.n * b.d === b.n * a.d;

const numbers = fc
  .record({
    significand: fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    divisor: fc.bigInt({ min: 1n, max: 2n ** 40n }),
    exponent: fc.integer({ min: -300, max: 300 }),
  })
  .map((x): Exact => x);
const nonzero = numbers.filter((x) => x.significand !== 0n);
const positive = nonzero.map(
  (x): Exact => ({ ...x, significand: x.significand < 0n ? -x.significand : x.significand }),
);

describe('arithmetic [NUM-01]', () => {
  test('sum, difference, product and quotient are the fractions a school book gives', () => {
    fc.assert(
      fc.property(numbers, numbers, nonzero, (x, y, z) => {
        const [a, b, c] = [fractionOf(x), fractionOf(y), fractionOf(z)];
        expect(same(fractionOf(add(x, y)), { n: a.n * b.d + b.n * a.d, d: a.d * b.d })).toBe(true);
        expect(same(fractionOf(subtract(x, y)), { n: a.n * b.d - b.n * a.d, d: a.d * b.d })).toBe(true);
        expect(same(fractionOf(multiply(x, y)), { n: a.n * b.n, d: a.d * b.d })).toBe(true);
        const quotient = divide(x, z);
        expect(quotient.divisor > 0n).toBe(true);
        const sign = c.n < 0n ? -1n : 1n;
        expect(same(fractionOf(quotient), { n: sign * a.n * c.d, d: sign * c.n * a.d })).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('order, sign, maximum and powers of two', () => {
    fc.assert(
      fc.property(numbers, numbers, fc.integer({ min: -400, max: 400 }), (x, y, k) => {
        const [a, b] = [fractionOf(x), fractionOf(y)];
        const [left, right] = [a.n * b.d, b.n * a.d];
        expect(compare(x, y)).toBe(left < right ? -1 : left > right ? 1 : 0);
        expect(atLeast(x, y)).toBe(left >= right);
        expect(same(fractionOf(maximum([x, y, x])), left > right ? a : b)).toBe(true);
        expect(isNegative(x)).toBe(a.n < 0n);
        expect(same(fractionOf(negate(x)), { n: -a.n, d: a.d })).toBe(true);
        expect(same(fractionOf(absolute(x)), { n: a.n < 0n ? -a.n : a.n, d: a.d })).toBe(true);
        const moved = k < 0 ? { n: a.n, d: a.d * 2n ** BigInt(-k) } : { n: a.n * 2n ** BigInt(k), d: a.d };
        expect(same(fractionOf(scale(x, k)), moved)).toBe(true);
        expect(same(fractionOf(multiply(x, powerOfTwo(k))), moved)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('equal numbers in different terms compare as equal', () => {
    expect(
      compare({ significand: 6n, divisor: 9n, exponent: 3 }, { significand: 64n, divisor: 3n, exponent: -2 }),
    ).toBe(0);
    expect(isZero(subtract(exact(5, -3), exact(10, -4)))).toBe(true);
  });

  test('a division by zero is refused', () => {
    expect(() => divide(exact(1), ZERO)).toThrow(RangeError);
  });
});

describe('logarithms [NUM-01]', () => {
  test('floorLog2 and ceilLog2 enclose a fraction by powers of two', () => {
    fc.assert(
      fc.property(positive, (x) => {
        const { n, d } = fractionOf(x);
        // n / d >= 2^e, without a logarithm
        const reaches = (e: number): boolean =>
          e >= 0 ? n >= d * 2n ** BigInt(e) : n * 2n ** BigInt(-e) >= d;
        const floor = floorLog2(x);
        expect(reaches(floor)).toBe(true);
        expect(reaches(floor + 1)).toBe(false);
        const isPower = floor >= 0 ? n === d * 2n ** BigInt(floor) : n * 2n ** BigInt(-floor) === d;
        expect(ceilLog2(x)).toBe(isPower ? floor : floor + 1);
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    // significand, divisor, exponent, floor, ceil
    [1n, 1n, 0, 0, 0],
    [2n ** 31n, 1n, 0, 31, 31],
    [2n ** 32n - 1n, 1n, 0, 31, 32],
    [2n ** 32n, 1n, 0, 32, 32],
    [2n ** 32n + 1n, 1n, 0, 32, 33],
    [2n ** 200n - 1n, 1n, -200, -1, 0],
    [2n ** 200n, 1n, -200, 0, 0],
    [1n, 1n, -1074, -1074, -1074],
    [3n, 1n, -1075, -1074, -1073],
    [7n, 6n, 0, 0, 1], // amax 7 under rceil (fault S4)
    [6n, 6n, 0, 0, 0],
    [12n, 6n, -5, -4, -4],
    [6n * 2n ** 90n + 1n, 6n, -90, 0, 1],
    [6n * 2n ** 90n - 1n, 6n, -90, -1, 0],
    [1n, 3n, 0, -2, -1],
    [1n, 2n ** 70n + 1n, 0, -71, -70],
    [1n, 2n ** 70n - 1n, 0, -70, -69],
  ])('%d / %d x 2^%d', (significand, divisor, exponent, floor, ceil) => {
    expect(floorLog2({ significand, divisor, exponent })).toBe(floor);
    expect(ceilLog2({ significand, divisor, exponent })).toBe(ceil);
  });

  test('zero and negative numbers have none', () => {
    expect(() => floorLog2(ZERO)).toThrow(RangeError);
    expect(() => floorLog2(exact(-1))).toThrow(RangeError);
  });
});

describe('binary64 [NUM-01]', () => {
  test('fromNumber is exact: the integer the number is, in units of 2^-1074', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        // Doubling is exact and BigInt(x) is exact for integers: an independent route to the same integer.
        let doublings = 0;
        let y = x;
        while (!Number.isInteger(y)) {
          y *= 2;
          doublings++;
        }
        expect(same(fractionOf(fromNumber(x)), { n: BigInt(y), d: 2n ** BigInt(doublings) })).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test('ends of the range', () => {
    expect(same(fractionOf(fromNumber(Number.MIN_VALUE)), { n: 1n, d: 2n ** 1074n })).toBe(true);
    expect(same(fractionOf(fromNumber(-Number.MAX_VALUE)), { n: -(2n ** 1024n - 2n ** 971n), d: 1n })).toBe(
      true,
    );
    expect(isZero(fromNumber(-0))).toBe(true);
    expect(() => fromNumber(Infinity)).toThrow(RangeError);
    expect(() => fromNumber(Number.NaN)).toThrow(RangeError);
  });
});
