/**
 * Dequantizing one piece of a tensor after the other, in whatever thread: blocks read, decoded, written to their places.
 * Clauses: spec/tensors.md TEN-09, TEN-23.
 * @module
 */
import { decoder } from '../tensor/codec.ts';
import { dequantizeTile } from '../tensor/dequantize.ts';
import { geometry, runs, type Tile, tileDepth, tileRows } from '../tensor/geometry.ts';
import { type BlockPlace, readerAt, writerAt } from './block-place.ts';
import { type LinearOffsets, readBlocks } from './rows.ts';
import type { Job } from './worker-job.ts';

export interface DequantizeSetup {
  readonly place: BlockPlace;
  readonly offsets: LinearOffsets;
  readonly format: string;
  readonly shape: readonly number[];
  readonly axis: number;
  readonly output: BlockPlace;
  /** Of the first element, in bytes. */
  readonly start: number;
}

/** Answers with the number of elements written. */
export const dequantizeJob: Job<DequantizeSetup, Tile, number> = (setup) => {
  const reader = readerAt(setup.place);
  const writer = writerAt(setup.output);
  const g = geometry(setup.shape, setup.axis, 'C');
  const d = decoder(setup.format);
  return (tile) => {
    const bytes = dequantizeTile(readBlocks(reader, setup.offsets, g, tile, d), g, tile, d);
    for (const { start, count, at } of runs(g, tile)) {
      writer.write(bytes.subarray(4 * at, 4 * (at + count)), setup.start + 4 * start);
    }
    return { value: tileRows(tile) * tileDepth(tile) };
  };
};
