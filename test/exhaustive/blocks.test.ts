/** 100,000 random units and blocks of every family, fast path against definition. */
import { expect, test } from 'vitest';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { FAMILIES, type Family, fillFamily } from '../../src/random/families.ts';
import { bothHiF4, bothMxfp4 } from '../fast/blocks.ts';

const RUNS = 100_000;
const x64 = new Uint32Array(64);
const x32 = new Uint32Array(32);

test.each(Object.keys(FAMILIES) as Family[])('family %s [HIF4-05, MX-04]', (family) => {
  const policies = ['authors', 'ascend'].map((name) => hif4Policy(name));
  const blockPolicies = ['ocp', 'torchao-rceil', 'triton-rtne-up'].map((name) => mxfp4Policy(name));
  for (let run = 0; run < RUNS; run++) {
    const type = run % 2 === 0 ? 'f32' : 'bf16';
    const draw = { family, seed: 20260730n, operand: 0, type, channels: 64 } as const;
    fillFamily(draw, 64 * run, x64);
    fillFamily(draw, 32 * run, x32);
    const shift = type === 'bf16' ? 16 : 0;
    const unit = bothHiF4(
      x64.map((w) => w << shift),
      policies[run % 2]!,
    );
    const block = bothMxfp4(
      x32.map((w) => w << shift),
      blockPolicies[run % 3]!,
    );
    if (unit.fast.join() !== unit.defined.join()) expect.fail(`unit ${run} of ${family} differs`);
    if (block.fast.join() !== block.defined.join()) expect.fail(`block ${run} of ${family} differs`);
  }
});
