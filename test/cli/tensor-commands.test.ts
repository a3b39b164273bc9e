/** The commands on tensor files: reports, exit codes, and bad input of every kind. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { VERSION } from '../../src/version.ts';
import { elementBytes, npyFile, safetensorsFile, temporaryFolder, write } from '../node/tensor-bytes.ts';
import { COMMAND } from './fp4.ts';
import { fp4 } from './run-command.ts';

const ONE = 0x3f800000n;
const f4 = (shape: number[], bits: bigint[], fortran = false): Uint8Array =>
  npyFile('<f4', fortran, shape, elementBytes(bits, 4, true));

test('the version in the code is that of the package', () => {
  expect(VERSION).toBe(packageJson.version);
});

describe('quantize and dequantize [TEN-07] [TEN-10]', () => {
  test('a report for people on stderr, nothing on stdout', async () => {
    const folder = temporaryFolder();
    const x = write(folder, 'x.npy', f4([2], [ONE, 0xbf800000n]));
    const q = join(folder, 'q.safetensors');
    const ran = await fp4('quantize', x, '-o', q, '--format', 'hif4');
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(ran.stderr).toMatch(/hif4 \(authors\) of \[2\] along axis 0\nelements {3}2 in 1 blocks of 64\n/);
    const back = join(folder, 'back.npy');
    expect(await fp4('dequantize', q, '-o', back)).toMatchObject({ code: 0, stdout: '' });
  });

  test('with --json one object on stdout, the same every time', async () => {
    const folder = temporaryFolder();
    const x = write(folder, 'x.npy', f4([1, 3], [ONE, 0x40000000n, 0n]));
    const args = [
      'quantize',
      x,
      '-o',
      join(folder, 'q.safetensors'),
      '--format',
      'mxfp4',
      '--json',
      '--axis',
      '-1',
    ];
    const first = await fp4(...args, '--profile', 'ggml', '--set', 'ties=even');
    expect(JSON.parse(first.stdout)).toEqual({
      format: 'mxfp4',
      profile: 'ggml',
      parameters: {
        input: 'f32',
        scale: 'floor',
        ties: 'even',
        'zero-scale': '00',
        'scale-range': 'wrap',
        'scale-min': '00',
        'even-range': 'unbounded',
        'nan-code': '0',
        'zero-sign': 'drop',
        nonfinite: 'zero-block',
      },
      shape: [1, 3],
      axis: 1,
      elements: 3,
      blocks: 1,
      mse: 0,
      sqnr_db: null,
      underflow: 0,
      saturated: 0,
      nonfinite: 0,
    });
    const bytes = readFileSync(join(folder, 'q.safetensors'));
    const second = await fp4(...args, '--profile', 'ggml', '--set', 'ties=even');
    expect(second.stdout).toBe(first.stdout);
    expect(readFileSync(join(folder, 'q.safetensors')).equals(bytes)).toBe(true);
  });

  test('NaN and infinity: a NaN block, no mse, the count told', async () => {
    const folder = temporaryFolder();
    const x = write(folder, 'x.npy', f4([3], [ONE, 0x7fc00000n, 0xff800000n]));
    const q = join(folder, 'q.safetensors');
    const { stdout } = await fp4('quantize', x, '-o', q, '--format', 'hif4', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ mse: null, sqnr_db: null, nonfinite: 3 });
    expect([...readFileSync(q).subarray(-36)]).toEqual([...Array(32).fill(0), 0xff, 0, 0, 0]);
    const ran = await fp4('quantize', x, '-o', q, '--format', 'hif4');
    expect(ran.stderr).toContain('3 elements are not finite');
    const back = join(folder, 'back.npy');
    await fp4('dequantize', q, '-o', back);
    expect(readFileSync(back).subarray(-12).toString('hex')).toBe('0000c07f'.repeat(3));
  });

  test('input and output may be the same file', async () => {
    const folder = temporaryFolder();
    const header = { w: { dtype: 'F32', shape: [1], data_offsets: [0, 4] } };
    const path = write(folder, 'w.safetensors', safetensorsFile(header, elementBytes([ONE], 4, true)));
    expect((await fp4('quantize', `${path}:w`, '-o', path, '--format', 'mxfp4')).code).toBe(0);
    expect((await fp4('dequantize', path, '-o', join(folder, 'w.npy'))).code).toBe(0);
    expect(readFileSync(join(folder, 'w.npy')).subarray(-4).toString('hex')).toBe('0000803f');
  });
});

test('an interrupted command leaves nothing behind [TEN-10]', async () => {
  const folder = temporaryFolder();
  const x = join(folder, 'x.npy');
  // 2 GB of zeros that take no space on the disk, and longer to quantize than this test waits.
  const header = f4([2 ** 14, 2 ** 15], []);
  const descriptor = openSync(x, 'w');
  writeSync(descriptor, header);
  closeSync(descriptor);
  truncateSync(x, header.length + 4 * 2 ** 29);
  const child = spawn(process.execPath, [
    COMMAND,
    'quantize',
    x,
    '-o',
    join(folder, 'q.safetensors'),
    '-f',
    'hif4',
  ]);
  const ended = new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)));
  await expect.poll(() => readdirSync(folder).length, { timeout: 10_000 }).toBe(2);
  child.kill('SIGINT');
  expect(await ended).toBe('SIGINT');
  expect(readdirSync(folder)).toEqual(['x.npy']);
});

describe('bad input: exit 2, the file named, nothing written [TEN-03] [TEN-08] [TEN-10]', () => {
  const good = f4([2], [ONE, ONE]);
  const oneTensor = (dtype: string, bytes: number): Uint8Array =>
    safetensorsFile({ t: { dtype, shape: [1], data_offsets: [0, bytes] } }, new Uint8Array(bytes));

  test.each<[string, string, Uint8Array, string[], string]>([
    ['an empty file', 'x.npy', new Uint8Array(0), [], 'x.npy: the file is empty'],
    ['a truncated file', 'x.npy', good.subarray(0, good.length - 1), [], 'x.npy: truncated'],
    ['a file that is too long', 'x.npy', Buffer.concat([good, Buffer.alloc(1)]), [], 'x.npy: too long'],
    ['another kind of file', 'x.npy', Buffer.from('hello, world'), [], 'x.npy: not a .npy file'],
    ['0-d', 'x.npy', f4([], [ONE]), [], '0-d'],
    ['an axis that is not there', 'x.npy', good, ['--axis', '1'], 'no axis 1'],
    ['an axis that is no number', 'x.npy', good, ['--axis', 'last'], 'axis'],
    ['u2 without --bf16', 'x.npy', npyFile('<u2', false, [1], new Uint8Array(2)), [], '--bf16'],
    ['--bf16 without u2', 'x.npy', good, ['--bf16'], 'found F32'],
    ['an unknown format', 'x.npy', good, ['--format', 'hif5'], 'did you mean "hif4"?'],
    ['an unknown profile', 'x.npy', good, ['--profile', 'author'], 'did you mean "authors"?'],
    ['a profile of the other format', 'x.npy', good, ['--profile', 'ocp'], 'unknown profile "ocp"'],
    ['an unknown parameter', 'x.npy', good, ['--set', 'tie=even'], 'did you mean "ties"?'],
    ['an unknown value', 'x.npy', good, ['--set', 'ties=evn'], 'did you mean "even"?'],
    ['--set without a value', 'x.npy', good, ['--set', 'ties'], 'name=value'],
    ['an unknown option', 'x.npy', good, ['--jason'], '--json'],
    [
      'NaN under nonfinite=error',
      'x.npy',
      f4([2, 1], [ONE, 0x7f800001n]),
      ['--set', 'nonfinite=error'],
      '[1,0] is NaN',
    ],
    [
      'infinity under nonfinite=error',
      'x.npy',
      f4([1], [0xff800000n]),
      ['--set', 'nonfinite=error'],
      '-Infinity',
    ],
    ['a tensor that is not named', 'x.safetensors', oneTensor('F32', 4), [], 'there are t'],
    ['a tensor that is not there', 'x.safetensors:u', oneTensor('F32', 4), [], 'no tensor "u"'],
    ['a tensor of integers', 'x.safetensors:t', oneTensor('U32', 4), [], 'type U32 cannot be quantized'],
    [
      'a tensor that cannot be read',
      'x.safetensors:t',
      oneTensor('I64', 8),
      [],
      'I64, which is not supported',
    ],
    ['--bf16 on .safetensors', 'x.safetensors:t', oneTensor('U16', 2), ['--bf16'], '--bf16 reads .npy'],
    ['a damaged .safetensors', 'x.safetensors:t', oneTensor('F32', 4).subarray(0, 20), [], 'truncated'],
    ['a name of another kind', 'x.bin', good, [], 'expected a name ending in .npy'],
  ])('quantize: %s', async (_, name, bytes, options, message) => {
    const folder = temporaryFolder();
    write(folder, name.split(':')[0]!, bytes);
    const output = join(folder, 'out.safetensors');
    const format = options.includes('--format') ? [] : ['--format', 'hif4'];
    const ran = await fp4('quantize', join(folder, name), '-o', output, ...format, ...options);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(message);
    expect(readdirSync(folder)).toEqual([name.split(':')[0]]);
  });

  test.each([
    ['no such input', ['quantize', 'none.npy', '-o', 'out.safetensors', '--format', 'hif4'], 'no such file'],
    [
      'an input that is a folder',
      ['quantize', 'd.npy', '-o', 'out.safetensors', '--format', 'hif4'],
      'it is a folder',
    ],
    [
      'an output folder that is not there',
      ['quantize', 'x.npy', '-o', 'no/out.safetensors', '--format', 'hif4'],
      'no such',
    ],
    [
      'an output that is a folder',
      ['quantize', 'x.npy', '-o', 'd.safetensors', '--format', 'hif4'],
      'it is a folder',
    ],
    [
      'an output of another kind',
      ['quantize', 'x.npy', '-o', 'out.npy', '--format', 'hif4'],
      'ending in .safetensors',
    ],
    ['no output', ['quantize', 'x.npy', '--format', 'hif4'], '--output'],
    ['no format', ['quantize', 'x.npy', '-o', 'out.safetensors'], '--format'],
    [
      'dequantize of .npy',
      ['dequantize', 'x.npy', '-o', 'out.npy'],
      'expected a quantized .safetensors file',
    ],
    [
      'dequantize to another kind',
      ['dequantize', 'q.safetensors', '-o', 'out.safetensors'],
      'ending in .npy',
    ],
    ['dequantize of plain tensors', ['dequantize', 'plain.safetensors', '-o', 'out.npy'], 'no fp4.format'],
    ['diff with no such file', ['diff', 'x.npy', 'none.npy'], 'none.npy: no such file'],
    ['diff of another kind', ['diff', 'x.npy', 'x.bin'], 'expected a name ending in .npy'],
    ['diff of one file', ['diff', 'x.npy'], "missing required argument 'b'"],
    ['tensor of no shape', ['tensor', '2x', '-o', 'out.npy', '--family', 'gauss'], 'such as 256x128'],
    ['tensor of no family', ['tensor', '2x3', '-o', 'out.npy', '--family', 'gaus'], 'did you mean "gauss"?'],
    [
      'tensor too large',
      ['tensor', '99999999x99999999x99999999', '-o', 'out.npy', '--family', 'gauss'],
      'too large',
    ],
  ])('%s', async (_, args, message) => {
    const folder = temporaryFolder();
    write(folder, 'x.npy', good);
    write(folder, 'plain.safetensors', oneTensor('F32', 4));
    mkdirSync(join(folder, 'd.npy'));
    mkdirSync(join(folder, 'd.safetensors'));
    const before = readdirSync(folder).sort();
    const inFolder = args.map((arg) => (/\.(npy|safetensors|bin)$/.test(arg) ? join(folder, arg) : arg));
    const ran = await fp4(...inFolder);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(message);
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  const metadata = {
    'fp4.format': 'hif4',
    'fp4.profile': 'authors',
    'fp4.parameters': '{}',
    'fp4.shape': '[3]',
    'fp4.axis': '0',
    'fp4.version': '0.1.0',
  };
  const quantized = (changed: object, tensors: object = {}): Uint8Array => {
    const codes = { dtype: 'U8', shape: [32], data_offsets: [0, 32] };
    const scales = { dtype: 'U32', shape: [1], data_offsets: [32, 36] };
    const header = { __metadata__: { ...metadata, ...changed }, codes, scales, ...tensors };
    return safetensorsFile(JSON.parse(JSON.stringify(header)), new Uint8Array(36));
  };

  test('the file that the following ones damage is fine', async () => {
    const folder = temporaryFolder();
    const path = write(folder, 'q.safetensors', quantized({}));
    expect(await fp4('dequantize', path, '-o', join(folder, 'out.npy'))).toMatchObject({ code: 0 });
  });

  test.each<[string, Uint8Array, string]>([
    ['no shape', quantized({ 'fp4.shape': undefined }), 'no fp4.shape'],
    ['no axis', quantized({ 'fp4.axis': undefined }), 'no fp4.axis'],
    ['an unknown format', quantized({ 'fp4.format': 'nf4' }), 'fp4.format is "nf4"'],
    ['a shape that is no JSON', quantized({ 'fp4.shape': '[3' }), 'fp4.shape is [3'],
    ['a shape of fractions', quantized({ 'fp4.shape': '[3.0]' }), 'not an array of sizes'],
    ['a negative shape', quantized({ 'fp4.shape': '[-3]' }), 'not an array of sizes'],
    ['an overflowing shape', quantized({ 'fp4.shape': '[4294967296,4294967296]' }), 'too large'],
    ['no dimensions', quantized({ 'fp4.shape': '[]' }), 'fp4.axis'],
    ['an axis beyond the shape', quantized({ 'fp4.axis': '1' }), 'fp4.axis is "1"'],
    ['a negative axis', quantized({ 'fp4.axis': '-1' }), 'fp4.axis is "-1"'],
    ['a shape of more blocks', quantized({ 'fp4.shape': '[65]' }), '"codes" is U8 [32]'],
    ['a shape of more rows', quantized({ 'fp4.shape': '[2,3]', 'fp4.axis': '1' }), '"codes" is U8 [32]'],
    ['scales of the other format', quantized({ 'fp4.format': 'mxfp4' }), '"codes" is U8 [32]'],
    [
      'no scales',
      quantized({}, { scales: undefined, x: { dtype: 'U8', shape: [4], data_offsets: [32, 36] } }),
      'no tensor "scales"',
    ],
    [
      'scales as bytes',
      quantized({}, { scales: { dtype: 'U8', shape: [4], data_offsets: [32, 36] } }),
      '"scales" is U8 [4]',
    ],
  ])('dequantize: %s', async (_, bytes, message) => {
    const folder = temporaryFolder();
    const path = write(folder, 'q.safetensors', bytes);
    const ran = await fp4('dequantize', path, '-o', join(folder, 'out.npy'));
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain('q.safetensors: ');
    expect(ran.stderr).toContain(message);
    expect(readdirSync(folder)).toEqual(['q.safetensors']);
  });
});

describe('diff [TEN-17]', () => {
  test('equal files', async () => {
    const folder = temporaryFolder();
    const a = write(folder, 'a.npy', f4([2], [ONE, 0n]));
    const b = write(folder, 'b.npy', f4([2], [ONE, 0n]));
    expect(await fp4('diff', a, b)).toMatchObject({ code: 0, stdout: '' });
    const { stdout } = await fp4('diff', a, b, '--json');
    const nothing = { differences: 0, first: [], structure: [], notes: [] };
    expect(JSON.parse(stdout)).toEqual({ equal: true, ...nothing });
  });

  test('byte order and memory order do not count; every bit of zero and NaN does', async () => {
    const folder = temporaryFolder();
    const bits = [1n, 2n, 3n, 4n, 0x7fc00000n, 0n];
    // [[1, 2, 3], [4, nan, 0]] in Fortran order: column by column.
    const columns = [1n, 4n, 2n, 0x7fc00001n, 3n, 0x80000000n];
    const a = write(folder, 'a.npy', f4([2, 3], bits));
    const b = write(folder, 'b.npy', npyFile('>f4', true, [2, 3], elementBytes(columns, 4, false)));
    const lines = ['array[1,1]\t7fc00000\t7fc00001', 'array[1,2]\t00000000\t80000000'];
    const ran = await fp4('diff', a, b);
    expect(ran).toMatchObject({ code: 1, stdout: `${lines.join('\n')}\n` });
    expect(ran.stderr).toContain('2 elements differ');
    const swapped = await fp4('diff', b, a);
    expect(swapped.stdout).toBe('array[1,1]\t7fc00001\t7fc00000\narray[1,2]\t80000000\t00000000\n');
    expect((await fp4('diff', b, b)).code).toBe(0);
  });

  test('the first 20 of many', async () => {
    const folder = temporaryFolder();
    const a = write(folder, 'a.npy', f4([50], Array(50).fill(0n)));
    const b = write(folder, 'b.npy', f4([50], Array(50).fill(ONE)));
    const ran = await fp4('diff', a, b);
    expect(ran.stdout.split('\n')).toHaveLength(21);
    expect(ran.stdout).toMatch(/array\[19\]\t00000000\t3f800000\n$/);
    expect(ran.stderr).toContain('50 elements differ; the first 20 are shown');
  });

  test('0-d, one element', async () => {
    const folder = temporaryFolder();
    const a = write(folder, 'a.npy', f4([], [ONE]));
    const b = write(folder, 'b.npy', f4([], [0n]));
    expect((await fp4('diff', a, b)).stdout).toBe('array[]\t3f800000\t00000000\n');
  });

  test('quantized files: by block and field; meaning counts, profile and version do not [TEN-21]', async () => {
    const folder = temporaryFolder();
    const x = write(folder, 'x.npy', f4([1, 2], [ONE, 0x3e200000n])); // 0.15625 is a tie at this scale
    const [a, b] = [join(folder, 'a.safetensors'), join(folder, 'b.safetensors')];
    await fp4('quantize', x, '-o', a, '--format', 'mxfp4');
    await fp4('quantize', x, '-o', b, '--format', 'mxfp4', '--set', 'scale=rceil');
    const ran = await fp4('diff', a, b);
    // amax 1: floor gives 2^-2, elements 4 and 0.625 (code 1); rceil 2^-2 as well, so only metadata differ.
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(ran.stderr).toContain('metadata fp4.parameters');
    await fp4('quantize', x, '-o', b, '--format', 'mxfp4', '--set', 'scale=ceil', '--axis', '0');
    const other = await fp4('diff', a, b);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain('axis: 1 against 0');
    const y = write(folder, 'y.npy', f4([1, 2], [0x40000000n, 0x3e200000n]));
    await fp4('quantize', y, '-o', b, '--format', 'mxfp4');
    // amax 2: scale 2^-1, 7e; 2 is code 6 there, 0.3125 code 1.
    expect((await fp4('diff', a, b)).stdout).toBe('0\tscale\t[0,0:2]\t7d\t7e\n');
  });

  test('one tensor of several with a .npy file; a tensor on one side only', async () => {
    const folder = temporaryFolder();
    const a = write(folder, 'a.npy', f4([1], [ONE]));
    const header = {
      t: { dtype: 'F32', shape: [1], data_offsets: [0, 4] },
      u: { dtype: 'F32', shape: [1], data_offsets: [4, 8] },
    };
    const b = write(folder, 'b.safetensors', safetensorsFile(header, elementBytes([ONE, 0n], 4, true)));
    expect((await fp4('diff', a, `${b}:t`)).code).toBe(0);
    expect(await fp4('diff', a, `${b}:u`)).toMatchObject({ code: 1, stdout: 'u[0]\t3f800000\t00000000\n' });
    const single = { t: header.t };
    const c = write(folder, 'c.safetensors', safetensorsFile(single, elementBytes([ONE], 4, true)));
    const ran = await fp4('diff', b, c);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(`u: only in ${b}`);
    const d = write(folder, 'd.npy', npyFile('<f2', false, [1], new Uint8Array(2)));
    const types = await fp4('diff', a, d);
    expect(types).toMatchObject({ code: 1, stdout: '' });
    expect(types.stderr).toContain('array: F32 [1] against F16 [1]');
  });
});

describe('tensor [TEN-18]', () => {
  test('f4 and bf16, the same bytes every time, each its own dtype', async () => {
    const folder = temporaryFolder();
    const [a, b] = [join(folder, 'a.npy'), join(folder, 'b.npy')];
    expect((await fp4('tensor', '3x70', '-o', a, '--family', 'ties', '--seed', '5')).code).toBe(0);
    const f4Bytes = readFileSync(a);
    expect(f4Bytes.length).toBe(128 + 4 * 210);
    await fp4('tensor', '3x70', '-o', b, '--family', 'ties', '--seed', '5', '--dtype', 'bf16');
    const bf16Bytes = readFileSync(b);
    expect(bf16Bytes.toString('latin1')).toContain("'descr': '<u2'");
    // Every value of ties is exact in BF16: the upper halves of the FP32 words.
    for (let i = 0; i < 210; i++) {
      expect(f4Bytes.readUInt32LE(128 + 4 * i)).toBe(bf16Bytes.readUInt16LE(128 + 2 * i) * 0x10000);
    }
    await fp4('tensor', '3x70', '-o', b, '--family', 'ties', '--seed', '5');
    expect(readFileSync(b).equals(f4Bytes)).toBe(true);
    await fp4('tensor', '3x70', '-o', b, '--family', 'ties', '--seed', '6');
    expect(readFileSync(b).equals(f4Bytes)).toBe(false);
  });

  test('outliers are channels of the last dimension: whole columns, thirty times as large', async () => {
    const folder = temporaryFolder();
    const [plain, outlier] = [join(folder, 'a.npy'), join(folder, 'b.npy')];
    const [rows, columns] = [8, 300];
    for (const [path, family] of [
      [plain, 'gauss'],
      [outlier, 'outlier-channel'],
    ] as const) {
      await fp4('tensor', `${rows}x${columns}`, '-o', path, '--family', family, '--seed', '3');
    }
    const median = (path: string, column: number): number => {
      const bytes = readFileSync(path);
      const at = (row: number): number => Math.abs(bytes.readFloatLE(128 + 4 * (row * columns + column)));
      return Array.from({ length: rows }, (_, row) => at(row)).sort((x, y) => x - y)[rows / 2]!;
    };
    const all = Array.from({ length: columns }, (_, column) => median(outlier, column));
    const large = all.filter((m) => m > 6).length;
    expect(large).toBeGreaterThan(0);
    expect(large).toBeLessThan(columns / 20);
    expect(Array.from({ length: columns }, (_, c) => median(plain, c)).filter((m) => m > 6)).toEqual([]);
  });

  test('an element does not depend on the shape around it', async () => {
    const folder = temporaryFolder();
    const [a, b] = [join(folder, 'a.npy'), join(folder, 'b.npy')];
    await fp4('tensor', '7x20', '-o', a, '--family', 'gauss');
    await fp4('tensor', '140', '-o', b, '--family', 'gauss');
    expect(readFileSync(a).subarray(-560).equals(readFileSync(b).subarray(-560))).toBe(true);
  });
});
