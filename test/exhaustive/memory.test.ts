/** Whole files in constant memory: a tensor of 4 GiB, of which the file system holds only what is not zero. */
import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, statfsSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildNpyHeader } from '../../src/files/npy.ts';
import { COMMAND } from '../cli/fp4.ts';
import { temporaryFolder } from '../node/tensor-bytes.ts';

const LIMIT_MIB = 256;
const GIB = 2 ** 30;

/** Tells on stderr the most memory that the process ever had, its threads included. */
const TELL = `process.on('exit', () => process.stderr.write('peak ' + process.resourceUsage().maxRSS + '\\n'))`;

/** Runs the command, and gives its peak of resident memory in MiB. */
function peak(args: readonly string[]): number {
  const options = ['--import', `data:text/javascript,${encodeURIComponent(TELL)}`];
  const { status, stderr } = spawnSync(process.execPath, [...options, COMMAND, ...args], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, expect.stringContaining('peak ')]);
  return Number(/^peak (\d+)$/m.exec(stderr)![1]) / 1024;
}

/** A .npy file of zeros, with numbers of every kind in a megabyte here and there. */
function sparse(path: string, shape: readonly number[]): void {
  const header = buildNpyHeader('F32', shape);
  const bytes = 4 * shape.reduce((a, b) => a * b, 1);
  const file = openSync(path, 'w');
  writeSync(file, header);
  ftruncateSync(file, header.length + bytes);
  const values = Float32Array.from({ length: 2 ** 18 }, (_, i) => Math.sin(i) * 2 ** ((i % 16) - 8));
  for (let at = 0; at < bytes; at += bytes / 8)
    writeSync(file, values, 0, values.byteLength, header.length + at);
  closeSync(file);
}

describe(`at most ${LIMIT_MIB} MiB for a tensor of 4 GiB [TEN-10]`, () => {
  test.each([
    ['hif4', '1'],
    ['hif4', '2'],
    ['mxfp4', '4'],
  ])('%s, %s threads, there and back', (format, threads) => {
    const folder = temporaryFolder();
    const [x, q, back] = ['x.npy', 'q.safetensors', 'back.npy'].map((name) => join(folder, name));
    sparse(x!, [2 ** 15, 2 ** 15]);
    const quantize = ['quantize', x!, '-o', q!, '--format', format, '--threads', threads];
    expect(peak(quantize)).toBeLessThan(LIMIT_MIB);
    // What comes back is not sparse: where the disk has no room for all of it, a quarter is made anew.
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < 6 * GIB) {
      sparse(x!, [2 ** 13, 2 ** 15]);
      peak(quantize);
    }
    expect(peak(['dequantize', q!, '-o', back!, '--threads', threads])).toBeLessThan(LIMIT_MIB);
    expect(statSync(back!).size).toBe(statSync(x!).size);
  });

  test('along the first axis', () => {
    const folder = temporaryFolder();
    const [x, q] = ['x.npy', 'q.safetensors'].map((name) => join(folder, name));
    sparse(x!, [2 ** 15, 2 ** 15]);
    expect(
      peak(['quantize', x!, '-o', q!, '--format', 'hif4', '--axis', '0', '--threads', '2']),
    ).toBeLessThan(LIMIT_MIB);
  });
});
