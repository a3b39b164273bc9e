/**
 * 10^7 random units and blocks of every second input family, every path against an independent encoder, under all pairs of
 * parameter values. Two files, so that two cores share the families.
 */
import { expect, test } from 'vitest';
import { FAMILIES, type Family } from '../../src/random/families.ts';
import { compareMany } from '../fast/many-blocks.ts';

const BLOCKS = 10_000_000;
const families = (Object.keys(FAMILIES) as Family[]).filter((_, i) => i % 2 === 1);

test.each(families)('family %s [HIF4-05, MX-04]', (family) => {
  const { units, blocks } = compareMany(family, BLOCKS);
  // A NaN or an infinity leaves a block out; under bits an FP32 word may still round to one of BF16.
  const least = BLOCKS * ({ 'bits-any': 0.7, bits: 0.99 }[family as string] ?? 1);
  expect(units).toBeGreaterThanOrEqual(least);
  expect(blocks).toBeGreaterThanOrEqual(least);
});
