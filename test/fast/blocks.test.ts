/** Whole units and blocks: the fast path gives what the definition gives, under every profile and mixed policies. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dequantizeUnits } from '../../src/fast/hif4.ts';
import { decodeUnit } from '../../src/format/hif4.ts';
import { type HiF4Policy, hif4Parameters, hif4Profiles } from '../../src/format/hif4-policy.ts';
import { type Mxfp4Policy, mxfp4Parameters, mxfp4Profiles } from '../../src/format/mxfp4-policy.ts';
import type { ParameterTable } from '../../src/format/policy.ts';
import { encodingBoundary as hif4Boundary, widened } from '../../src/functions/hif4-boundary.ts';
import { encodingBoundary as mxfp4Boundary } from '../../src/functions/mxfp4-boundary.ts';
import { encode } from '../../src/number/binary-format.ts';
import { FP32 } from '../../src/number/floats.ts';
import { FAMILIES, type Family, fillFamily } from '../../src/random/families.ts';
import { bothHiF4, bothMxfp4 } from './blocks.ts';

/** Policies that refuse a NaN cannot be compared on one. */
const answering = <P extends { nonfinite: string }>(policy: P): boolean =>
  policy.nonfinite !== 'error' && policy.nonfinite !== 'top-scale';

const anyPolicy = <P extends { nonfinite: string }>(table: ParameterTable): fc.Arbitrary<P> =>
  fc
    .record(
      Object.fromEntries(Object.entries(table).map(([name, values]) => [name, fc.constantFrom(...values)])),
    )
    .map((policy) => policy as unknown as P)
    .filter(answering);

const family = fc.constantFrom(...(Object.keys(FAMILIES) as Family[]));

function draw(name: Family, seed: number, type: 'bf16' | 'f32', count: number): Uint32Array {
  const x = new Uint32Array(count);
  fillFamily({ family: name, seed: BigInt(seed), operand: 0, type, channels: count, range: [-60, 60] }, 0, x);
  return type === 'bf16' ? x.map((w) => w << 16) : x;
}

const block = (count: number) =>
  fc
    .tuple(family, fc.nat(), fc.constantFrom('bf16' as const, 'f32' as const))
    .map(([name, seed, type]) => draw(name, seed, type, count));

describe('HiF4', () => {
  test.each(hif4Profiles)('boundary units under profile $name [HIF4-05]', ({ policy }) => {
    for (const { inputs, note } of widened(hif4Boundary(1))) {
      const { defined, fast } = bothHiF4(Uint32Array.from(inputs[0]!), policy);
      expect(fast, note).toEqual(defined);
    }
  });

  test('random units under random policies [HIF4-05, HIF4-20]', () => {
    const property = fc.property(block(64), anyPolicy<HiF4Policy>(hif4Parameters), (x, policy) => {
      const { defined, fast } = bothHiF4(x, policy);
      expect(fast).toEqual(defined);
    });
    fc.assert(property, { numRuns: 8000, seed: 1 });
  });

  test('random scale words and codes decode alike [HIF4-03]', () => {
    const scale = fc.integer({ min: 0, max: 0xffffffff });
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const property = fc.property(scale, bytes, (word, codes) => {
      const nibbles = [...codes].flatMap((b) => [b & 15, b >> 4]);
      const defined = decodeUnit(word, nibbles).map((v) => encode(FP32, v, 'even', 'nonfinite'));
      expect([...dequantizeUnits(Uint32Array.of(word), codes)]).toEqual(defined);
    });
    fc.assert(property, { numRuns: 2000, seed: 2 });
  });
});

describe('MXFP4', () => {
  test.each(mxfp4Profiles.filter((p) => answering(p.policy)))(
    'boundary blocks under profile $name [MX-04]',
    ({ policy }) => {
      for (const { inputs, note } of mxfp4Boundary(2)) {
        const { defined, fast } = bothMxfp4(Uint32Array.from(inputs[0]!), policy);
        expect(fast, note).toEqual(defined);
      }
    },
  );

  test('random blocks under random policies [MX-04, MX-20]', () => {
    const property = fc.property(block(32), anyPolicy<Mxfp4Policy>(mxfp4Parameters), (x, policy) => {
      const { defined, fast } = bothMxfp4(x, policy);
      expect(fast).toEqual(defined);
    });
    fc.assert(property, { numRuns: 20000, seed: 3 });
  });
});
