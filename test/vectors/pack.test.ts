/** The folder of vectors: rebuilt byte for byte, indexed, small, and valid against its schema. */
import { createHash } from 'node:crypto';
import Ajv2020 from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildPack, type PackedFile } from '../../src/vectors/pack.ts';
import { vectorBytes, vectorNames } from './vectors.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

interface Index {
  clauses: string[];
  counts: { files: number; bytes: number };
  files: { name: string; bytes: number; entries: number; sha256: string }[];
}
const index: Index = JSON.parse(vectorBytes('INDEX.json').toString());
const names = vectorNames();

describe('the folder is what npm run vectors writes [VEC-01, VEC-10]', () => {
  let built: PackedFile[] = [];
  beforeAll(() => {
    built = buildPack(sha256);
  }, 120_000);

  test('the same files', () => {
    expect(built.map(({ name }) => name).sort()).toEqual(names);
  });

  test.each(names)('%s', (name) => {
    const { bytes } = built.find((file) => file.name === name)!;
    expect(Buffer.compare(Buffer.from(bytes), vectorBytes(name))).toBe(0);
  });
});

test('INDEX.json lists every other file with its size and hash [VEC-10]', () => {
  expect(index.files.map(({ name }) => name)).toEqual(names.filter((name) => name !== 'INDEX.json'));
  for (const { name, bytes, sha256: expected } of index.files) {
    expect([name, vectorBytes(name).length, sha256(vectorBytes(name))]).toEqual([name, bytes, expected]);
  }
});

test('all files together have less than 10 MB [VEC-10]', () => {
  expect(names.reduce((sum, name) => sum + vectorBytes(name).length, 0)).toBeLessThan(10_000_000);
});

test('text: LF at the end, no CR, no byte order mark, a line for each entry [VEC-01]', () => {
  for (const name of names) {
    const text = vectorBytes(name).toString('utf8');
    expect([name, text.includes('\r'), text.startsWith('\ufeff'), text.endsWith('}\n')]).toEqual([
      name,
      false,
      false,
      true,
    ]);
    if (name === 'schema.json') continue;
    const tests = (JSON.parse(text).groups ?? []).flatMap((g: { tests?: object[] }) => g.tests ?? []);
    const lines = new Set(text.split('\n').map((line) => line.replace(/,$/, '')));
    expect(tests.filter((t: object) => !lines.has(JSON.stringify(t)))).toEqual([]);
  }
});

test('every function and profile has its file [VEC-02]', () => {
  const hif4 = [
    ...['authors', 'ascend', 'authors-numpy', 'authors-cuda-inner', 'authors-torch-bf16'],
    ...['pto-isa-tmatmul', 'supernpubench', 'parameters'],
  ];
  const mxfp4 = [
    ...['ocp', 'authors-numpy', 'torchao-floor', 'torchao-ceil', 'torchao-even', 'torchao-rceil'],
    ...['microxcaling-nearest', 'microxcaling-even', 'microxcaling-floor', 'ggml', 'gfloat-tiestoaway'],
    ...['triton-rtne-up', 'aiter-even'],
  ];
  const scalars = ['e2m1', 'e1m2', 'e6m2', 'e8m0', 'e4m3', 'e5m2', 'e4m3fnuz', 'e5m2fnuz'];
  const expected = [
    ...hif4.flatMap((p) => [`hif4_quantize.${p}`, `hif4_quantize_f32.${p}`]),
    ...mxfp4.flatMap((p) => [`mxfp4_quantize.${p}`, `mxfp4_quantize_f32.${p}`]),
    ...scalars.flatMap((x) => [`f32_to_${x}.any`, `bf16_to_${x}.any`, `${x}_to_f32.any`]),
    ...['f32_to_bf16.any', 'bf16_to_f32.any', 'e6m2_to_bf16_reciprocal.any', 'mxfp4_quantize_f32.parameters'],
    ...['hif4_dequantize.any', 'mxfp4_dequantize.any', 'invalid', 'stream', 'families', 'tensors'],
    ...['prune_2_4_hif4.any', 'prune_2_4_mxfp4.any', 'sparsity'],
    ...['schema', 'INDEX'],
  ];
  expect(expected.map((name) => `${name}.json`).filter((name) => !names.includes(name))).toEqual([]);
});

describe('schema.json [VEC-02]', () => {
  const ajv = new Ajv2020.default({ allowUnionTypes: true });
  const validate = ajv.compile(JSON.parse(vectorBytes('schema.json').toString()));
  const files = names.filter((name) => name !== 'schema.json');
  const parsed = (name: string) => JSON.parse(vectorBytes(name).toString());

  test.each(files)('%s is valid', (name) => {
    expect(validate(parsed(name))).toBe(true);
  });

  test.each(files)('%s with another key is not', (name) => {
    expect(validate({ ...parsed(name), date: 'today' })).toBe(false);
  });

  test('a test with another key, without an id or with a result that does not exist is not', () => {
    const file = parsed('mxfp4_quantize_f32.ocp.json');
    const [group] = file.groups;
    const [first, ...rest] = group.tests;
    const { id: _, ...anonymous } = first;
    for (const changed of [{ ...first, note: '' }, anonymous, { ...first, result: 'maybe' }]) {
      expect(validate({ ...file, groups: [{ ...group, tests: [changed, ...rest] }] })).toBe(false);
    }
  });
});
