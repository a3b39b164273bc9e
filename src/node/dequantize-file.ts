/**
 * Dequantizing a quantized .safetensors file to float32 .npy in the original shape, a piece at a time.
 * Clauses: spec/tensors.md TEN-08 to TEN-10.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { buildNpyHeader } from '../files/npy.ts';
import { dequantizeTile } from '../tensor/dequantize.ts';
import { runs, tiles } from '../tensor/geometry.ts';
import { TILE_ELEMENTS } from '../tensor/quantize.ts';
import { parseQuantizedHeader } from '../tensor/quantized-header.ts';
import { writeWhole } from './output-file.ts';
import { type OnProgress, Pace } from './pace.ts';
import { readBlocks } from './rows.ts';
import { readSafetensorsHeader, tensorName, withInput } from './tensor-file.ts';

export interface DequantizeJob {
  /** A file that `quantizeFile` wrote, or another of the same form. */
  readonly input: string;
  readonly output: string;
  readonly onProgress?: OnProgress;
  /** Elements of one piece; only tests need another number. */
  readonly tileElements?: number;
}

/**
 * Dequantizes one tensor. The output appears only when all went well.
 * @returns the format that was found, and the original shape
 * @throws Fp4Error for every kind of bad input
 */
export const dequantizeFile = (job: DequantizeJob): Promise<{ format: string; shape: readonly number[] }> => {
  const { path, kind, tensor } = tensorName(job.input);
  if (kind !== 'safetensors' || tensor !== undefined) {
    throw new Fp4Error(
      'E_USAGE',
      `${job.input}: expected a quantized .safetensors file, without a tensor's name`,
    );
  }
  return withInput(path, (file) => {
    const { decoder, geometry, offsets } = parseQuantizedHeader(readSafetensorsHeader(file), path);
    return writeWhole(job.output, async (output) => {
      const header = buildNpyHeader('F32', geometry.shape);
      output.write(header, 0);
      const pace = new Pace(geometry.slow * geometry.k * geometry.fast, job.onProgress);
      for (const tile of tiles(geometry, decoder.blockSize, job.tileElements ?? TILE_ELEMENTS)) {
        const packed = readBlocks(file, offsets, geometry, tile, decoder);
        const bytes = dequantizeTile(packed, geometry, tile, decoder);
        for (const { start, count, at } of runs(geometry, tile)) {
          output.write(bytes.subarray(4 * at, 4 * (at + count)), header.length + 4 * start);
        }
        await pace.step(bytes.length / 4);
      }
      return { format: decoder.format, shape: geometry.shape };
    });
  });
};
