/** 10^7 random HiF4 blocks of every input family, every path against an independent encoder, under all pairs of parameters. */
import { expect, test } from 'vitest';
import { hif4Parameters } from '../../src/format/hif4-policy.ts';
import { FAMILIES, type Family } from '../../src/random/families.ts';
import { compareMany } from '../fast/many-blocks.ts';
import { pairwise } from '../fast/policies.ts';
import { HIF4_THIRD } from '../fast/third.ts';

const BLOCKS = 10_000_000;

test.each(Object.keys(FAMILIES) as Family[])('family %s [HIF4-05]', (family) => {
  expect(compareMany(HIF4_THIRD, family, pairwise(hif4Parameters), BLOCKS)).toBeGreaterThan(BLOCKS / 2);
});
