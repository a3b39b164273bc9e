/** The definitions against encoders written a second time, by thresholds. */
import { expect, test } from 'vitest';
import { FAMILIES, generator } from '../independent/input-families.ts';
import { bitsOfF32 } from '../independent/platform-floats.ts';
import { hif4AgainstThresholds, mxfp4AgainstThresholds } from './independent.ts';

test('no input family gives a NaN or what BF16 makes an infinity', () => {
  const random = generator(1);
  const blocks = Object.values(FAMILIES).flatMap((make) =>
    Array.from({ length: 200 }, () => make(random, 64)),
  );
  expect(blocks.flat().filter((x) => !(bitsOfF32(Math.abs(x)) < 0x7f7f8000))).toEqual([]);
});

test('HiF4 equals an independent encoder on random policies and units [HIF4-05] [HIF4-20]', () => {
  expect(hif4AgainstThresholds(4000, 20)).toEqual([]);
});

test('MXFP4 equals an independent encoder on random policies and blocks [MX-04] [MX-20]', () => {
  expect(mxfp4AgainstThresholds(8000, 21)).toEqual([]);
});
