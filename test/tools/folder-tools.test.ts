/** Case folders in the tools they are made for: $readmemh in Icarus Verilog, a C compiler, NumPy, the stream. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Files,
  folderOf,
  type GeneratedJob,
  jobOf,
  manifestOf,
  rawWords,
  textOf,
} from '../casefolder/made-folder.ts';
import { python } from './python.ts';

const root = mkdtempSync(join(tmpdir(), 'fp4-tools-'));
afterAll(() => rmSync(root, { recursive: true }));

function written(files: Files): string {
  const folder = mkdtempSync(join(root, 'case-'));
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
  return folder;
}

const generator = { family: 'gauss', seed: 3n, boundary: 1 } as const;
const form = (more: Partial<GeneratedJob>): Files =>
  folderOf(jobOf({ subject: 'hif4_quantize' }, { cases: 40, stages: true, generator, ...more }));
const raw = form({});
const hex = (word: number, digits: number): string => word.toString(16).padStart(digits, '0');

describe('Icarus Verilog', () => {
  const files = form({ encoding: 'readmemh' });
  const fields = manifestOf(files).files;

  test('$readmemh takes every file without a warning, element 0 in the low bits [FOL-14]', () => {
    const place = written(files);
    const upper = (name: string): string => name.toUpperCase();
    const source = [
      'module test;',
      ...fields.map(({ name }) => `\`include "${name}.svh"`),
      '`include "flags.svh"',
      ...fields.map(({ name: n }) => `reg [${upper(n)}_WIDTH-1:0] ${n}_mem [0:${upper(n)}_DEPTH-1];`),
      'reg [FLAGS_WIDTH-1:0] flags_mem [0:FLAGS_DEPTH-1];',
      'integer i, j;',
      'initial begin',
      ...fields.map(({ name, file }) => `$readmemh("${file}", ${name}_mem);`),
      '$readmemh("flags.mem", flags_mem);',
      ...fields.flatMap(({ name: n }) => [
        `for (i = 0; i < ${upper(n)}_DEPTH; i = i + 1)`,
        `  for (j = 0; j < ${upper(n)}_COUNT; j = j + 1)`,
        `    $display("${n} %h", ${n}_mem[i][j * ${upper(n)}_BITS +: ${upper(n)}_BITS]);`,
      ]),
      'for (i = 0; i < FLAGS_DEPTH; i = i + 1) $display("flags %h %b", flags_mem[i], flags_mem[i][FLAG_NEG_ZERO]);',
      'end',
      'endmodule',
    ].join('\n');
    writeFileSync(join(place, 'test.sv'), source);
    const compiled = spawnSync(
      'iverilog',
      ['-g2012', '-Wall', '-Wno-timescale', '-o', 'test.vvp', 'test.sv'],
      {
        cwd: place,
        encoding: 'utf8',
      },
    );
    expect([compiled.status, compiled.stderr]).toEqual([0, '']);
    const run = spawnSync('vvp', ['-n', 'test.vvp'], { cwd: place, encoding: 'utf8', maxBuffer: 2 ** 26 });
    expect([run.status, run.stderr]).toEqual([0, '']);
    const lines = run.stdout.trim().split('\n');
    expect(lines.filter((line) => /warning|error/i.test(line))).toEqual([]);
    for (const { name, role, dtype, digits } of fields) {
      const bytes = raw.get(`${role === 'input' ? 'input' : 'expected'}_${name}.bin`)!;
      const size = dtype === 'u4x2' ? 1 : ((digits / 2) as 1 | 2 | 4);
      const words = rawWords(bytes, size);
      const elements = dtype === 'u4x2' ? words.flatMap((byte) => [byte % 16, byte >> 4]) : words;
      const expected = elements.map((word) => `${name} ${hex(word, digits)}`);
      expect(lines.filter((line) => line.startsWith(`${name} `))).toEqual(expected);
    }
    // Cases 0 to 3: all +0, all -0, zeros of both signs, -0 beside 1.
    const flags = lines.filter((line) => line.startsWith('flags '));
    expect(flags.slice(0, 5)).toEqual([
      'flags 121 0',
      'flags 131 1',
      'flags 131 1',
      'flags 011 1',
      'flags 001 0',
    ]);
    expect(flags.length).toBe(40);
  });
});

describe('a C compiler', () => {
  test('takes cases.h without a warning, and has the bytes of the raw files [FOL-15]', () => {
    const files = form({ encoding: 'c' });
    const place = written(files);
    const arrays = manifestOf(files).files.map(
      ({ name, role }) => `${role === 'input' ? 'input' : 'expected'}_${name}`,
    );
    const source = [
      '#include <stdio.h>',
      '#include "cases.h"',
      'int main(void) {',
      '  size_t i;',
      ...arrays.map(
        (a) =>
          `  for (i = 0; i < FP4_${a.toUpperCase()}_LENGTH; i++) printf("${a} %lx\\n", (unsigned long)fp4_${a}[i]);`,
      ),
      '  printf("negative zeros %d\\n", (fp4_flags[1] >> FP4_FLAG_NEG_ZERO) & 1);',
      '  return FP4_CASES == 40 ? 0 : 1;',
      '}',
    ].join('\n');
    writeFileSync(join(place, 'test.c'), source);
    const strict = ['-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror'];
    execFileSync('cc', [...strict, '-o', 'test', 'test.c'], { cwd: place });
    writeFileSync(join(place, 'alone.c'), '#include "cases.h"\nint main(void) { return 0; }\n');
    execFileSync('cc', [...strict, '-o', 'alone', 'alone.c'], { cwd: place });
    const lines = execFileSync(join(place, 'test'), { encoding: 'utf8', maxBuffer: 2 ** 26 })
      .trim()
      .split('\n');
    const sizes = { bf16: 2, f16: 2, f32: 4, u8: 1, u16: 2, u32: 4, u4x2: 1 } as const;
    for (const { name, role, dtype } of manifestOf(files).files) {
      const array = `${role === 'input' ? 'input' : 'expected'}_${name}`;
      const expected = rawWords(raw.get(`${array}.bin`)!, sizes[dtype]).map(
        (word) => `${array} ${word.toString(16)}`,
      );
      expect(lines.filter((line) => line.startsWith(`${array} `))).toEqual(expected);
    }
    expect(lines.at(-1)).toBe('negative zeros 1');
  });
});

test('NumPy loads npy folders as what they are [FOL-12]', () => {
  const place = written(form({ encoding: 'npy' }));
  const script = [
    'import numpy as np, sys',
    'for name in ("input_x", "expected_scale", "expected_codes", "expected_scaled"):',
    '    a = np.load(sys.argv[1] + "/" + name + ".npy")',
    '    print(name, a.dtype.str, a.shape, a.tobytes().hex())',
  ].join('\n');
  const { out } = python(['-c', script, place]);
  const bytes = (name: string): string => Buffer.from(raw.get(`${name}.bin`)!).toString('hex');
  expect(out.trim().split('\n')).toEqual([
    `input_x <u2 (40, 64) ${bytes('input_x')}`,
    `expected_scale <u4 (40, 1) ${bytes('expected_scale')}`,
    `expected_codes |u1 (40, 32) ${bytes('expected_codes')}`,
    `expected_scaled <f4 (40, 64) ${bytes('expected_scaled')}`,
  ]);
});

test('text files put side by side are lines of the stream [FOL-13]', () => {
  const files = form({ encoding: 'text' });
  const column = (name: string): string[] => textOf(files, name).trimEnd().split('\n');
  const columns = ['input_x.txt', 'expected_scale.txt', 'expected_codes.txt'].map(column);
  const lines = columns[0]!.map((_, i) => columns.map((c) => c[i]).join(' '));
  expect(lines[0]).toBe(`${Array(64).fill('0000').join(' ')} 00000000 ${'0'.repeat(64)}`);
  expect(lines.every((line) => line.split(' ').length === 66)).toBe(true);
});
