/** The eight rounding rules on a table worked out by hand, and against a formula on fractions. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Exact, exact } from '../../src/number/exact.ts';
import { roundMagnitude, split, TIES, type Ties } from '../../src/number/round.ts';

/** Signed numbers in quarters, and the signed integer each rule gives; columns in the order of the contract. */
const COLUMNS: readonly Ties[] = ['even', 'away', 'zero', 'up', 'truncate', 'ceil', 'floor', 'odd'];
const TABLE: readonly (readonly [number, ...number[]])[] = [
  // quarters, even, away, zero, up, truncate, ceil, floor, odd
  [0, 0, 0, 0, 0, 0, 0, 0, 0],
  [1, 0, 0, 0, 0, 0, 1, 0, 1], // 0.25
  [2, 0, 1, 0, 1, 0, 1, 0, 1], // 0.5
  [3, 1, 1, 1, 1, 0, 1, 0, 1], // 0.75
  [4, 1, 1, 1, 1, 1, 1, 1, 1],
  [5, 1, 1, 1, 1, 1, 2, 1, 1], // 1.25
  [6, 2, 2, 1, 2, 1, 2, 1, 1], // 1.5
  [7, 2, 2, 2, 2, 1, 2, 1, 1], // 1.75
  [8, 2, 2, 2, 2, 2, 2, 2, 2],
  [9, 2, 2, 2, 2, 2, 3, 2, 3], // 2.25
  [10, 2, 3, 2, 3, 2, 3, 2, 3], // 2.5
  [11, 3, 3, 3, 3, 2, 3, 2, 3], // 2.75
  [-1, 0, 0, 0, 0, 0, 0, -1, -1], // -0.25
  [-2, 0, -1, 0, 0, 0, 0, -1, -1], // -0.5
  [-3, -1, -1, -1, -1, 0, 0, -1, -1], // -0.75
  [-4, -1, -1, -1, -1, -1, -1, -1, -1],
  [-5, -1, -1, -1, -1, -1, -1, -2, -1], // -1.25
  [-6, -2, -2, -1, -1, -1, -1, -2, -1], // -1.5
  [-7, -2, -2, -2, -2, -1, -1, -2, -1], // -1.75
  [-10, -2, -3, -2, -2, -2, -2, -3, -3], // -2.5
];

/** A signed number of quarters of 2^quantum, rounded. */
function rounded(quarters: number, quantum: number, ties: Ties): number {
  const magnitude = exact(Math.abs(quarters), quantum - 2);
  const result = Number(roundMagnitude(magnitude, quantum, quarters < 0, ties));
  return quarters < 0 && result !== 0 ? -result : result;
}

describe('rounding rules [NUM-02]', () => {
  test('the rules are those of the contract', () => {
    expect([...TIES].sort()).toEqual([...COLUMNS].sort());
  });

  test.each(COLUMNS.map((ties, column) => [ties, column] as const))('%s, by hand', (ties, column) => {
    for (const quantum of [0, -133, 57]) {
      const found = TABLE.map(([quarters]) => [quarters, rounded(quarters, quantum, ties)]);
      expect(found).toEqual(TABLE.map((row) => [row[0], row[column + 1]]));
    }
  });

  test('by floor and ceiling of the signed fraction', () => {
    const floorOf = (n: bigint, d: bigint): bigint => (n - (((n % d) + d) % d)) / d;
    /** Integers nearest to n / d by each rule's words, on the signed number. */
    const RULES: Record<Ties, (n: bigint, d: bigint) => bigint> = {
      floor: floorOf,
      ceil: (n, d) => -floorOf(-n, d),
      truncate: (n, d) => n / d,
      up: (n, d) => floorOf(2n * n + d, 2n * d),
      away: (n, d) => (n < 0n ? -floorOf(-2n * n + d, 2n * d) : floorOf(2n * n + d, 2n * d)),
      zero: (n, d) => (n < 0n ? floorOf(2n * n + d, 2n * d) : -floorOf(-2n * n + d, 2n * d)),
      even: (n, d) => {
        const low = floorOf(n, d);
        const twice = 2n * (n - low * d) - d;
        return twice < 0n || (twice === 0n && low % 2n === 0n) ? low : low + 1n;
      },
      odd: (n, d) => {
        const low = floorOf(n, d);
        return low * d === n || low % 2n !== 0n ? low : low + 1n;
      },
    };
    const magnitudes = fc.oneof(
      fc.record({
        significand: fc.bigInt({ min: 0n, max: 2n ** 60n }),
        divisor: fc.bigInt({ min: 1n, max: 1000n }),
        exponent: fc.integer({ min: -80, max: 80 }),
      }),
      // Small dyadic numbers and small fractions, half of which are ties.
      fc.record({
        significand: fc.bigInt({ min: 0n, max: 64n }),
        divisor: fc.constantFrom(1n, 1n, 1n, 3n, 5n, 7n),
        exponent: fc.integer({ min: -3, max: 1 }),
      }),
    );
    fc.assert(
      fc.property(
        magnitudes,
        fc.boolean(),
        fc.integer({ min: -90, max: 90 }),
        fc.constantFrom(...TIES),
        (x: Exact, negative, offset, ties) => {
          const quantum = x.exponent > -4 && x.exponent < 2 ? 0 : offset;
          const shift = x.exponent - quantum;
          const n = x.significand * (shift > 0 ? 2n ** BigInt(shift) : 1n);
          const d = x.divisor * (shift < 0 ? 2n ** BigInt(-shift) : 1n);
          const right = RULES[ties](negative ? -n : n, d);
          expect(roundMagnitude(x, quantum, negative, ties)).toBe(right < 0n ? -right : right);
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test('position between two integers', () => {
    expect(split(exact(11, -2), 0)).toEqual({ lower: 2n, position: 'above-half' }); // 2.75
    expect(split(exact(10, -2), 0)).toEqual({ lower: 2n, position: 'half' });
    expect(split(exact(9, -2), 0)).toEqual({ lower: 2n, position: 'below-half' });
    expect(split(exact(8, -2), 0)).toEqual({ lower: 2n, position: 'exact' });
    expect(split({ significand: 15n, divisor: 6n, exponent: 0 }, 0)).toEqual({ lower: 2n, position: 'half' }); // 15/6
    expect(split({ significand: 7n, divisor: 3n, exponent: 0 }, 1)).toEqual({
      lower: 1n,
      position: 'below-half',
    });
  });
});
