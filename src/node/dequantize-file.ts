/**
 * Dequantizing a quantized tensor to float32 .npy in the original shape, a piece at a time.
 * Clauses: spec/tensors.md TEN-08 to TEN-10.
 * @module
 */
import { buildNpyHeader } from '../files/npy.ts';
import { dequantizeTile } from '../tensor/dequantize.ts';
import { runs, tiles } from '../tensor/geometry.ts';
import { TILE_ELEMENTS } from '../tensor/quantize.ts';
import { writeWhole } from './output-file.ts';
import { type OnProgress, Pace } from './pace.ts';
import { type QuantizedInput, withQuantized } from './quantized-source.ts';
import { readBlocks } from './rows.ts';

export interface DequantizeJob {
  readonly input: QuantizedInput;
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
export const dequantizeFile = (job: DequantizeJob): Promise<{ format: string; shape: readonly number[] }> =>
  withQuantized(job.input, ({ decoder, geometry, reader, offsets }) =>
    writeWhole(job.output, async (output) => {
      const header = buildNpyHeader('F32', geometry.shape);
      output.write(header, 0);
      const pace = new Pace(geometry.slow * geometry.k * geometry.fast, job.onProgress);
      for (const tile of tiles(geometry, decoder.blockSize, job.tileElements ?? TILE_ELEMENTS)) {
        const packed = readBlocks(reader, offsets, geometry, tile, decoder);
        const bytes = dequantizeTile(packed, geometry, tile, decoder);
        for (const { start, count, at } of runs(geometry, tile)) {
          output.write(bytes.subarray(4 * at, 4 * (at + count)), header.length + 4 * start);
        }
        await pace.step(bytes.length / 4);
      }
      return { format: decoder.format, shape: geometry.shape };
    }),
  );
