/** Folder vectors: the real commands write and judge what the vectors say; the values in them are worked out apart. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fp4 } from '../cli/run-command.ts';
import { temporaryFolder } from '../node/tensor-bytes.ts';
import { vectorFile } from './vectors.ts';

interface FolderTest {
  readonly id: string;
  readonly comment: string;
  readonly command: string[];
  readonly files: { name: string; bytes: number; sha256: string; content?: string }[];
  readonly actual?: Record<string, string>;
  readonly changed?: Record<string, string>;
  readonly exit: number;
  readonly stdout: string[];
}

const group = (subject: string) =>
  vectorFile<FolderTest>('folders.json').groups.find((g) => g.subject === subject)!.tests;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test.each(group('export'))(
  '$comment: the files of fp4 $command [FOL-01, FOL-12]',
  async ({ command, files }) => {
    const folder = join(temporaryFolder(), 'case');
    expect((await fp4(...command, '-o', folder)).code).toBe(0);
    const tools = ['check.py', 'manifest.schema.json'];
    expect(readdirSync(folder).sort()).toEqual([...tools, ...files.map(({ name }) => name)].sort());
    for (const { name, bytes, sha256: hash, content } of files) {
      const found = readFileSync(join(folder, name));
      expect([name, found.length, sha256(found)]).toEqual([name, bytes, hash]);
      if (content !== undefined) expect(found.toString('hex')).toBe(content);
    }
  },
);

test.each(group('judged'))('$comment: exit $exit [FOL-18, FOL-19, FOL-20]', async (judged) => {
  const folder = join(temporaryFolder(), 'case');
  await fp4(...judged.command, '-o', folder);
  for (const [name, hex] of Object.entries({ ...judged.actual, ...judged.changed })) {
    writeFileSync(join(folder, name), Buffer.from(hex, 'hex'));
  }
  const { code, stdout } = await fp4('verify', '--dir', folder);
  expect([code, stdout.split('\n').filter((line) => line !== '')]).toEqual([judged.exit, judged.stdout]);
});

test('the decoder folder holds 2^(scale - 127) x E2M1 in C order, little-endian [FOL-03, MX-02]', () => {
  const { files } = group('export')[0]!;
  const content = (name: string): Buffer => Buffer.from(files.find((f) => f.name === name)!.content!, 'hex');
  const [scales, codes, values] = ['input_scale.bin', 'input_codes.bin', 'expected_y.bin'].map(content);
  const magnitudes = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
  for (let i = 0; i < 64; i++) {
    const code = (codes![i >> 1]! >> (4 * (i % 2))) & 15;
    const value = (code & 8 ? -1 : 1) * magnitudes[code & 7]! * 2 ** (scales![i >> 5]! - 127);
    expect(values!.readFloatLE(4 * i)).toBe(value);
  }
});
