/** A covering subset of the exhaustive element comparison (test/exhaustive has all of it). */
import { expect, test } from 'vitest';
import { hif4Parameters, hif4Policy, hif4Profiles } from '../../src/format/hif4-policy.ts';
import { mxfp4Parameters, mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { compareHiF4, compareMxfp4, grid, MAGNITUDES } from './elements.ts';

const all = grid(0, 1, false);

test.each(['authors', 'ascend'])(
  'HiF4 elements under the four significands of one binade, %s [HIF4-12]',
  (name) => {
    const policy = hif4Policy(name);
    for (const e6m2 of [0xc0, 0xc1, 0xc2, 0xc3]) {
      for (const increment of [0, 1, 2]) expect(compareHiF4(all, e6m2, increment, policy)).toBe(MAGNITUDES);
    }
  },
);

test('HiF4 elements: every scale, every increment, a prime stride of magnitudes, every profile [HIF4-09, HIF4-12]', () => {
  for (const { policy } of hif4Profiles) {
    for (let e6m2 = 0; e6m2 < 0xff; e6m2++) {
      const g = grid(e6m2 % 211, 211, e6m2 % 2 === 1);
      for (const increment of [0, 1, 2]) expect(compareHiF4(g, e6m2, increment, policy)).toBe(g.words.length);
    }
  }
});

test('HiF4 elements: every tie rule by every kind of reciprocal and product [HIF4-12]', () => {
  for (const ties of hif4Parameters.ties) {
    for (const reciprocal of hif4Parameters.reciprocal) {
      for (const products of hif4Parameters.products) {
        const policy = hif4Policy('authors', { ties, reciprocal, products });
        for (const negative of [false, true]) {
          // Magnitudes from 2^-8 to 2^4 meet the ties of scales 1 to 1.75.
          const g = grid(0x3b80 % 7, 7, negative);
          for (const e6m2 of [0xc0, 0xc1, 0xc2, 0xc3]) {
            expect(compareHiF4(g, e6m2, (e6m2 + Number(negative)) % 3, policy)).toBe(g.words.length);
          }
        }
      }
    }
  }
});

test('MXFP4 elements: every magnitude under scale 1, every scale over a prime stride, every tie rule [MX-12]', () => {
  for (const ties of mxfp4Parameters.ties) {
    const policy = mxfp4Policy('ocp', { ties });
    expect(compareMxfp4(all, 0x7f, policy)).toBe(MAGNITUDES);
    for (let scale = 0; scale < 0xff; scale++) {
      const g = grid(scale % 509, 509, scale % 2 === 1);
      expect(compareMxfp4(g, scale, policy)).toBe(g.words.length);
    }
  }
});
