/** Sums of squares against plain BigInt arithmetic. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  add,
  compare,
  type Exact,
  exact,
  fromNumber,
  multiply,
  subtract,
  ZERO,
} from '../../src/number/exact.ts';
import { SumOfSquares } from '../../src/number/exact-sum.ts';
import { toNumber } from '../../src/number/floats.ts';

const square = (x: Exact): Exact => multiply(x, x);
const anyFinite = fc.double({ noNaN: true, noDefaultInfinity: true });
const moderate = fc.double({ noNaN: true, min: -1e6, max: 1e6 });
const single = fc.float({ noNaN: true, noDefaultInfinity: true });

function expectEqual(found: Exact, expected: Exact): void {
  expect(compare(found, expected)).toBe(0);
}

describe('SumOfSquares [NUM-01] [TEN-12]', () => {
  test.each([
    ['any binary64', anyFinite],
    ['moderate binary64', moderate],
    ['binary32', single],
  ])('squares of %s', (_, values) => {
    fc.assert(
      fc.property(fc.array(values, { maxLength: 40 }), (xs) => {
        const sum = new SumOfSquares();
        for (const x of xs) sum.addSquare(x);
        expectEqual(
          sum.value(),
          xs.reduce((s, x) => add(s, square(fromNumber(x))), ZERO),
        );
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['any binary64', anyFinite, anyFinite],
    ['moderate binary64', moderate, moderate],
    ['binary64 and binary32', moderate, single],
    ['binary32', single, single],
  ])('squared differences of %s', (_, left, right) => {
    fc.assert(
      fc.property(fc.array(fc.tuple(left, right), { maxLength: 40 }), (pairs) => {
        const sum = new SumOfSquares();
        for (const [x, y] of pairs) sum.addSquaredDifference(x, y);
        expectEqual(
          sum.value(),
          pairs.reduce((s, [x, y]) => add(s, square(subtract(fromNumber(x), fromNumber(y)))), ZERO),
        );
      }),
      { numRuns: 2000 },
    );
  });

  test('the ends of binary64: 2^-1074 and its largest number', () => {
    const sum = new SumOfSquares();
    sum.addSquare(Number.MIN_VALUE);
    sum.addSquare(-Number.MAX_VALUE);
    sum.addSquaredDifference(Number.MAX_VALUE, -Number.MAX_VALUE);
    const largest = square(exact(2n ** 53n - 1n, 971));
    expectEqual(sum.value(), add(exact(1n, -2148), multiply(exact(5), largest)));
  });

  test('digits do not overflow: 3 million equal terms with every bit set', () => {
    const x = 2 - 2 ** -52;
    const sum = new SumOfSquares();
    for (let i = 0; i < 3_000_000; i++) sum.addSquare(i % 2 === 0 ? x : -x);
    expectEqual(sum.value(), multiply(exact(3_000_000), square(exact(2n ** 53n - 1n, -52))));
  });
});

describe('toNumber [NUM-01]', () => {
  const bits = (x: number): string => {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, x);
    return view.getBigUint64(0).toString(16).padStart(16, '0');
  };
  test.each([
    ['the smallest subnormal', exact(1n, -1074), '0000000000000001'],
    ['half of it is a tie to zero', exact(1n, -1075), '0000000000000000'],
    ['just above half of it', exact(2n ** 60n + 1n, -1135), '0000000000000001'],
    ['1.5 of it is a tie to 2', exact(3n, -1075), '0000000000000002'],
    ['2.5 of it is a tie to 2', exact(5n, -1075), '0000000000000002'],
    ['the largest subnormal and a half becomes normal', exact(2n ** 53n - 1n, -1075), '0010000000000000'],
    ['1 + 2^-53 is a tie to 1', exact(2n ** 53n + 1n, -53), '3ff0000000000000'],
    ['1 + 3 x 2^-53 is a tie up', exact(2n ** 53n + 3n, -53), '3ff0000000000002'],
    ['just above 1 + 2^-53', exact(2n ** 100n + 2n ** 47n + 1n, -100), '3ff0000000000001'],
    ['the largest finite number', exact(2n ** 53n - 1n, 971), '7fefffffffffffff'],
    ['just below half a unit above it', exact(2n ** 60n - 2n ** 6n - 1n, 964), '7fefffffffffffff'],
    ['half a unit above it overflows', exact(2n ** 54n - 1n, 970), '7ff0000000000000'],
    ['minus far beyond', exact(-1n, 5000), 'fff0000000000000'],
    ['a third', { significand: 1n, divisor: 3n, exponent: 0 }, '3fd5555555555555'],
    ['minus two thirds', { significand: -2n, divisor: 3n, exponent: 0 }, 'bfe5555555555555'],
  ])('%s', (_, x, expected) => {
    expect(bits(toNumber(x))).toBe(expected);
  });

  test('is the inverse of fromNumber', () => {
    fc.assert(
      fc.property(anyFinite, (x) => {
        expect(bits(toNumber(fromNumber(x)))).toBe(bits(x === 0 ? 0 : x));
      }),
      { numRuns: 5000 },
    );
  });
});
