/** `fp4 gemm` as a user runs it: operands of every kind, C and factors, refusals that leave nothing behind, verdicts. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeLayout } from '../../src/layout/convert.ts';
import { blockFormat, extentOf } from '../../src/layout/linear.ts';
import { layoutByName } from '../../src/layout/registry.ts';
import { quantizeTensor } from '../../src/tensor/quantize.ts';
import { fp4 } from './run-command.ts';

const DATA = new URL('../data/', import.meta.url).pathname;
const X = `${DATA}speech_activations_256x128.npy`;
const W = `${DATA}lstm_weight_ih_512x128.npy`;

const folder = mkdtempSync(join(tmpdir(), 'fp4-gemm-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

/** The data of a .npy file. */
function data(path: string): Buffer {
  const bytes = readFileSync(path);
  return bytes.subarray(10 + bytes.readUInt16LE(8));
}

function npy(name: string, shape: number[], values: Iterable<number>, descr = '<f4'): string {
  const array = descr === '<f8' ? Float64Array.from(values) : Float32Array.from(values);
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`.padEnd(117);
  const head = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, 118, 0, ...Buffer.from(`${text}\n`)]);
  writeFileSync(at(name), Buffer.concat([head, Buffer.from(array.buffer)]));
  return at(name);
}

async function product(name: string, ...args: string[]): Promise<Buffer> {
  const { code, stderr } = await fp4('gemm', ...args, '-o', at(name), '--threads', '1');
  expect([code, stderr]).toEqual([0, expect.stringContaining('written in')]);
  return data(at(name));
}

describe('operands from everywhere give the same product [GEM-18, GEM-19]', () => {
  test.each(['hif4', 'mxfp4'])('%s: tensors, files and threads', async (format) => {
    const whole = await product('whole.npy', X, W, '--format', format);
    await fp4('quantize', W, '-o', at('w.safetensors'), '--format', format);
    expect(await product('file.npy', X, at('w.safetensors'), '--a-format', format)).toEqual(whole);
    const { code } = await fp4('gemm', X, W, '--format', format, '-o', at('two.npy'), '--threads', '2');
    expect([code, data(at('two.npy')).equals(whole)]).toEqual([0, true]);
  });

  // faults.md L4: padding of codes and of scales holds anything, and no bit of the product changes.
  const layouts = [
    ['linear', 'mxfp4'],
    ['high-first', 'mxfp4'],
    ['nv-128x4', 'mxfp4'],
    ['mx-a-zz', 'mxfp4'],
    ['mx-b-nn', 'mxfp4'],
    ['ggml', 'mxfp4'],
    ['gpt-oss', 'mxfp4'],
    ['linear', 'hif4'],
    ['high-first', 'hif4'],
    ['hif4-unit36', 'hif4'],
    ['hif4-a-zz', 'hif4'],
    ['hif4-b-nn', 'hif4'],
    ['hif4-exp-dst', 'hif4'],
  ] as const;
  test.each(layouts)('L4: padding reaches no output in %s, %s [GEM-01]', async (layoutName, format) => {
    const depth = 1504;
    const values = Float64Array.from({ length: 3 * depth }, (_, k) => ((k * 7919) % 199) / 50 - 2);
    const a = npy('a.npy', [3, depth], values);
    const b = npy('b.npy', [3, depth], values.toReversed());
    const wanted = await product('c.npy', a, b, '--format', format);
    const { tensor } = quantizeTensor(values.toReversed(), [3, depth], 1, format);
    const block = blockFormat(format);
    const extent = extentOf(block, [3, depth]);
    const blocks = Math.ceil(depth / block.elements);
    const codes = tensor.codes.slice();
    for (let row = 0; row < 3; row++) {
      const end = (row + 1) * blocks * block.elements;
      codes.fill(0x77, (end - (blocks * block.elements - depth)) / 2, end / 2);
    }
    const arrays = writeLayout(layoutByName(layoutName, format), block, extent, {
      codes,
      scales: tensor.scales,
    });
    const names = Object.keys(arrays);
    const codesName = names.find((n) => /codes|blocks|units/.test(n)) ?? names[0]!;
    const scalesName = names.find((n) => n !== codesName);
    writeFileSync(at('b.codes'), arrays[codesName]!);
    if (scalesName !== undefined) {
      // Bytes that no scale reaches are padding: NaN scales there.
      const flipped = { codes, scales: tensor.scales.map((byte) => byte ^ 0xff) };
      const other = writeLayout(layoutByName(layoutName, format), block, extent, flipped)[scalesName]!;
      const scales = arrays[scalesName]!.map((byte, k) => (byte === other[k] ? 0xff : byte));
      const padded = ['nv-128x4', 'mx-a-zz', 'mx-b-nn', 'hif4-a-zz', 'hif4-b-nn', 'hif4-exp-dst'].includes(
        layoutName,
      );
      expect(scales.some((byte, k) => byte !== arrays[scalesName]![k])).toBe(padded);
      writeFileSync(at('b.scales'), scales);
    }
    const pair = [
      '--b-codes',
      at('b.codes'),
      ...(scalesName === undefined ? [] : ['--b-scales', at('b.scales')]),
    ];
    const shape = ['--b-shape', `3x${depth}`, '--b-layout', layoutName];
    expect(await product('d.npy', a, '--format', format, ...pair, ...shape)).toEqual(wanted);
  });

  test('one operand not quantized, and outputs of 16 bits [GEM-02, GEM-03, GEM-09]', async () => {
    const a = npy('one.npy', [1, 2], [1, 2 ** -9]);
    const b = npy('two.npy', [2, 2], [1, 1, 1, -1]);
    const wide = await product('c32.npy', a, b, '--format', 'f32');
    expect([wide.readFloatLE(0), wide.readFloatLE(4)]).toEqual([1 + 2 ** -9, 1 - 2 ** -9]);
    const half = await product('c16.npy', a, b, '--format', 'f32', '--output', 'f16');
    expect([half.readUInt16LE(0), half.readUInt16LE(2)]).toEqual([0x3c02, 0x3bfc]);
    const brain = await product(
      'cb.npy',
      a,
      b,
      '--a-format',
      'bf16',
      '--b-format',
      'mxfp4',
      '--output',
      'bf16',
    );
    expect([brain.readUInt16LE(0), brain.readUInt16LE(2)]).toEqual([0x3f80, 0x3f80]);
  });

  test('C, alpha, beta [GEM-11]', async () => {
    const one = npy('one.npy', [1, 1], [1]);
    const c = npy('cc.npy', [1, 1], [2 ** -24]);
    const tiny = npy('tiny.npy', [1, 1], [2 ** -24 + 2 ** -47]);
    const add = async (...args: string[]) =>
      (await product('c.npy', one, one, '--format', 'f32', ...args)).readFloatLE(0);
    expect(await add('--c', c)).toBe(1);
    expect(await add('--c', tiny)).toBe(1 + 2 ** -23);
    expect(await add('--c', c, '--alpha', '3', '--beta', '2')).toBe(3);
    expect(await add('--c', c, '--alpha', '3', '--beta', '4')).toBe(3 + 2 ** -22);
    expect(await add('--c', c, '--beta', '0')).toBe(1);
  });
});

describe('refusals name what is wrong, and leave no file [GEM-04, GEM-10, GEM-11, GEM-18, GEM-19]', () => {
  const one = npy('one.npy', [1, 1], [1]);
  const flat = npy('flat.npy', [3], [1, 2, 3]);
  const double = npy('double.npy', [1, 1], [1], '<f8');
  const cases: [string, string[], string][] = [
    ['two files are needed', [one, '--format', 'f32'], 'name B: a file, or --b-codes'],
    ['three are too many', [one, one, one, '--format', 'f32'], 'one argument too many'],
    ['a format is needed', [one, one], 'name its format with --format or --a-format'],
    ['an unknown format', [one, one, '--format', 'mxfp5'], 'did you mean "mxfp4"?'],
    ['no rows', [flat, one, '--format', 'f32'], 'A has shape [3]'],
    ['different K', [X, one, '--format', 'f32'], 'A has K = 128, B has K = 1'],
    [
      'an unknown accumulator',
      [one, one, '--format', 'f32', '--accumulator', 'exakt'],
      'did you mean "exact"?',
    ],
    ['an unknown output', [one, one, '--format', 'f32', '--output', 'f8'], 'unknown output "f8"'],
    ['C of another shape', [one, one, '--format', 'f32', '--c', flat], 'shape [3]; the product has [1, 1]'],
    ['C that FP32 does not hold', [one, one, '--format', 'f32', '--c', double], 'found F64'],
    ['beta without C', [one, one, '--format', 'f32', '--beta', '1'], 'there is no C that it scales'],
    [
      'a profile of what is not quantized',
      [one, one, '--format', 'f32', '--profile', 'ocp'],
      'it takes no profile',
    ],
    [
      'scales without codes',
      [one, one, '--format', 'mxfp4', '--a-scales', one],
      '--a-scales describes foreign data; --a-codes names it',
    ],
    [
      '--accept without --check',
      [one, one, '--format', 'f32', '--accept', 'exact'],
      '--accept belongs to --check',
    ],
  ];
  test.each(cases)('%s', async (_, args, message) => {
    const before = readdirSync(folder).sort();
    const { code, stderr } = await fp4('gemm', ...args, '-o', at('never.npy'), '--threads', '1');
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  test('quantized data whose blocks run the other way [GEM-03]', async () => {
    await fp4('quantize', W, '-o', at('along0.safetensors'), '--format', 'mxfp4', '--axis', '0');
    const { code, stderr } = await fp4(
      'gemm',
      X,
      at('along0.safetensors'),
      '--a-format',
      'mxfp4',
      '-o',
      at('never.npy'),
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('blocks run along axis 0 of shape [512, 128], K along axis 1'),
    ]);
  });
});

describe('backward products quantize each operand along its own K [GEM-12]', () => {
  test.each(['hif4', 'mxfp4'])('%s: dW = dY^T X and dX = dY W', async (format) => {
    const turned = (values: Float64Array, rows: number, columns: number) =>
      Float64Array.from(values, (_, k) => values[(k % rows) * columns + Math.floor(k / rows)]!);
    const make = (seed: number, size: number) =>
      Float64Array.from({ length: size }, (_, k) => (((k + seed) * 7919) % 251) / 60 - 2);
    const [tokens, out, inputs] = [70, 5, 6];
    const [dY, x, w] = [make(1, tokens * out), make(2, tokens * inputs), make(3, out * inputs)];
    const files = {
      dY: npy('dY.npy', [tokens, out], dY),
      x: npy('x.npy', [tokens, inputs], x),
      w: npy('w.npy', [out, inputs], w),
      dYt: npy('dYt.npy', [out, tokens], turned(dY, tokens, out)),
      xt: npy('xt.npy', [inputs, tokens], turned(x, tokens, inputs)),
      wt: npy('wt.npy', [inputs, out], turned(w, out, inputs)),
    };
    const dW = await product(
      'dW.npy',
      files.dY,
      files.x,
      '--format',
      format,
      '--a-order',
      'km',
      '--b-order',
      'kn',
    );
    expect(dW).toEqual(await product('same.npy', files.dYt, files.xt, '--format', format));
    const dX = await product('dX.npy', files.dY, files.w, '--format', format, '--b-order', 'kn');
    expect(dX).toEqual(await product('same.npy', files.dY, files.wt, '--format', format));
  });
});

describe('--check [GEM-13, GEM-14, GEM-15, GEM-16, GEM-17]', () => {
  test('a right product, then one with a wrong element', async () => {
    await product('right.npy', X, W, '--format', 'hif4');
    const ask = async (file: string, ...args: string[]) => {
      const ran = await fp4('gemm', X, W, '--format', 'hif4', '--check', at(file), '--json', ...args);
      return { code: ran.code, report: JSON.parse(ran.stdout) };
    };
    const right = await ask('right.npy', '--accept', 'exact');
    expect([right.code, right.report.explainedBy, right.report.outputs]).toEqual([0, 'exact', 256 * 512]);
    const bytes = readFileSync(at('right.npy'));
    const place = bytes.length - data(at('right.npy')).length + 4 * (130 * 512 + 77);
    const was = bytes.readFloatLE(place);
    bytes.writeFloatLE(was + 1, place);
    writeFileSync(at('wrong.npy'), bytes);
    const wrong = await ask('wrong.npy', '--tile', '128x64');
    expect(wrong.code).toBe(1);
    expect(wrong.report.explainedBy).toBe(null);
    const [bound, exact] = wrong.report.acceptances;
    expect([bound.acceptance, bound.outside, exact.acceptance, exact.outside]).toEqual([
      'bound:fp32',
      1,
      'exact',
      1,
    ]);
    expect(bound.worst.index).toEqual([0, 130, 77]);
    expect(bound.tiles).toEqual([{ batch: 0, row: 1, column: 1, outside: 1 }]);
    expect(Math.fround(bound.worst.value)).toBe(was);
    const sizes = bound.worst.terms.map((t: { value: number }) => Math.abs(t.value));
    expect(sizes).toEqual(sizes.toSorted((p: number, q: number) => q - p));
    const text = await fp4('gemm', X, W, '--format', 'hif4', '--check', at('wrong.npy'));
    expect(text.stderr).toContain('worst [130, 77]');
  });

  test('refusals', async () => {
    const one = npy('one.npy', [1, 1], [1]);
    const ask = (...args: string[]) => fp4('gemm', one, one, '--format', 'f32', '--check', one, ...args);
    expect(await ask('--accept', 'loose')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unknown acceptance "loose"'),
    });
    writeFileSync(at('unit.json'), '{"group": 4, "fraction": 3}');
    const unit = await ask('--accept', `bound:@${at('unit.json')}`);
    expect(unit).toMatchObject({ code: 2, stderr: expect.stringContaining('fraction is not known') });
    const other = npy('other.npy', [1, 2], [1, 1]);
    const shape = await fp4('gemm', one, one, '--format', 'f32', '--check', other);
    expect(shape).toMatchObject({ code: 2, stderr: expect.stringContaining('the product has [1, 1]') });
  });
});
