/** `fp4 export` and `fp4 verify --dir` as a user runs them. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { deviceOutputs, littleEndian, nibbles } from '../casefolder/made-folder.ts';
import { fp4 } from './run-command.ts';

const root = mkdtempSync(join(tmpdir(), 'fp4-export-'));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;
const fresh = (): string => join(root, `case${made++}`);

async function exported(...args: string[]): Promise<string> {
  const folder = fresh();
  const { code, stderr } = await fp4('export', ...args, '-o', folder);
  expect([code, stderr.split('\n').length]).toEqual([0, 2]);
  return folder;
}

const manifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));

/** Writes what a right device writes for a folder without boundary cases. */
function device(folder: string): void {
  const { scales, codes } = deviceOutputs(
    'hif4',
    readFileSync(join(folder, 'input_x.bin')),
    manifest(folder).parameters,
  );
  writeFileSync(join(folder, 'actual_scale.bin'), littleEndian(scales, 4));
  writeFileSync(join(folder, 'actual_codes.bin'), nibbles(codes));
}

describe('from an export to a verdict', () => {
  test('right, then one code, one scale bit, one nibble order wrong [FOL-01, FOL-18, FOL-19]', async () => {
    const args = [
      '--profile',
      'ascend',
      '--family',
      'gauss',
      '--seed',
      '5',
      '--no-boundary',
      '--shape',
      '4x128',
    ];
    const folder = await exported('hif4_quantize', ...args, '--stages');
    device(folder);
    expect(await fp4('verify', '--dir', folder)).toMatchObject({ code: 0, stdout: '' });

    const codes = readFileSync(join(folder, 'actual_codes.bin'));
    const wrong = Uint8Array.from(codes);
    wrong[64 + 32 + 4]! ^= 0x10; // row 1, block 1, element 9
    writeFileSync(join(folder, 'actual_codes.bin'), wrong);
    const was = codes[100]! >> 4;
    const [expected, found] = [was, was ^ 1].map((c) => c.toString(16));
    const one = await fp4('verify', '--dir', folder);
    expect([one.code, one.stdout]).toEqual([1, `codes\trow 1, block 1, element 9\t${expected}\t${found}\n`]);
    expect(one.stderr).toContain(
      `first wrong: codes, row 1, block 1, element 9: expected ${expected}, found ${found}\n`,
    );

    writeFileSync(join(folder, 'actual_codes.bin'), codes);
    const scales = readFileSync(join(folder, 'actual_scale.bin'));
    writeFileSync(
      join(folder, 'actual_scale.bin'),
      scales.map((byte, i) => (i === 13 ? byte ^ 0x40 : byte)),
    );
    const bit = await fp4('verify', '--dir', folder);
    expect([bit.code, bit.stdout.split('\t').slice(0, 2)]).toEqual([
      1,
      ['scale', 'row 1, block 1, element 0'],
    ]);

    writeFileSync(join(folder, 'actual_scale.bin'), scales);
    writeFileSync(
      join(folder, 'actual_codes.bin'),
      codes.map((byte) => (byte >> 4) | (byte << 4)),
    );
    const order = await fp4('verify', '--dir', folder, '--json');
    const report = JSON.parse(order.stdout);
    expect([order.code, report.function, report.cases, report.first.length]).toEqual([
      1,
      'hif4_quantize',
      8,
      8,
    ]);
    expect(report.files.at(-1)).toMatchObject({ name: 'codes', role: 'expected', elements: 512 });
    expect(report.files[0]).toEqual({ name: 'max4', role: 'stage', elements: 128, wrong: null });
  });

  test('a whole tensor with swizzled scales [FOL-08]', async () => {
    const folder = await exported(
      'quantize',
      '--format',
      'mxfp4',
      '--shape',
      '5x70',
      '--layout',
      'nv-128x4',
      '--range',
      '-3:3',
    );
    for (const name of ['codes', 'scales'])
      copyFileSync(join(folder, `expected_${name}.bin`), join(folder, `actual_${name}.bin`));
    expect((await fp4('verify', '--dir', folder)).code).toBe(0);
    expect(manifest(folder)).toMatchObject({
      ...{ function: 'quantize', format: 'mxfp4', dtype: 'f32', profile: 'ocp', cases: 15, shape: [5, 70] },
      generator: { family: 'ladder', seed: 0, range: [-3, 3], boundary: { level: 1, perRow: 2, rows: 5 } },
    });
  });

  test('every case, flags and notes by default [FOL-05, FOL-06]', async () => {
    const folder = await exported('e8m0_to_f32', '--level', '2', '-n', '300', '--seed', '0xffffffffffffffff');
    expect(manifest(folder)).toMatchObject({
      ...{ cases: 300, profile: null, parameters: {} },
      generator: { family: 'bits', seed: '18446744073709551615', boundary: { level: 2, rows: 256 } },
    });
  });

  test('the same command gives the same bytes [FOL-01]', async () => {
    const folders = [
      await exported('mxfp4_quantize', '-n', '5'),
      await exported('mxfp4_quantize', '-n', '5'),
    ];
    const bytes = folders.map((f) =>
      readdirSync(f).map((name) => [name, readFileSync(join(f, name), 'hex')]),
    );
    expect(bytes[0]).toEqual(bytes[1]);
  });
});

describe('a place that is taken', () => {
  test('an existing folder that is not empty is left alone [FOL-01]', async () => {
    const folder = fresh();
    mkdirSync(folder);
    writeFileSync(join(folder, 'mine'), 'x');
    const { code, stderr } = await fp4('export', 'e2m1_to_f32', '-o', folder);
    expect([code, stderr]).toEqual([
      2,
      `fp4: ${folder}: the folder holds 1 files; expected a new or an empty one (E_FILE)\n`,
    ]);
    expect(readdirSync(folder)).toEqual(['mine']);
  });

  test('an empty one is used; a file is refused; so is a place without a folder [FOL-01]', async () => {
    const folder = fresh();
    mkdirSync(folder);
    expect((await fp4('export', 'e2m1_to_f32', '-o', folder)).code).toBe(0);
    expect(existsSync(join(folder, 'manifest.json'))).toBe(true);
    const file = fresh();
    writeFileSync(file, '');
    expect((await fp4('export', 'e2m1_to_f32', '-o', file)).stderr).toContain('it is no folder');
    expect((await fp4('export', 'e2m1_to_f32', '-o', join(root, 'no', 'where'))).stderr).toContain(
      'no such file or folder',
    );
    expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('a job that fails leaves nothing behind [FOL-01]', async () => {
    const folder = fresh();
    const args = ['--set', 'nonfinite=error', '--family', 'bits-any'];
    const { code, stderr } = await fp4(
      'export',
      'hif4_quantize',
      '-o',
      folder,
      ...args,
      '--no-boundary',
      '-n',
      '500',
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(/case \d+: element \d+ is (a NaN|an infinity), which nonfinite=error refuses/);
    expect(existsSync(folder)).toBe(false);
    expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

test.each([
  [['hif4_quantise'], 'did you mean "hif4_quantize"?'],
  [['product'], 'nothing to export under the name "product"'],
  [['quantize', '--shape', '4x64'], 'quantize needs --format'],
  [['quantize', '--format', 'hif4'], 'quantize needs --shape MxK'],
  [['quantize', '--format', 'hif5', '--shape', '4x64'], 'unknown format "hif5"'],
  [['quantize', '--format', 'hif4', '--shape', '4x64', '--layout', 'ggml'], 'layout ggml takes mxfp4'],
  [['quantize', '--format', 'hif4', '--shape', '4x64', '--dtype', 'f64'], 'did you mean'],
  [['hif4_quantize', '--format', 'hif4'], '--format is for quantize'],
  [['hif4_quantize', '--dtype', 'f32'], '--dtype is for quantize'],
  [['hif4_quantize', '--layout', 'high-first'], 'layouts are for quantize'],
  [['hif4_quantize', '--shape', '4x65'], 'takes whole blocks of 64 elements'],
  [['hif4_quantize', '--shape', '4'], 'It has the form MxK'],
  [['hif4_quantize', '--shape', '0x64'], 'there is nothing to export'],
  [['hif4_quantize', '--shape', '99999x99968'], 'expected from 1 to'],
  [['hif4_quantize', '--shape', '4x64', '-n', '3'], '-n and --shape'],
  [['hif4_quantize', '--names', 'pto', '--encoding', 'npy'], 'names pto: the files are raw'],
  [
    ['hif4_quantize', '--names', 'pto', '--set', 'reciprocal=exact'],
    'names pto: the stages of those tests are BF16',
  ],
  [
    ['quantize', '--format', 'hif4', '--shape', '4x65', '--encoding', 'text'],
    'takes whole blocks of 64 elements',
  ],
  [['hif4_quantize', '--family', 'gauss', '--range', '0:1'], '--range is for the family ladder'],
  [['hif4_quantize', '--profile', 'ascent'], 'did you mean "ascend"?'],
  [['hif4_quantize', '--family', 'gaus'], 'did you mean "gauss"?'],
])('refused: %j [FOL-05, FOL-08, FOL-11, FOL-14]', async (args, message) => {
  const folder = fresh();
  const { code, stderr } = await fp4('export', ...args, '-o', folder);
  expect([code, stderr.includes(message) ? message : stderr]).toEqual([2, message]);
  expect(existsSync(folder)).toBe(false);
});

describe('verify --dir refuses', () => {
  test('what is no case folder, and a function beside it [FOL-18, FOL-20]', async () => {
    const folder = fresh();
    expect(await fp4('verify', '--dir', folder)).toMatchObject({ code: 2, stdout: '' });
    mkdirSync(folder);
    expect((await fp4('verify', '--dir', folder)).stderr).toContain('manifest.json: missing');
    writeFileSync(join(folder, 'manifest.json'), Uint8Array.of(0xff, 0xfe));
    expect((await fp4('verify', '--dir', folder)).stderr).toContain('not valid UTF-8');
    expect((await fp4('verify', '--dir', join(folder, 'manifest.json'))).stderr).toContain('it is no folder');
    expect((await fp4('verify', 'hif4_quantize', '--dir', folder)).stderr).toContain('beside --dir');
    expect((await fp4('verify')).stderr).toContain('verify needs a function, or --dir');
  });

  test('links that lead out, folders in place of files [FOL-20]', async () => {
    const folder = await exported('e2m1_to_f32');
    const actual = join(folder, 'actual_y.bin');
    expect(await fp4('verify', '--dir', folder)).toMatchObject({ code: 2 });
    copyFileSync(join(folder, 'expected_y.bin'), join(root, 'outside.bin'));
    symlinkSync(join(root, 'outside.bin'), actual);
    expect((await fp4('verify', '--dir', folder)).stderr).toContain('a link that leads out of the folder');
    rmSync(actual);
    symlinkSync('expected_y.bin', actual); // one that stays inside is a file like others
    expect((await fp4('verify', '--dir', folder)).code).toBe(0);
    rmSync(actual);
    symlinkSync('nothing.bin', actual);
    expect((await fp4('verify', '--dir', folder)).code).toBe(2);
    rmSync(actual);
    mkdirSync(actual);
    expect((await fp4('verify', '--dir', folder)).stderr).toContain('it is a folder');
  });
});
