/** A covering subset of the exhaustive element comparison (test/exhaustive has all of it). */
import { expect, test } from 'vitest';
import { hif4Parameters, hif4Policy, hif4Profiles } from '../../src/format/hif4-policy.ts';
import { mxfp4Parameters, mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { blockDifference, unitDifference } from './blocks.ts';
import { hif4Tops, hif4Units, mxfp4Blocks, mxfp4Tops } from './elements.ts';

test('HiF4 elements: every scale, every increment, a prime stride of magnitudes, every profile [HIF4-09, HIF4-12]', () => {
  for (const { policy } of hif4Profiles) {
    for (const [e6m2, top] of hif4Tops(policy).entries()) {
      const g = { first: e6m2 % 211, step: 211, negative: e6m2 % 2 === 1 };
      for (const x of hif4Units(top ?? 0, g)) expect(unitDifference(x, policy)).toBeUndefined();
    }
  }
});

test('HiF4 elements: every tie rule by every kind of reciprocal and product, in both inputs [HIF4-12]', () => {
  for (const ties of hif4Parameters.ties) {
    for (const reciprocal of hif4Parameters.reciprocal) {
      for (const products of hif4Parameters.products) {
        for (const input of hif4Parameters.input) {
          const policy = hif4Policy('authors', { ties, reciprocal, products, input });
          const g = { step: 1, offset: [0, 1, -1, 0x8000][ties.length % 4]! };
          for (const [f, top] of hif4Tops(policy).slice(0xc0, 0xc4).entries()) {
            // Six binades below the largest: the ties of the four significands.
            const grid = { ...g, first: top! - 6 * 128, negative: (f + ties.length) % 2 === 1 };
            for (const x of hif4Units(top!, grid)) expect(unitDifference(x, policy)).toBeUndefined();
          }
        }
      }
    }
  }
});

test('MXFP4 elements: every scale over a prime stride, every tie rule, in both inputs [MX-12]', () => {
  const scales = mxfp4Tops(mxfp4Policy());
  for (const ties of mxfp4Parameters.ties) {
    for (const input of mxfp4Parameters.input) {
      const policy = mxfp4Policy('ocp', { ties, input });
      for (const [scale, top] of scales.entries()) {
        const g = { first: scale % 509, step: 509, negative: scale % 2 === 1 };
        for (const x of mxfp4Blocks(top ?? 0, g)) expect(blockDifference(x, policy)).toBeUndefined();
      }
    }
  }
});

test('MXFP4 elements: every magnitude under scale 1, and the FP32 words beside it, every tie rule [MX-12]', () => {
  const top = mxfp4Tops(mxfp4Policy())[0x7f]!;
  for (const ties of mxfp4Parameters.ties) {
    const policy = mxfp4Policy('ocp', { ties });
    for (const offset of [0, 1, -1]) {
      const g = { first: 0x3d00, step: 1, offset, negative: offset === 1 };
      for (const x of mxfp4Blocks(top, g)) expect(blockDifference(x, policy)).toBeUndefined();
    }
  }
});
