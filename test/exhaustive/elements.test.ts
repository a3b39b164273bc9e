/**
 * The finite domains: every BF16 magnitude as largest of a unit and of a block under every rule for scales, and every BF16
 * magnitude of both signs under every scale that can stand beside it, with none, one and two exponent bits.
 */
import { expect, test } from 'vitest';
import { hif4Parameters, hif4Policy } from '../../src/format/hif4-policy.ts';
import { mxfp4Parameters, mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { blockDifference, unitDifference } from '../fast/blocks.ts';
import { hif4Tops, hif4Units, MAGNITUDES, mxfp4Blocks, mxfp4Tops } from '../fast/elements.ts';

const fail = (difference: string | undefined): void => {
  if (difference !== undefined) expect.fail(difference);
};

test.each(['authors', 'ascend', 'authors-torch-bf16'])('HiF4 elements, %s [HIF4-12]', (name) => {
  const policy = hif4Policy(name);
  let units = 0;
  for (const top of hif4Tops(policy)) {
    for (const negative of [false, true]) {
      for (const x of hif4Units(top!, { first: 0, step: 1, negative })) {
        fail(unitDifference(x, policy));
        units++;
      }
    }
  }
  expect(units).toBeGreaterThan(255 * 2 * 900);
});

test.each(hif4Parameters.sf)('HiF4 scales, sf=%s [HIF4-06, HIF4-07]', (sf) => {
  for (const ties of hif4Parameters['e6m2-ties']) {
    for (const range of hif4Parameters['e6m2-range']) {
      for (const input of hif4Parameters.input) {
        const policy = hif4Policy('authors', { sf, 'e6m2-ties': ties, 'e6m2-range': range, input });
        const x = new Uint32Array(64);
        // Under FP32 every fourth upper half, beside it the word before or after; and the subnormals below the first.
        const step = input === 'bf16' ? 1 : 4;
        for (let word = 0; word < MAGNITUDES; word += step) {
          x[5] = word * 0x10000 + (input === 'bf16' ? 0 : (word % 16) * 0x1111);
          x[40] = 0x80000000 + (x[5] >>> 1);
          fail(unitDifference(x, policy));
        }
      }
    }
  }
});

test.each(mxfp4Parameters.ties)('MXFP4 elements, ties=%s [MX-12]', (ties) => {
  for (const input of mxfp4Parameters.input) {
    const policy = mxfp4Policy('ocp', { ties, input });
    const offset = input === 'f32' ? 1 : 0;
    for (const top of mxfp4Tops(policy)) {
      for (const negative of [false, true]) {
        for (const x of mxfp4Blocks(top ?? 0, { first: 0, step: 1, negative, offset })) {
          fail(blockDifference(x, policy));
        }
      }
    }
  }
});

test.each(mxfp4Parameters.scale)('MXFP4 scales, scale=%s [MX-05, MX-06, MX-07, MX-08, MX-09]', (scale) => {
  for (const range of mxfp4Parameters['scale-range']) {
    const policy = mxfp4Policy('ocp', { scale, 'scale-range': range, 'even-range': 'f32' });
    const x = new Uint32Array(32);
    for (let word = 0; word < MAGNITUDES; word++) {
      for (const lower of [0, 1, 0xffff]) {
        x[5] = word * 0x10000 + lower;
        x[20] = 0x80000000 + (x[5] >>> 1);
        fail(blockDifference(x, policy));
      }
    }
  }
});
