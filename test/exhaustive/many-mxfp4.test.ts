/** 10^7 random MXFP4 blocks of every input family, every path against an independent encoder, under all pairs of parameters. */
import { expect, test } from 'vitest';
import { mxfp4Parameters } from '../../src/format/mxfp4-policy.ts';
import { FAMILIES, type Family } from '../../src/random/families.ts';
import { compareMany } from '../fast/many-blocks.ts';
import { pairwise } from '../fast/policies.ts';
import { MXFP4_THIRD } from '../fast/third.ts';

const BLOCKS = 10_000_000;

test.each(Object.keys(FAMILIES) as Family[])('family %s [MX-04]', (family) => {
  expect(compareMany(MXFP4_THIRD, family, pairwise(mxfp4Parameters), BLOCKS)).toBeGreaterThan(BLOCKS / 2);
});
