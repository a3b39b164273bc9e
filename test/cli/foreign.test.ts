/** Quantized data in any layout and of foreign origin, through the commands that read it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LAYOUTS } from '../../src/layout/registry.ts';
import { fp4 } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'fp4-foreign-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const CASES = readFileSync(new URL('../cases/ascend-layouts.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Record<string, string> & { rows: number; cols: number });
const hif4 = CASES.find((c) => c['name'] === 'a16x128')!;
const mx = CASES.find((c) => c['name'] === 'mx_a16x128')!;

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const floats = (file: string): number[] => {
  const data = readFileSync(at(file));
  const start = 10 + data.readUInt16LE(8);
  return Array.from({ length: (data.length - start) / 4 }, (_, j) => data.readFloatLE(start + 4 * j));
};

/** HIF4-03 on the handed fields: codes row-major low nibble first, one byte of E6M2 and E1_8 and two of E1_16 a block. */
function hif4Values({ rows, cols, fp4: codes, ea, eb, ec }: typeof hif4): number[] {
  const [c, a, b, d] = [bytes(codes!), bytes(ea!), bytes(eb!), bytes(ec!)];
  return Array.from({ length: rows * cols }, (_, i) => {
    const [unit, q] = [Math.floor(i / 64), i % 64];
    const code = (c[i >> 1]! >> (4 * (i % 2))) & 15;
    const increments = ((b[unit]! >> (q >> 3)) & 1) + ((d.readUInt16LE(2 * unit) >> (q >> 2)) & 1);
    const e6m2 = (1 + (a[unit]! & 3) / 4) * 2 ** ((a[unit]! >> 2) - 48);
    return (code & 8 ? -1 : 1) * ((code & 7) / 4) * 2 ** increments * e6m2;
  });
}

/** MX-02 on the handed codes and scales. */
function mxValues({ rows, cols, codes_packed: codes, e8m0 }: typeof mx): number[] {
  const [c, s] = [bytes(codes!), bytes(e8m0!)];
  const magnitudes = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
  return Array.from({ length: rows * cols }, (_, i) => {
    const code = (c[i >> 1]! >> (4 * (i % 2))) & 15;
    return (code & 8 ? -1 : 1) * magnitudes[code & 7]! * 2 ** (s[i >> 5]! - 127);
  });
}

const transposed = (values: readonly number[], rows: number, columns: number): number[] =>
  Array.from({ length: values.length }, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]!);

describe('the handed Ascend cells, decoded [TEN-20]', () => {
  test.each([
    ['hif4-a-zz', 'HIF4_A_ZZ'],
    ['hif4-exp-dst', 'exp_dst'],
  ])('%s', async (layout, cells) => {
    writeFileSync(at('codes.bin'), bytes(hif4['fp4']!));
    writeFileSync(at('cells.bin'), bytes(hif4[cells]!));
    const pair = [
      '--codes',
      at('codes.bin'),
      '--scales',
      at('cells.bin'),
      '--format',
      'hif4',
      '--shape',
      '16x128',
    ];
    const { code } = await fp4('dequantize', ...pair, '--layout', layout, '-o', at('y.npy'));
    expect([code, floats('y.npy')]).toEqual([0, hif4Values(hif4)]);
  });

  test('HiF4 B: K x N with blocks along K and nibble pairs along N', async () => {
    writeFileSync(at('codes.bin'), bytes(hif4['B_data_KxN']!));
    writeFileSync(at('cells.bin'), bytes(hif4['HIF4_B_NN']!));
    const pair = [
      '--codes',
      at('codes.bin'),
      '--scales',
      at('cells.bin'),
      '--format',
      'hif4',
      '--shape',
      '128x16',
    ];
    const { code } = await fp4(
      ...[
        'dequantize',
        ...pair,
        '--layout',
        'hif4-b-nn',
        '--axis',
        '0',
        '--pack-axis',
        '1',
        '-o',
        at('y.npy'),
      ],
    );
    expect([code, floats('y.npy')]).toEqual([0, transposed(hif4Values(hif4), 16, 128)]);
  });

  test('MX A and B', async () => {
    writeFileSync(at('a.bin'), bytes(mx['codes_packed']!));
    writeFileSync(at('a-cells.bin'), bytes(mx['MX_A_ZZ']!));
    writeFileSync(at('b.bin'), bytes(mx['B_codes_packed_KxN']!));
    writeFileSync(at('b-cells.bin'), bytes(mx['MX_B_NN']!));
    const a = [
      '--codes',
      at('a.bin'),
      '--scales',
      at('a-cells.bin'),
      '--shape',
      '16x128',
      '--layout',
      'mx-a-zz',
    ];
    const b = [
      '--codes',
      at('b.bin'),
      '--scales',
      at('b-cells.bin'),
      '--shape',
      '128x16',
      '--layout',
      'mx-b-nn',
    ];
    expect((await fp4('dequantize', ...a, '-f', 'mxfp4', '-o', at('a.npy'))).code).toBe(0);
    const along = ['--axis', '0', '--pack-axis', '-1'];
    expect((await fp4('dequantize', ...b, ...along, '-f', 'mxfp4', '-o', at('b.npy'))).code).toBe(0);
    expect(floats('a.npy')).toEqual(mxValues(mx));
    expect(floats('b.npy')).toEqual(transposed(mxValues(mx), 16, 128));
  });
});

describe('every layout of an odd-shaped tensor [TEN-19, TEN-21, TEN-22]', () => {
  beforeAll(async () => {
    // 20 rows are no multiple of 16, 200 columns make 7 MX blocks: all padding there is.
    await fp4('tensor', '20x200', '-o', at('x.npy'), '--family', 'ladder', '--seed', '5');
    for (const format of ['hif4', 'mxfp4']) {
      await fp4('quantize', at('x.npy'), '-o', at(`${format}.safetensors`), '-f', format);
      await fp4('dequantize', at(`${format}.safetensors`), '-o', at(`${format}.npy`));
    }
  });

  const pairs = LAYOUTS.flatMap(({ name, formats }) => formats.map((format) => [format, name] as const));
  test.each(pairs)('%s in %s', async (format, layout) => {
    const file = at(`${format}-${layout}.safetensors`);
    expect((await fp4('quantize', at('x.npy'), '-o', file, '-f', format, '--layout', layout)).code).toBe(0);
    expect((await fp4('dequantize', file, '-o', at('back.npy'))).code).toBe(0);
    expect(readFileSync(at('back.npy')).equals(readFileSync(at(`${format}.npy`)))).toBe(true);
    const same = await fp4('diff', at(`${format}.safetensors`), file);
    expect([same.code, same.stdout]).toEqual([0, '']);
    const verified = await fp4('verify', 'quantize', at('x.npy'), file);
    expect([verified.code, verified.stdout]).toEqual([0, '']);
    const shown = await fp4('inspect', file, '--block', '3');
    expect(shown.stdout).toBe((await fp4('inspect', at(`${format}.safetensors`), '--block', '3')).stdout);
  });
});

describe('a difference is placed by block, field and elements [TEN-21, TEN-22]', () => {
  /** Changes one byte of a stored tensor of a file. */
  function change(file: string, tensor: string, byte: number, mask: number): void {
    const data = readFileSync(at(file));
    const length = Number(data.readBigUInt64LE());
    const [begin] = JSON.parse(data.subarray(8, 8 + length).toString())[tensor].data_offsets;
    data[8 + length + begin + byte]! ^= mask;
    writeFileSync(at('changed.safetensors'), data);
  }
  const diff = () => fp4('diff', at('hif4.safetensors'), at('changed.safetensors'));
  const verify = () => fp4('verify', 'quantize', at('x.npy'), at('changed.safetensors'));

  test.each([
    // Row 1 has blocks 4 to 7; block 5 covers columns 64 to 127, its codes start at byte 5 x 32, its scale at byte 5 x 4.
    ['codes', 5 * 32 + 3, 0x10, /^5\tcodes\[7\]\t\[1,71\]\t[0-9a-f]\t[0-9a-f]\n$/],
    ['scales', 5 * 4, 0x01, /^5\te6m2\t\[1,64:128\]\t[0-9a-f]{2}\t[0-9a-f]{2}\n$/],
    ['scales', 5 * 4 + 1, 0x80, /^5\te1_8\[7\]\t\[1,120:128\]\t[01]\t[01]\n$/],
    ['scales', 5 * 4 + 3, 0x04, /^5\te1_16\[10\]\t\[1,104:108\]\t[01]\t[01]\n$/],
    // Block 7 covers columns 192 to 199 and 56 elements of padding.
    ['codes', 7 * 32 + 31, 0x01, /^7\tcodes\[62\]\tpadding\t0\t1\n$/],
  ])('%s byte %i mask %i', async (tensor, byte, mask, line) => {
    change('hif4.safetensors', tensor, byte, mask);
    const found = await diff();
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(line);
    const judged = await verify();
    expect([judged.code, judged.stdout.split('\t').length]).toEqual([1, 4]);
    expect(judged.stdout.split('\t').slice(0, 2)).toEqual(found.stdout.split('\t').slice(0, 2));
    expect(judged.stderr).toContain('80 blocks, 1 differ');
  });

  test('another profile is judged by when it is asked for; the file names its own otherwise [TEN-22]', async () => {
    const file = at('ascend.safetensors');
    await fp4('quantize', at('x.npy'), '-o', file, '-f', 'hif4', '--profile', 'ascend');
    expect((await fp4('verify', 'quantize', at('x.npy'), file)).code).toBe(0);
    expect((await fp4('verify', 'quantize', at('x.npy'), file, '--profile', 'authors')).code).toBe(1);
  });
});

describe('what does not fit is refused: exit 2, nothing written [TEN-20]', () => {
  const bin = (): string => {
    writeFileSync(at('short.bin'), Buffer.alloc(100));
    return at('short.bin');
  };
  test.each([
    [['--codes', 'C', '--scales', 'C'], /--codes needs --format and --shape/],
    [['--scales', 'C'], /--scales describes foreign data; --codes names it/],
    [['--pack-axis', '1'], /--pack-axis describes foreign data/],
    [['x.safetensors', '--codes', 'C', '-f', 'hif4', '--shape', '4x64'], /expected one of them/],
    [['--codes', 'C', '-f', 'hif4', '--shape', '4x64'], /keeps scales apart; it needs --scales/],
    [
      ['--codes', 'C', '--scales', 'C', '-f', 'mxfp4', '--shape', '4x64', '--layout', 'ggml'],
      /takes no --scales/,
    ],
    [
      ['--codes', 'C', '--scales', 'C', '-f', 'hif4', '--shape', '4x64'],
      /short\.bin: 100 bytes; .* needs 128/,
    ],
    [['--codes', 'C', '--scales', 'C', '-f', 'hif4', '--shape', '4x64', '--layout', 'ggml'], /not hif4/],
    [
      ['--codes', 'C', '--scales', 'C', '-f', 'hif4', '--shape', '4x64', '--layout', 'liner'],
      /did you mean "linear"/,
    ],
    [['--codes', 'C', '--scales', 'C', '-f', 'hif5', '--shape', '4x64'], /unknown format "hif5"/],
    [['--codes', 'C', '--scales', 'C', '-f', 'hif4', '--shape', '4y64'], /MxK/],
    [['--codes', 'C', '--scales', 'C', '-f', 'hif4', '--shape', '4x64', '--axis', '2'], /no axis 2/],
    [['--codes', 'C', '--scales', 'none.bin', '-f', 'hif4', '--shape', '4x64'], /none\.bin/],
    [['--codes', 'C', '--scales', 'C', '-f', 'hif4', '--shape', '999999999x999999999'], /./],
    [[], /name a quantized \.safetensors file/],
  ])('dequantize %j', async (args, message) => {
    const given = args.map((a) => (a === 'C' ? bin() : a));
    const { code, stdout, stderr } = await fp4('dequantize', ...given, '-o', at('never.npy'));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(() => readFileSync(at('never.npy'))).toThrow();
  });

  test('verify: foreign options on a stream function, and a tensor of another shape', async () => {
    const stray = await fp4('verify', 'hif4_quantize', '--codes', bin());
    expect([stray.code, stray.stderr]).toEqual([2, expect.stringContaining('--codes')]);
    await fp4('tensor', '20x201', '-o', at('other.npy'), '--family', 'gauss');
    const other = await fp4('verify', 'quantize', at('other.npy'), at('hif4.safetensors'));
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringContaining('shape: [20, 201] against [20, 200]'),
    ]);
  });
});
