/**
 * 100,000 random units and blocks of every family: every path, and the encoders by arithmetic, against the definition.
 * The many more of many-blocks-1.test.ts and many-blocks-2.test.ts lean on this.
 */
import { expect, test } from 'vitest';
import { hif4Parameters } from '../../src/format/hif4-policy.ts';
import { mxfp4Parameters } from '../../src/format/mxfp4-policy.ts';
import { FAMILIES, type Family, fillFamily } from '../../src/random/families.ts';
import { type Answer, blockDifference, definedBlock, definedUnit, unitDifference } from '../fast/blocks.ts';
import { pairwise } from '../fast/policies.ts';
import { HIF4_THIRD, MXFP4_THIRD } from '../fast/third.ts';

const RUNS = 100_000;
const BEYOND_BF16 = 0x7f7f8000;

const staysFinite = (x: Uint32Array): boolean => x.every((w) => (w & 0x7fffffff) < BEYOND_BF16);

function byArithmetic<P>(
  {
    encode,
    decode,
  }: {
    encode: (x: Uint32Array, at: number, policy: P, codes: Uint8Array) => number;
    decode: (scale: number, codes: Uint8Array, out: Float32Array) => void;
  },
  x: Uint32Array,
  policy: P,
): Answer {
  const codes = new Uint8Array(x.length);
  const values = new Float32Array(x.length);
  const scale = encode(x, 0, policy, codes);
  decode(scale, codes, values);
  return { scale, codes: [...codes], back: [...new Uint32Array(values.buffer)] };
}

test.each(Object.keys(FAMILIES) as Family[])('family %s [HIF4-05, MX-04]', (family) => {
  const unitPolicies = pairwise(hif4Parameters).map((p) => ({ ...p, nonfinite: 'nan' as const }));
  const blockPolicies = pairwise(mxfp4Parameters).map((p) => ({ ...p, nonfinite: 'nan' as const }));
  const x64 = new Uint32Array(64);
  const x32 = new Uint32Array(32);
  for (let run = 0; run < RUNS; run++) {
    const type = run % 2 === 0 ? 'f32' : 'bf16';
    const draw = { family, seed: 20260730n, operand: 0, type, channels: 64 } as const;
    fillFamily(draw, 64 * run, x64);
    fillFamily(draw, 32 * run, x32);
    const shift = type === 'bf16' ? 16 : 0;
    const unit = x64.map((w) => w << shift);
    const block = x32.map((w) => w << shift);
    const unitPolicy = unitPolicies[(run >> 1) % unitPolicies.length]!;
    const blockPolicy = blockPolicies[(run >> 1) % blockPolicies.length]!;
    const difference = unitDifference(unit, unitPolicy) ?? blockDifference(block, blockPolicy);
    if (difference !== undefined) expect.fail(difference);
    if (staysFinite(unit)) {
      expect(byArithmetic(HIF4_THIRD, unit, unitPolicy)).toEqual(definedUnit(unit, unitPolicy));
    }
    if (staysFinite(block)) {
      expect(byArithmetic(MXFP4_THIRD, block, blockPolicy)).toEqual(definedBlock(block, blockPolicy));
    }
  }
});
