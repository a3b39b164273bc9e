/** The real tensors, both formats, there and back; the report against plain integer arithmetic on the two files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dequantizeFile } from '../../src/node/dequantize-file.ts';
import { quantizeFile } from '../../src/node/quantize-file.ts';
import { codec } from '../../src/tensor/codec.ts';
import { temporaryFolder } from './tensor-bytes.ts';

const TENSORS = {
  lstm_weight_ih_512x128: [512, 128],
  encoder_conv0_weight_128x387: [128, 387],
  speech_activations_256x128: [256, 128],
};

/** The elements of a little-endian float32 .npy file, which are all that follows its header's newline. */
function elements(path: string): number[] {
  const bytes = readFileSync(path);
  const start = bytes.indexOf('\n') + 1;
  return Array.from({ length: (bytes.length - start) / 4 }, (_, i) => bytes.readFloatLE(start + 4 * i));
}

/** A float32 in units of 2^-149, the smallest one. */
const units = (x: number): bigint => BigInt(x * 2 ** 149);

describe.each(Object.entries(TENSORS))('%s [TEN-12] [TEN-13] [TEN-14]', (name, shape) => {
  test.each([
    ['hif4', -1],
    ['mxfp4', -1],
    ['hif4', 0],
    ['mxfp4', 0],
  ])('%s along axis %i', async (format, axis) => {
    const folder = temporaryFolder();
    const input = new URL(`../data/${name}.npy`, import.meta.url).pathname;
    const output = join(folder, 'q.safetensors');
    const back = join(folder, 'back.npy');
    const { report } = await quantizeFile({ input, output, codec: codec(format), axis, bf16: false });
    expect(await dequantizeFile({ input: output, output: back })).toEqual({ format, shape });

    const [x, y] = [elements(input), elements(back)];
    expect(y.length).toBe(x.length);
    let signal = 0n;
    let error = 0n;
    x.forEach((value, i) => {
      signal += units(value) ** 2n;
      error += (units(value) - units(y[i]!)) ** 2n;
    });
    // mse = error x 2^-298 / count, to half a unit in the last place of binary64: at most 2^-53 of its binade.
    const mse = report.mse!;
    const ulp = 2 ** (Math.floor(Math.log2(mse)) - 52);
    const count = BigInt(x.length);
    const inUlps = BigInt(mse / ulp) * count; // of units of ulp / count
    const shift = 298n + BigInt(Math.log2(ulp));
    const twiceOff = 2n * (inUlps * 2n ** shift - error);
    expect(twiceOff <= count * 2n ** shift && -twiceOff <= count * 2n ** shift).toBe(true);

    const ratio = Number((signal * 10n ** 15n) / error) / 1e15;
    expect(report.sqnr_db).toBe(Number((10 * Math.log10(ratio)).toFixed(4)));
    const nonzero = x.filter((v) => v !== 0).length;
    expect(report.underflow).toBe(x.filter((v, i) => v !== 0 && y[i] === 0).length / nonzero);
    const [rows, depth] = axis === 0 ? [shape[1]!, shape[0]!] : [shape[0]!, shape[1]!];
    const blocks = rows * Math.ceil(depth / (format === 'hif4' ? 64 : 32));
    expect(report).toMatchObject({ elements: x.length, blocks, nonfinite: 0 });
  });
});
