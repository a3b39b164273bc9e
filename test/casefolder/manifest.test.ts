/** The manifest against its published schema, for every function and form. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { DTYPES } from '../../src/casefolder/folder-array.ts';
import { FLAGS } from '../../src/casefolder/folder-flags.ts';
import { ENCODINGS } from '../../src/casefolder/folder-job.ts';
import { MANIFEST_SCHEMA } from '../../src/casefolder/manifest-schema.ts';
import { FUNCTIONS } from '../../src/functions/registry.ts';
import { page, tables } from '../spec/page.ts';
import { type Files, folderOf, jobOf, manifestOf, sha256, textOf } from './made-folder.ts';

const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(JSON.stringify(MANIFEST_SCHEMA)));

function expectValid(files: Files): void {
  validate(manifestOf(files));
  expect(validate.errors).toBeNull();
  const listed = manifestOf(files).files.flatMap((f) => [f, ...(f.places ? [f.places] : [])]);
  for (const { file, sha256: stated } of [...listed, ...manifestOf(files).companions]) {
    expect([file, sha256(files.get(file)!)]).toEqual([file, stated]);
  }
}

const generator = { family: 'ladder', seed: 2n ** 64n - 1n, range: [-3, 3], boundary: 1 } as const;

test.each(FUNCTIONS.map((f) => f.name))('%s [FOL-02, FOL-16]', (subject) => {
  expectValid(folderOf(jobOf({ subject }, { cases: 40, stages: true, generator })));
});

describe.each([...ENCODINGS])('encoding %s', (encoding) => {
  test('[FOL-02, FOL-12, FOL-16]', () => {
    expectValid(folderOf(jobOf({ subject: 'hif4_quantize' }, { cases: 3, stages: true, encoding })));
    expectValid(folderOf(jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape: [2, 64], encoding })));
  });
});

test('layouts, tails and PTO names [FOL-02, FOL-09, FOL-11, FOL-16]', () => {
  for (const layout of ['hif4-a-zz', 'hif4-unit36', 'high-first']) {
    expectValid(
      folderOf(jobOf({ subject: 'quantize', format: 'hif4' }, { shape: [5, 70], layout, generator })),
    );
  }
  for (const layout of ['nv-128x4', 'ggml', 'gpt-oss', 'mx-b-nn']) {
    expectValid(folderOf(jobOf({ subject: 'quantize', format: 'mxfp4' }, { shape: [5, 70], layout })));
  }
  expectValid(folderOf(jobOf({ subject: 'hif4_quantize' }, { cases: 20, names: 'pto', generator })));
});

test('every parameter in force is there [FOL-02]', () => {
  const files = folderOf(
    jobOf({ subject: 'mxfp4_quantize', profile: 'torchao-rceil', overrides: { ties: 'away' } }, { cases: 1 }),
  );
  const { profile, parameters } = manifestOf(files);
  expect(profile).toBe('torchao-rceil');
  expect(parameters).toEqual({
    ...{ input: 'f32', scale: 'rceil', ties: 'away', 'zero-scale': '00', 'scale-range': 'clamp' },
    ...{
      'scale-min': '00',
      'even-range': 'unbounded',
      'nan-code': '3',
      'zero-sign': 'keep',
      nonfinite: 'nan',
    },
  });
});

test('a payload makes NaNs differ [FOL-02]', () => {
  const nan = (overrides: Record<string, string>): string =>
    manifestOf(folderOf(jobOf({ subject: 'f32_to_bf16', overrides }, { cases: 1 }))).nan;
  expect([nan({}), nan({ nan: 'payload' })]).toEqual(['any', 'bits']);
});

test('the digest is that of the sorted manifest, as Python would write it [FOL-16]', () => {
  const files = folderOf(jobOf({ subject: 'e2m1_to_f32' }, { cases: 2 }));
  const { digest, ...rest } = JSON.parse(textOf(files, 'manifest.json'));
  const sorted = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return Array.isArray(value) ? value.map(sorted) : value;
    }
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, member]) => [key, sorted(member)]),
    );
  };
  expect(digest).toBe(sha256(Buffer.from(JSON.stringify(sorted(rest)))));
});

test('the schema refuses what is no file of the folder [FOL-16]', () => {
  const files = folderOf(jobOf({ subject: 'e2m1_to_f32' }, { cases: 2 }));
  for (const file of ['../x.bin', '/etc/passwd', 'a/b', '.hidden', '']) {
    const manifest = manifestOf(files);
    const changed = { ...manifest, files: [{ ...manifest.files[0]!, file }, ...manifest.files.slice(1)] };
    expect([file, validate(changed)]).toEqual([file, false]);
  }
});

describe('the page', () => {
  const table = (header: string): string[][] =>
    tables(page('folders.md')).find((t) => t.header[0] === header)!.rows;

  test('lists the flags [FOL-07]', () => {
    expect(table('bit').map(([bit, flag]) => [bit, flag])).toEqual(
      FLAGS.map((flag, bit) => [`${bit}`, flag]),
    );
  });

  test('lists the members [FOL-02]', () => {
    const members = table('member').flatMap(([names]) => names!.split(', '));
    expect(members).toEqual(
      Object.keys(MANIFEST_SCHEMA.properties).sort((a, b) => members.indexOf(a) - members.indexOf(b)),
    );
    const allTypes = [...DTYPES].every((dtype) => page('folders.md').includes(`\`${dtype}\``));
    expect(allTypes).toBe(true);
  });
});
