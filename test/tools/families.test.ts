/** The twins of the input families: Python, C and SystemVerilog against the library. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAMILIES, type Family } from '../../src/random/families.ts';
import { fp4 } from '../cli/run-command.ts';
import { type Asked, installed, libraryLines, TWINS, twinLines } from './twins.ts';

const families = Object.keys(FAMILIES) as Family[];
const CLAUSE: Record<Family, string> = {
  bits: 'RND-04',
  'bits-any': 'RND-04',
  gauss: 'RND-05',
  ladder: 'RND-06',
  ties: 'RND-07',
  'outlier-element': 'RND-08',
  'outlier-channel': 'RND-09',
  'zeros-mixed': 'RND-10',
};
/** 387 is no divisor of 64, so that channels and groups differ. */
const start = { seed: 0n, operand: 0, first: 0, count: 500, channels: 387 };
const beyond = {
  seed: 0xfedcba9876543210n,
  operand: 3,
  first: 2 ** 32 - 1000,
  count: 2000,
  channels: 387,
};

const directory = mkdtempSync(join(tmpdir(), 'families-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe.each(TWINS)('$language', (twin) => {
  beforeAll(() => {
    if (!installed(twin.tool)) throw new Error(`${twin.tool} is not on PATH; this test needs it`);
    twin.prepare(directory);
  });
  const lines = (asked: Asked): Promise<string[]> => twinLines(twin, directory, asked);

  test('key 0, counter 0 of Philox, as its authors give it [RND-01]', async () => {
    expect(await lines({ ...start, family: 'bits', type: 'f32', count: 1 })).toEqual(['6627e8d5']);
  });

  describe.each(['bf16', 'f32'] as const)('%s', (type) => {
    test.each(families.map((family) => [family, CLAUSE[family]] as const))(
      '%s, from the first element and beyond 2^32 [RND-02, RND-03, %s]',
      async (family) => {
        for (const where of [start, beyond]) {
          const asked = { ...where, family, type };
          expect(await lines(asked)).toEqual(libraryLines(asked));
        }
      },
    );

    const infinity = 0xff << (type === 'bf16' ? 7 : 23);
    /** The word without its sign. */
    const magnitude = (word: string): number =>
      Number.parseInt(word, 16) % (type === 'bf16' ? 2 ** 15 : 2 ** 31);
    test('ladder of subnormals [RND-02, RND-06]', async () => {
      const asked: Asked = { ...beyond, family: 'ladder', type, range: [-170, -120] };
      const found = await lines(asked);
      expect(found).toEqual(libraryLines(asked));
      const subnormal = found.map(magnitude).filter((m) => m > 0 && m < 1 << (type === 'bf16' ? 7 : 23));
      expect(subnormal.length).toBeGreaterThan(100);
      // A value that rounding carries to zero keeps its sign.
      expect(found.filter((word) => /^80+$/.test(word)).length).toBeGreaterThan(100);
    });

    test('ladder of overflows [RND-02, RND-06]', async () => {
      const asked: Asked = { ...beyond, family: 'ladder', type, range: [120, 135] };
      const found = await lines(asked);
      expect(found).toEqual(libraryLines(asked));
      expect(found.map(magnitude).filter((m) => m === infinity).length).toBeGreaterThan(100);
      expect(Math.max(...found.map(magnitude))).toBe(infinity);
    });
  });

  test('a negated zero of ties stays +0 [RND-07]', async () => {
    const found = await lines({ ...start, family: 'ties', type: 'bf16' });
    expect(found.filter((word) => word === '0000').length).toBeGreaterThan(3);
    expect(found).not.toContain('8000');
  });

  test('the elements of fp4 gen and fp4 tensor [RND-02]', async () => {
    const seed = ['--family', 'ladder', '--seed', '7'];
    const asked = { seed: 7n, operand: 0, first: 0, count: 1280, channels: 64, family: 'ladder' } as const;
    const gen = await fp4('gen', 'hif4_quantize', '--inputs-only', '-n', '20', ...seed);
    expect(await lines({ ...asked, type: 'bf16' })).toEqual(gen.stdout.trimEnd().split(/\s/));

    const file = join(directory, 'x.npy');
    expect((await fp4('tensor', '20x64', '-o', file, ...seed)).code).toBe(0);
    const bytes = readFileSync(file).subarray(128);
    const elements = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32LE(4 * i));
    const hex = elements.map((word) => word.toString(16).padStart(8, '0'));
    expect(await lines({ ...asked, type: 'f32' })).toEqual(hex);
  });
});
