/** A million random arguments of each elementary function, and the first of every 4096 binary32 numbers. */
import { expect, test } from 'vitest';
import * as elementary from '../../src/number/elementary.ts';
import { from32, isNearest, type Transcendental, type Width } from '../independent/elementary-by-bounds.ts';
import { argumentsOf } from '../number/elementary-arguments.ts';

const FUNCTIONS: readonly (readonly [Transcendental, Width, (x: number) => number])[] = [
  ['exp', 64, elementary.exp],
  ['exp', 32, elementary.exp32],
  ['expm1', 64, elementary.expm1],
  ['expm1', 32, elementary.expm132],
  ['log', 64, elementary.log],
  ['log', 32, elementary.log32],
  ['log1p', 64, elementary.log1p],
  ['log1p', 32, elementary.log1p32],
];

test.each(FUNCTIONS)('%s in binary%i: a million random arguments [ELE-09]', (name, width, f) => {
  for (const x of argumentsOf(name, width, 1_000_000, 3)) {
    const y = f(x);
    if (!isNearest(name, x, y, width)) expect.fail(`${name}(${x}) is not ${y}`);
  }
});

const STEP = 4096;

test.each(FUNCTIONS.filter(([, width]) => width === 32))(
  '%s in binary%i: every 4096th number of the format [ELE-09]',
  (name, width, f) => {
    for (let bits = STEP / 2; bits < 0x1_0000_0000; bits += STEP) {
      const x = from32(bits);
      const tiny = Math.abs(x) < 2 ** -26 && name !== 'log';
      const wide = name.startsWith('exp') && Math.abs(x) > 128;
      if (!Number.isFinite(x) || tiny || wide) continue;
      if (name.startsWith('log') && (name === 'log' ? x <= 0 : x <= -1)) continue;
      const y = f(x);
      if (!isNearest(name, x, y, width)) expect.fail(`${name}(${x}) is not ${y}`);
    }
  },
);
