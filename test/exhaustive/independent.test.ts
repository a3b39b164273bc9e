/** The long form of test/format/independent.test.ts. */
import { expect, test } from 'vitest';
import { hif4AgainstThresholds, mxfp4AgainstThresholds } from '../format/independent.ts';

test('HiF4 equals an independent encoder on 200,000 units [HIF4-05] [HIF4-20]', () => {
  expect(hif4AgainstThresholds(200_000, 30)).toEqual([]);
});

test('MXFP4 equals an independent encoder on 400,000 blocks [MX-04] [MX-20]', () => {
  expect(mxfp4AgainstThresholds(400_000, 31)).toEqual([]);
});
