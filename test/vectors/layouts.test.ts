/** Layout vectors: every byte at the place that the text of spec/layouts.md gives it, by index arithmetic of its own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fp4 } from '../cli/run-command.ts';
import { temporaryFolder } from '../node/tensor-bytes.ts';
import { vectorFile } from './vectors.ts';

interface LayoutTest {
  readonly id: string;
  readonly comment: string;
  readonly layout: string;
  readonly format: 'hif4' | 'mxfp4';
  readonly shape: number[];
  readonly axis: number;
  readonly 'pack-axis'?: number;
  readonly codes: string;
  readonly scales: string;
  readonly arrays: { name: string; type: string; shape: number[]; bytes: string }[];
  readonly lengths: Record<string, number>;
  readonly error: string;
}

const group = (subject: string) =>
  vectorFile<LayoutTest>('layouts.json').groups.find((g) => g.subject === subject)!.tests;
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** Where byte k of the scale of row r and block b stands, with n blocks a row. */
const SCALES: Record<string, (r: number, b: number, k: number, n: number) => number> = {
  'hif4-a-zz': (r, b, k, n) => 64 * (Math.floor(r / 16) * n + b) + cell(r % 16, k),
  'hif4-b-nn': (r, b, k, n) => 64 * (Math.floor(r / 16) * n + b) + cell(r % 16, k),
  'hif4-exp-dst': (r, b, k, n) => 64 * Math.floor((r * n + b) / 16) + cell((r * n + b) % 16, k),
  'nv-128x4': (r, b, _, n) =>
    512 * (Math.floor(r / 128) * Math.ceil(n / 4) + Math.floor(b / 4)) +
    16 * (r % 32) +
    4 * (Math.floor(r / 32) % 4) +
    (b % 4),
  'mx-a-zz': (r, b, _, n) => mx(r, b, n),
  'mx-b-nn': (r, b, _, n) => mx(r, b, n),
  ggml: (r, b, _, n) => 17 * (r * n + b),
  'hif4-unit36': (r, b, k, n) => 36 * (r * n + b) + 32 + k,
};
const cell = (lane: number, k: number): number => (k < 2 ? 2 * lane + k : 30 + 2 * lane + k);
const mx = (r: number, b: number, n: number): number =>
  32 * (Math.floor(r / 16) * Math.ceil(n / 2) + Math.floor(b / 2)) + 2 * (r % 16) + (b % 2);

describe.each(Object.entries(SCALES))('%s', (layout, place) => {
  test('scales where the text has them, 00 or codes elsewhere [LAY-04, LAY-05, LAY-07, LAY-08, LAY-09, LAY-10]', () => {
    const tests = group('layouts').filter((t) => t.layout === layout);
    expect(tests.length).toBeGreaterThan(4);
    for (const t of tests) {
      const rows = t.shape.toSpliced(t.axis, 1).reduce((a, b) => a * b, 1);
      const width = t.format === 'hif4' ? 4 : 1;
      const blocks = Math.ceil(t.shape[t.axis]! / (t.format === 'hif4' ? 64 : 32));
      const scales = bytes(t.scales);
      const array = t.arrays.find(({ name }) => name === 'scales') ?? t.arrays[0]!;
      const found = bytes(array.bytes);
      const reached = new Set<number>();
      for (let i = 0; i < scales.length; i++) {
        const at = place(Math.floor(i / width / blocks), Math.floor(i / width) % blocks, i % width, blocks);
        reached.add(at);
        expect([t.id, i, found[at]]).toEqual([t.id, i, scales[i]]);
      }
      expect(reached.size).toBe(rows * blocks * width);
      if (array.name !== 'scales') continue;
      const padding = found.filter((_, at) => !reached.has(at));
      expect(padding.every((byte) => byte === 0)).toBe(true);
    }
  });
});

/** The nibble at index n. */
const nibble = (hex: string, n: number): number => (bytes(hex)[n >> 1]! >> (4 * (n & 1))) & 15;

test('codes: nibbles exchanged, halves of ggml, whole units [LAY-03, LAY-04, LAY-05, LAY-06]', () => {
  for (const t of group('layouts').filter((one) => one['pack-axis'] === undefined)) {
    const codes = t.arrays.find(({ name }) => name.endsWith('codes') || name === '_blocks');
    const size = t.format === 'hif4' ? 64 : 32;
    const count = 2 * bytes(t.codes).length;
    for (let q = 0; q < count; q++) {
      const [block, i] = [Math.floor(q / size), q % size];
      const at: Record<string, number> = {
        'high-first': q ^ 1,
        ggml: 34 * block + 2 + 2 * (i % 16) + Math.floor(i / 16),
        'hif4-unit36': 72 * block + i,
      };
      const { bytes: stored } = codes ?? t.arrays[0]!;
      expect([t.id, q, nibble(stored, at[t.layout] ?? q)]).toEqual([t.id, q, nibble(t.codes, q)]);
    }
  }
});

test('pairs along another axis [LAY-11]', () => {
  const tests = group('layouts').filter((t) => t['pack-axis'] === 1);
  expect(tests.length).toBeGreaterThan(8);
  for (const t of tests) {
    const [k, n] = t.shape as [number, number];
    const size = t.format === 'hif4' ? 64 : 32;
    const padded = Math.ceil(k / size) * size;
    const { bytes: stored, shape } = t.arrays.find(({ name }) => name === 'codes')!;
    expect([t.id, shape]).toEqual([t.id, [padded, Math.ceil(n / 2)]]);
    const first = t.layout === 'high-first' ? 1 : 0;
    for (let q = 0; q < padded; q++) {
      for (let column = 0; column < n; column++) {
        const at = 2 * (q * Math.ceil(n / 2) + (column >> 1)) + ((column & 1) ^ first);
        expect([t.id, q, column, nibble(stored, at)]).toEqual([
          t.id,
          q,
          column,
          nibble(t.codes, column * padded + q),
        ]);
      }
    }
  }
});

test('every layout of the specification, in each of its formats [LAY-02]', () => {
  const found = new Set(group('layouts').map(({ layout, format }) => `${layout} ${format}`));
  const hif4 = ['linear', 'high-first', 'hif4-unit36', 'hif4-a-zz', 'hif4-b-nn', 'hif4-exp-dst'];
  const mxfp4 = ['linear', 'high-first', 'ggml', 'gpt-oss', 'nv-128x4', 'mx-a-zz', 'mx-b-nn'];
  const wanted = [...hif4.map((name) => `${name} hif4`), ...mxfp4.map((name) => `${name} mxfp4`)];
  expect([...found].sort()).toEqual(wanted.sort());
});

test.each(group('refused').map((t) => [t.comment, t] as const))('%s is refused [LAY-12]', async (_, t) => {
  const folder = temporaryFolder();
  const lengths = { codes: 1, ...t.lengths };
  const files = Object.entries(lengths).flatMap(([name, length]) => {
    const path = join(folder, `${name}.bin`);
    writeFileSync(path, Buffer.alloc(length));
    return [name === 'scales' ? '--scales' : '--codes', path];
  });
  const place = ['--shape', t.shape.join('x'), '--axis', `${t.axis}`];
  const pack = t['pack-axis'] === undefined ? [] : ['--pack-axis', `${t['pack-axis']}`];
  const args = [...files, '--format', t.format, '--layout', t.layout, ...place, ...pack];
  const run = await fp4('dequantize', ...args, '-o', join(folder, 'back.npy'));
  expect([run.code, run.stderr.includes(`(${t.error})`)]).toEqual([2, true]);
});
