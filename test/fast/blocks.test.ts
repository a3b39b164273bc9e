/** Whole units and blocks: the fast path gives what the definition gives, under every profile and mixed policies. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hif4Codec } from '../../src/fast/hif4.ts';
import { mxfp4Codec } from '../../src/fast/mxfp4.ts';
import { HIF4_PATHS, MXFP4_PATHS } from '../../src/fast/paths.ts';
import { decodeUnit } from '../../src/format/hif4.ts';
import { type HiF4Policy, hif4Parameters, hif4Policy, hif4Profiles } from '../../src/format/hif4-policy.ts';
import { decodeBlock } from '../../src/format/mxfp4.ts';
import {
  type Mxfp4Policy,
  mxfp4Parameters,
  mxfp4Policy,
  mxfp4Profiles,
} from '../../src/format/mxfp4-policy.ts';
import type { ParameterTable } from '../../src/format/policy.ts';
import { encodingBoundary as hif4Boundary, widened } from '../../src/functions/hif4-boundary.ts';
import { encodingBoundary as mxfp4Boundary } from '../../src/functions/mxfp4-boundary.ts';
import { encode, type FloatValue } from '../../src/number/binary-format.ts';
import { FP32 } from '../../src/number/floats.ts';
import { FAMILIES, type Family, fillFamily } from '../../src/random/families.ts';
import { blockDifference, definedUnit, unitDifference } from './blocks.ts';
import { pairwise } from './policies.ts';

const anyPolicy = <P>(table: ParameterTable): fc.Arbitrary<P> =>
  fc
    .record(
      Object.fromEntries(Object.entries(table).map(([name, values]) => [name, fc.constantFrom(...values)])),
    )
    .map((policy) => policy as unknown as P);

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

const nibbles = (bytes: Uint8Array): number[] => [...bytes].flatMap((b) => [b & 15, b >> 4]);
const words = (values: readonly FloatValue[]): number[] =>
  values.map((v) => encode(FP32, v, 'even', 'nonfinite'));

describe('HiF4', () => {
  const boundary = [...widened(hif4Boundary(1))];

  test.each(hif4Profiles)('boundary units under profile $name [HIF4-05]', ({ policy }) => {
    for (const { inputs, note } of boundary) {
      expect(unitDifference(Uint32Array.from(inputs[0]!), policy), note).toBeUndefined();
    }
  });

  test('a third of the boundary units each, under every pair of parameter values [HIF4-20]', () => {
    for (const [n, policy] of pairwise(hif4Parameters).entries()) {
      for (const { inputs, note } of boundary.filter((_, j) => j % 3 === n % 3)) {
        expect(unitDifference(Uint32Array.from(inputs[0]!), policy), note).toBeUndefined();
      }
    }
  });

  test('random units under random policies [HIF4-05, HIF4-20]', () => {
    const property = fc.property(block(64), anyPolicy<HiF4Policy>(hif4Parameters), (x, policy) => {
      expect(unitDifference(x, policy)).toBeUndefined();
    });
    fc.assert(property, { numRuns: 8000, seed: 1 });
  });

  test.each(HIF4_PATHS)('$name: random scale words and codes decode alike [HIF4-03]', ({ codec }) => {
    const scale = fc.oneof(
      fc.integer({ min: 0, max: 0xffffffff }),
      fc.integer({ min: 0, max: 0xffffff }).map((bits) => bits * 256 + 0xff),
    );
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const out = new Uint32Array(65);
    const property = fc.property(scale, bytes, fc.integer({ min: 0, max: 1 }), (word, codes, start) => {
      const back = out.subarray(start, start + 64);
      codec(hif4Policy()).dequantize(Uint32Array.of(word), codes, back);
      expect([...back]).toEqual(words(decodeUnit(word, nibbles(codes))));
    });
    fc.assert(property, { numRuns: 2000, seed: 2 });
  });
});

describe('MXFP4', () => {
  const boundary = [...mxfp4Boundary(2)];

  test.each(mxfp4Profiles)('boundary blocks under profile $name [MX-04]', ({ policy }) => {
    for (const { inputs, note } of boundary) {
      expect(blockDifference(Uint32Array.from(inputs[0]!), policy), note).toBeUndefined();
    }
  });

  test('a third of the boundary blocks each, under every pair of parameter values [MX-20]', () => {
    for (const [n, policy] of pairwise(mxfp4Parameters).entries()) {
      for (const { inputs, note } of boundary.filter((_, j) => j % 3 === n % 3)) {
        expect(blockDifference(Uint32Array.from(inputs[0]!), policy), note).toBeUndefined();
      }
    }
  });

  test('random blocks under random policies [MX-04, MX-20]', () => {
    const property = fc.property(block(32), anyPolicy<Mxfp4Policy>(mxfp4Parameters), (x, policy) => {
      expect(blockDifference(x, policy)).toBeUndefined();
    });
    fc.assert(property, { numRuns: 20000, seed: 3 });
  });

  test.each(MXFP4_PATHS)(
    '$name: every scale byte and every byte of codes decode alike [MX-02]',
    ({ codec }) => {
      const out = new Uint32Array(33);
      for (let scale = 0; scale < 256; scale++) {
        for (let first = 0; first < 256; first += 16) {
          const codes = Uint8Array.from({ length: 16 }, (_, j) => first + j);
          const back = out.subarray(scale & 1, (scale & 1) + 32);
          codec(mxfp4Policy()).dequantize(Uint8Array.of(scale), codes, back);
          expect([...back]).toEqual(words(decodeBlock(scale, nibbles(codes))));
        }
      }
    },
  );
});

describe('arrays of the caller', () => {
  const numbers = Uint32Array.from({ length: 192 }, (_, j) => 0x3f800000 + j * 0x10000);

  test('blocks are written one after another, and nothing else', () => {
    const codec = hif4Codec(hif4Policy());
    const scales = new Uint32Array(5).fill(1);
    const codes = new Uint8Array(98).fill(0xee);
    codec.quantize(numbers, scales.subarray(1, 4), codes.subarray(1, 97));
    for (let unit = 0; unit < 3; unit++) {
      const { scale, codes: defined } = definedUnit(
        numbers.subarray(64 * unit, 64 * unit + 64),
        hif4Policy(),
      );
      expect(scales[1 + unit]).toBe(scale);
      expect(nibbles(codes.subarray(1 + 32 * unit, 33 + 32 * unit))).toEqual(defined);
    }
    expect([scales[0], scales[4], codes[0], codes[97]]).toEqual([1, 1, 0xee, 0xee]);
  });

  test('lengths that do not belong together are refused', () => {
    const hif4 = hif4Codec(hif4Policy());
    const mxfp4 = mxfp4Codec(mxfp4Policy());
    const codes = (n: number): Uint8Array => new Uint8Array(n);
    expect(() => hif4.quantize(numbers.subarray(1), new Uint32Array(3), codes(96))).toThrow('191 values');
    expect(() => hif4.quantize(numbers, new Uint32Array(2), codes(96))).toThrow('3 units');
    expect(() => mxfp4.quantize(numbers, codes(6), codes(95))).toThrow('96 code bytes, not 95');
    expect(() => mxfp4.dequantize(codes(5), codes(96), numbers)).toThrow('6 blocks');
  });

  test('a refusal names the unit, and the units before it are written [CON-05]', () => {
    const policy = hif4Policy('authors', { nonfinite: 'error' });
    const x = numbers.slice();
    x[130] = 0x7f800000;
    const scales = new Uint32Array(3);
    expect(() => hif4Codec(policy).quantize(x, scales, new Uint8Array(96))).toThrow('unit 2: element 2');
    expect(scales[1]).toBe(definedUnit(x.subarray(64, 128), policy).scale);
  });
});
