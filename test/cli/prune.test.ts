/** `fp4 prune`: files in and out, metadata beside, reports and refusals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { elementBytes, npyFile, safetensorsFile, temporaryFolder, write } from '../node/tensor-bytes.ts';
import { fp4 } from './run-command.ts';

/** A .safetensors file taken apart. */
function contents(path: string) {
  const bytes = readFileSync(path);
  const length = Number(bytes.readBigUInt64LE(0));
  const { __metadata__: metadata, ...tensors } = JSON.parse(bytes.subarray(8, 8 + length).toString());
  const hex = (name: string): string => {
    const [begin, end] = tensors[name].data_offsets;
    return bytes.subarray(8 + length + begin, 8 + length + end).toString('hex');
  };
  return { metadata, tensors, hex };
}

const f2 = (shape: number[], words: number[], fortran = false): Uint8Array =>
  npyFile('<f2', fortran, shape, elementBytes(words.map(BigInt), 2, true));

const [ONE, TWO, NEG] = [0x3c00, 0x4000, 0x8000];

describe('plain tensors [SPA-16]', () => {
  test('2:4 with metadata beside, and a report [SPA-17]', async () => {
    const folder = temporaryFolder();
    const x = write(folder, 'x.npy', f2([2, 4], [ONE, ONE, ONE, ONE, NEG, 0, NEG, TWO]));
    const out = join(folder, 'out.safetensors');
    const ran = await fp4('prune', x, '-o', out, '--json');
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toEqual({
      ...{ pattern: '2:4', ties: 'lowest-index', odd: 'ceil', shape: [2, 4], axis: 1 },
      ...{ elements: 8, kept: 4, pruned: 4, lost: 2, rankings: 2, tied: 1, tied_share: 0.5, padding: 0 },
    });
    const { metadata, tensors, hex } = contents(out);
    expect(hex('pruned')).toBe('003c003c00000000' + '0080000000000040');
    // The second nibble of each byte is that of a group of zeros.
    expect([tensors.metadata.dtype, tensors.metadata.shape, hex('metadata')]).toEqual(['U8', [2, 1], '444c']);
    expect(metadata).toMatchObject({
      'fp4.sparsity': '2:4',
      'fp4.sparsity-axis': '1',
      'fp4.sparsity-ties': 'lowest-index',
    });
    const text = await fp4(
      'prune',
      x,
      '-o',
      out,
      '--ties',
      '3,2,1,0',
      '--convention',
      'ascend',
      '--words',
      'u16',
    );
    expect(text.stderr).toContain('tied      1 of 2 rankings (50.0000 %)');
    expect(contents(out).hex('pruned').slice(0, 16)).toBe('00000000003c003c');
    expect(contents(out).hex('metadata')).toBe('0a00' + '0800');
  });

  test('.npy out; Fortran order and big-endian in; another axis', async () => {
    const folder = temporaryFolder();
    // Columns {1,2}, {2,1}, {1,1} of two rows.
    const words = [ONE, TWO, TWO, ONE, ONE, ONE].map(BigInt);
    const x = write(folder, 'x.npy', npyFile('>f2', true, [2, 3], elementBytes(words, 2, false)));
    const out = join(folder, 'out.npy');
    expect((await fp4('prune', x, '-o', out, '--pattern', '1:2', '--axis', '0')).code).toBe(0);
    expect(readFileSync(out).subarray(-12).toString('hex')).toBe('00000040003c' + '004000000000');
    expect((await fp4('prune', x, '-o', out, '--pattern', 'channel')).code).toBe(0);
    // Squares 5, 5, 2 down the columns.
    expect(readFileSync(out).subarray(-12).toString('hex')).toBe('003c00400000' + '0040003c0000');
  });

  test('what PyTorch leaves of a group of three, word for word; refused unless asked for [SPA-11]', async () => {
    const folder = temporaryFolder();
    const x = write(folder, 'x.npy', f2([4], [0, TWO, ONE, TWO]));
    const out = join(folder, 'out.safetensors');
    const refused = await fp4('prune', x, '-o', out, '--overfull', 'error');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('more nonzeros than 2:4 allows'),
    ]);
    await fp4('prune', x, '-o', out, '--overfull', 'pytorch', '--convention', 'pytorch');
    expect([contents(out).hex('pruned'), contents(out).hex('metadata')]).toEqual(['0000004000000040', 'ed']);
    await fp4('prune', x, '-o', out, '--overfull', 'first-two', '--convention', 'pytorch');
    expect([contents(out).hex('pruned'), contents(out).hex('metadata')]).toEqual(['00000040003c0000', 'e9']);
  });

  test('PyTorch’s files: reordered words [SPA-13]', async () => {
    const folder = temporaryFolder();
    const lines = readFileSync(new URL('../cases/sparsity24.jsonl', import.meta.url), 'utf8')
      .trim()
      .split('\n');
    const c = lines
      .map((line) => JSON.parse(line))
      .find(({ dtype, style }) => dtype === 'bfloat16' && style === 'two');
    const words = c.dense
      .join('')
      .match(/.{4}/g)
      .map((w: string) => Number.parseInt(w, 16));
    const x = write(
      folder,
      'x.npy',
      npyFile('<u2', false, c.shape, elementBytes(words.map(BigInt), 2, true)),
    );
    const out = join(folder, 'out.safetensors');
    const ran = await fp4(
      'prune',
      x,
      '--bf16',
      '-o',
      out,
      '--overfull',
      'error',
      '--convention',
      'pytorch',
      '--words',
      'sm80-u16',
    );
    expect(ran.code).toBe(0);
    const found = contents(out)
      .hex('metadata')
      .match(/.{4}/g)!
      .map((w) => w.slice(2) + w.slice(0, 2));
    expect(found).toEqual(c.meta_reordered.flat());
    const small = await fp4(
      'prune',
      write(folder, 'y.npy', f2([1, 32], words.slice(0, 32))),
      '-o',
      out,
      '--words',
      'sm80-u16',
    );
    expect([small.code, small.stderr]).toEqual([2, expect.stringContaining('tiles of 32 rows by 2 words')]);
  });

  test('channels and blocks: a flag each', async () => {
    const folder = temporaryFolder();
    const x = write(folder, 'x.npy', f2([1, 3], [ONE, 0, TWO]));
    const out = join(folder, 'out.safetensors');
    await fp4('prune', x, '-o', out, '--pattern', 'channel');
    expect([contents(out).tensors.metadata.shape, contents(out).hex('metadata')]).toEqual([[3], '010001']);
    await fp4('prune', x, '-o', out, '--pattern', 'block', '--odd', 'floor');
    expect([contents(out).tensors.metadata.shape, contents(out).hex('metadata')]).toEqual([[1, 1], '00']);
    expect(contents(out).hex('pruned')).toBe('000000000000');
  });
});

describe('quantized files [SPA-16]', () => {
  test('codes pruned, scales and strings kept; dequantize reads the result', async () => {
    const folder = temporaryFolder();
    const x = write(
      folder,
      'x.npy',
      npyFile(
        '<f4',
        false,
        [5],
        elementBytes([0x40c00000n, 0xc0400000n, 0x40400000n, 0x3f800000n, 0xbf000000n], 4, true),
      ),
    );
    const q = join(folder, 'q.safetensors');
    const s = join(folder, 's.safetensors');
    await fp4('quantize', x, '-o', q, '--format', 'mxfp4');
    const ran = await fp4('prune', q, '-o', s, '--json', '--words', 'u32');
    expect(JSON.parse(ran.stdout)).toMatchObject({
      kept: 3,
      pruned: 2,
      lost: 2,
      tied: 1,
      rankings: 2,
      padding: 3,
    });
    const [before, after] = [contents(q), contents(s)];
    expect(after.hex('scales')).toBe(before.hex('scales'));
    expect(after.metadata).toMatchObject(before.metadata);
    expect(after.hex('codes').slice(0, 6)).toBe('d70009');
    expect(after.hex('metadata')).toBe('44444444');
    const back = join(folder, 'back.npy');
    expect((await fp4('dequantize', s, '-o', back)).code).toBe(0);
    expect(readFileSync(back).subarray(-20).toString('hex')).toBe(
      `0000c040000040c0${'00000000'.repeat(2)}000000bf`,
    );
    // As it stands, the result is sparse already.
    const again = join(folder, 't.safetensors');
    expect((await fp4('prune', s, '-o', again, '--overfull', 'error', '--convention', 'cutlass')).code).toBe(
      0,
    );
    expect(contents(again).hex('codes')).toBe(after.hex('codes'));
    expect(contents(again).hex('metadata').slice(0, 2)).toBe('c4');
    const refused = await fp4('prune', q, '-o', again, '--overfull', 'error');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('elements 0 to 3')]);
  });

  test('what cannot be is refused, and nothing is written', async () => {
    const folder = temporaryFolder();
    const x = write(folder, 'x.npy', f2([4], [ONE, 0, TWO, 0]));
    const out = join(folder, 'out.safetensors');
    const stray = write(
      folder,
      'n.safetensors',
      safetensorsFile({ n: { dtype: 'U8', shape: [1], data_offsets: [0, 1] } }, Uint8Array.of(1)),
    );
    for (const [args, message] of [
      [[x, '-o', join(folder, 'out.bin')], 'expected a name ending in .safetensors'],
      [[x, '-o', out, '--pattern', '2:5'], 'Allowed choices are 2:4, 1:2, 4:8, channel, block'],
      [[x, '-o', out, '--ties', '0,1,2'], 'an order of ties among 4'],
      [[x, '-o', out, '--ties', 'first'], 'lowest-index or highest-index'],
      [[x, '-o', out, '--pattern', '4:8', '--convention', 'pytorch'], 'no convention "pytorch" for 4:8'],
      [[x, '-o', out, '--pattern', 'block', '--overfull', 'error'], 'pattern block has none'],
      [[x, '-o', out, '--axis', '1'], 'no axis 1'],
      [[stray, '-o', out], 'name one tensor'],
      [[`${stray}:n`, '-o', out], 'type U8'],
    ] as [string[], string][]) {
      const ran = await fp4('prune', ...args);
      expect([args, ran.code, ran.stderr]).toEqual([args, 2, expect.stringContaining(message)]);
    }
    expect(() => readFileSync(out)).toThrow('ENOENT');
  });
});
