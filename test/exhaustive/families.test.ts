/** A million elements of the input families in each of three languages, against the library. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAMILIES, type Family } from '../../src/random/families.ts';
import { type Asked, installed, libraryLines, TWINS, twinLines } from '../tools/twins.ts';

const families = Object.keys(FAMILIES) as Family[];
const TYPES = ['bf16', 'f32'] as const;
const COUNT = 1_000_000 / (families.length * TYPES.length);

const directory = mkdtempSync(join(tmpdir(), 'families-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe.each(TWINS)('$language', (twin) => {
  beforeAll(() => {
    if (!installed(twin.tool)) throw new Error(`${twin.tool} is not on PATH; this test needs it`);
    twin.prepare(directory);
  });

  describe.each(TYPES)('%s', (type) => {
    test.each(families)(
      '%s [RND-01, RND-02, RND-03, RND-04, RND-05, RND-06, RND-07, RND-08, RND-09, RND-10]',
      async (family) => {
        const where = { seed: 2n ** 63n + 11n, operand: 1, first: 2 ** 40 - 31_000, channels: 4099 };
        const asked: Asked = { ...where, family, type, count: COUNT };
        const found = await twinLines(twin, directory, asked);
        const expected = libraryLines(asked);
        expect(found.length).toBe(COUNT);
        const at = found.findIndex((word, j) => word !== expected[j]);
        expect([at, found[at], expected[at]]).toEqual([-1, undefined, undefined]);
      },
    );
  });
});
