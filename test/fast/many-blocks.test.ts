/** The short form of test/exhaustive/many-blocks-*.test.ts: 10^7 blocks a family there, 10^4 here. */
import { expect, test } from 'vitest';
import { FAMILIES, type Family } from '../../src/random/families.ts';
import { compareMany } from './many-blocks.ts';

test.each(Object.keys(FAMILIES) as Family[])('family %s [HIF4-05, MX-04]', (family) => {
  const { units, blocks } = compareMany(family, 10_000);
  // Under bits-any one unit in five and one block in eight has a NaN or an infinity and is left out.
  expect(units).toBeGreaterThan(7000);
  expect(blocks).toBeGreaterThan(8000);
});
