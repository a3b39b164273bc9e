/** Whole powers against the exact power. */
import { expect, test } from 'vitest';
import { exact, fromNumber, multiply, powerOfTwo } from '../../src/number/exact.ts';
import { toNumber } from '../../src/number/floats.ts';
import { wholePower } from '../../src/number/power.ts';

test.each([0.9, 0.999, 0.95, 0.5, 0.75, 1, 0, 2 ** -1074, 1 - 2 ** -53])(
  '%f to the first 300 powers [ELE-10]',
  (x) => {
    let power = exact(1);
    for (let n = 1; n <= 300; n++) {
      power = multiply(power, fromNumber(x));
      expect([n, wholePower(x, n)]).toEqual([n, toNumber(power)]);
    }
  },
);

test('far powers [ELE-10]', () => {
  expect(wholePower(0.5, 1074)).toBe(2 ** -1074);
  expect(wholePower(0.5, 1075)).toBe(0); // half the smallest number: a tie, to even
  expect(wholePower(0.5, 2 ** 40)).toBe(0);
  expect(wholePower(0.75, 2)).toBe(toNumber(multiply(exact(9), powerOfTwo(-4))));
});
