/** Case folders of products: ends by BigInt arithmetic, a device's files judged, and nothing believed. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fp4 } from '../cli/run-command.ts';
import { blockValues, dot, roundedWord } from '../matmul/big-dot.ts';

const root = mkdtempSync(join(tmpdir(), 'fp4-gemm-folder-'));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;

async function exported(...args: string[]): Promise<string> {
  const folder = join(root, `case${made++}`);
  expect(await fp4('export', 'gemm', ...args, '-o', folder)).toMatchObject({ code: 0 });
  return folder;
}

const [ROWS, DEPTH, COLUMNS] = [3, 100, 5];
const SHAPE = `${ROWS}x${DEPTH}x${COLUMNS}`;

/** The exact sum and both ends of one output, on BigInt. */
function ends(x: readonly bigint[], y: readonly bigint[]): { exact: number; low: number; high: number } {
  const products = x.map((v, k) => v * y[k]!).filter((v) => v !== 0n);
  const m = Math.max(0, products.length - 1);
  const total = products.reduce((sum, v) => sum + (v < 0n ? -v : v), 0n);
  const bound = total * ((2n ** 24n + 1n) ** BigInt(m) - 2n ** BigInt(24 * m));
  const sum = dot(x, y) << BigInt(24 * m);
  const word = (v: bigint): number => roundedWord(v, 'f32', 24 * m);
  return { exact: word(sum), low: word(sum - bound), high: word(sum + bound) };
}

const words = (bytes: Buffer): number[] =>
  Array.from({ length: bytes.length / 4 }, (_, k) => bytes.readUInt32LE(4 * k));

describe.each(['hif4', 'mxfp4'] as const)('%s [FOL-21]', (format) => {
  test('ends are those of BND-03; exact outputs pass, one beyond an end fails', async () => {
    const folder = await exported('--format', format, '--shape', SHAPE, '--family', 'gauss', '--seed', '3');
    const bytes = (name: string): Buffer => readFileSync(join(folder, name));
    const block = format === 'hif4' ? 64 : 32;
    const width = Math.ceil(DEPTH / block) * block;
    const rowsOf = (x: string): bigint[][] => {
      const all = blockValues(
        format,
        bytes(`input_${x}_codes.bin`),
        bytes(`input_${x}_scales.bin`),
      ) as bigint[];
      return Array.from({ length: all.length / width }, (_, r) => all.slice(r * width, r * width + DEPTH));
    };
    const [a, b] = [rowsOf('a'), rowsOf('b')];
    expect([a.length, b.length]).toEqual([ROWS, COLUMNS]);
    const all = a.flatMap((x) => b.map((y) => ends(x, y)));
    expect(words(bytes('expected_c_low.bin'))).toEqual(all.map(({ low }) => low));
    expect(words(bytes('expected_c_high.bin'))).toEqual(all.map(({ high }) => high));

    expect(await fp4('verify', '--dir', folder)).toMatchObject({ code: 2 });
    const device = (list: number[]): void => {
      const out = Buffer.alloc(4 * list.length);
      for (const [k, word] of list.entries()) out.writeUInt32LE(word, 4 * k);
      writeFileSync(join(folder, 'actual_c.bin'), out);
    };
    device(all.map(({ exact }) => exact));
    expect(await fp4('verify', '--dir', folder)).toMatchObject({ code: 0, stdout: '' });
    // Ends are ordered by value: away from zero is one up in bits.
    const beyond = all.map(({ exact, low, high }, k) => (k === 7 ? Math.max(low, high) + 1 : exact));
    device(beyond);
    const ran = await fp4('verify', '--dir', folder);
    expect([ran.code, ran.stdout.split('\t').slice(0, 2)]).toEqual([1, ['c', 'row 1, block 0, element 2']]);
    const nan = all.map(({ exact }, k) => (k === 0 ? 0x7fc00000 : exact));
    device(nan);
    expect((await fp4('verify', '--dir', folder)).code).toBe(1);
  });

  test.each(['expected_c_high.bin', 'expected_c_low.bin', 'input_a_codes.bin', 'manifest.json'])(
    'a changed %s is refused [FOL-20]',
    async (name) => {
      const folder = await exported('--format', format, '--shape', '1x33x2');
      writeFileSync(join(folder, 'actual_c.bin'), readFileSync(join(folder, 'expected_c_low.bin')));
      expect((await fp4('verify', '--dir', folder)).code).toBe(0);
      const bytes = readFileSync(join(folder, name));
      bytes[bytes.length - 4]! ^= 1;
      writeFileSync(join(folder, name), bytes);
      expect((await fp4('verify', '--dir', folder)).code).toBe(2);
    },
  );
});

test('as .npy files [FOL-12, FOL-21]', async () => {
  const folder = await exported(
    '--format',
    'mxfp4',
    '--shape',
    '2x64x2',
    '--encoding',
    'npy',
    '--profile',
    'torchao-rceil',
  );
  expect(existsSync(join(folder, 'expected_c_low.npy'))).toBe(true);
  writeFileSync(join(folder, 'actual_c.npy'), readFileSync(join(folder, 'expected_c_high.npy')));
  expect((await fp4('verify', '--dir', folder)).code).toBe(0);
});

test.each([
  [['--shape', '2x64x2'], 'needs --format'],
  [['--format', 'mxfp4', '--shape', '2x64'], 'needs --shape MxKxN'],
  [['--format', 'mxfp4', '--shape', '2x64x0'], 'a product of shape 2x64x0'],
  [['--format', 'mxfp4', '--shape', '2x64x2', '--encoding', 'text'], 'gemm has no encoding text'],
  [['--format', 'mxfp4', '--shape', '2x64x2', '--stages'], 'gemm has no --stages'],
])('%s: %s', async (args, message) => {
  const folder = join(root, 'never');
  const ran = await fp4('export', 'gemm', ...args, '-o', folder);
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  expect(existsSync(folder)).toBe(false);
});
