/**
 * Dequantizing a quantized tensor to float32 .npy in the original shape, a piece at a time.
 * Clauses: spec/tensors.md TEN-08 to TEN-10, TEN-23.
 * @module
 */
import { buildNpyHeader } from '../files/npy.ts';
import { tiles } from '../tensor/geometry.ts';
import { TILE_ELEMENTS } from '../tensor/quantize.ts';
import { inOutput } from './block-place.ts';
import { writeWhole } from './output-file.ts';
import { type OnProgress, Pace } from './pace.ts';
import { type QuantizedInput, withQuantized } from './quantized-source.ts';
import { messages, threadsFor, withWorkers } from './worker-pool.ts';

export interface DequantizeJob {
  readonly input: QuantizedInput;
  readonly output: string;
  readonly onProgress?: OnProgress;
  /** Threads at most, 1 if absent. */
  readonly threads?: number;
  /** Elements of one piece; only tests need another number. */
  readonly tileElements?: number;
}

/**
 * Dequantizes one tensor. The output appears only when all went well.
 * @returns the format that was found, and the original shape
 * @throws Fp4Error for every kind of bad input
 */
export const dequantizeFile = (job: DequantizeJob): Promise<{ format: string; shape: readonly number[] }> =>
  withQuantized(job.input, ({ decoder, geometry: g, place, offsets }) =>
    writeWhole(job.output, async (output) => {
      const { format, blockSize } = decoder;
      const { shape, axis } = g;
      const header = buildNpyHeader('F32', shape);
      output.write(header, 0);
      const setup = { place, offsets, format, shape, axis, output: inOutput(output), start: header.length };
      const budget = job.tileElements ?? TILE_ELEMENTS;
      const elements = g.slow * g.k * g.fast;
      const pace = new Pace(elements, job.onProgress);
      await withWorkers(threadsFor(job.threads ?? 1, elements / budget), async (pool) => {
        for await (const written of pool.run('dequantize', setup, messages(tiles(g, blockSize, budget)))) {
          await pace.step(written);
        }
      });
      return { format, shape };
    }),
  );
