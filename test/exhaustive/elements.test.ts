/** Every BF16 magnitude under every scale: 24,969,600 HiF4 and 8,323,200 MXFP4 elements a profile. */
import { expect, test } from 'vitest';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { compareHiF4, compareMxfp4, grid } from '../fast/elements.ts';

const all = grid(0, 1, false);

test.each(['authors', 'ascend'])('HiF4 elements, %s [HIF4-12]', (name) => {
  const policy = hif4Policy(name);
  let compared = 0;
  for (let e6m2 = 0; e6m2 < 0xff; e6m2++) {
    for (const increment of [0, 1, 2]) {
      const result = compareHiF4(all, e6m2, increment, policy);
      expect(result).toBeTypeOf('number');
      compared += result as number;
    }
  }
  expect(compared).toBe(32640 * 255 * 3);
});

test.each(['even', 'away'])('MXFP4 elements, ties=%s [MX-12]', (ties) => {
  const policy = mxfp4Policy('ocp', { ties });
  let compared = 0;
  for (let scale = 0; scale < 0xff; scale++) {
    const result = compareMxfp4(all, scale, policy);
    expect(result).toBeTypeOf('number');
    compared += result as number;
  }
  expect(compared).toBe(32640 * 255);
});
