/** The short form of test/exhaustive/many-hif4.test.ts and many-mxfp4.test.ts: 10^7 blocks a family there, 10^4 here. */
import { expect, test } from 'vitest';
import { hif4Parameters } from '../../src/format/hif4-policy.ts';
import { mxfp4Parameters } from '../../src/format/mxfp4-policy.ts';
import { FAMILIES, type Family } from '../../src/random/families.ts';
import { compareMany } from './many-blocks.ts';
import { pairwise } from './policies.ts';
import { HIF4_THIRD, MXFP4_THIRD } from './third.ts';

test.each(Object.keys(FAMILIES) as Family[])('family %s [HIF4-05, MX-04]', (family) => {
  // Under bits-any about one block in five (units), one in eight (blocks) has a NaN or an infinity and is left out.
  expect(compareMany(HIF4_THIRD, family, pairwise(hif4Parameters), 10_000)).toBeGreaterThan(7000);
  expect(compareMany(MXFP4_THIRD, family, pairwise(mxfp4Parameters), 10_000)).toBeGreaterThan(8000);
});
