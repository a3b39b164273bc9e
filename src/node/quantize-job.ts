/**
 * Quantizing one piece of a tensor file after the other, in whatever thread: read, encoded, written to its place.
 * Clauses: spec/tensors.md TEN-04 to TEN-07, TEN-23.
 * @module
 */
import { readValues } from '../fast/input-words.ts';
import { ELEMENT_BYTES } from '../files/element-type.ts';
import { codec } from '../tensor/codec.ts';
import { type Geometry, geometry, runs, type Tile, tileDepth, tileRows } from '../tensor/geometry.ts';
import { quantizeTile, type TileValues } from '../tensor/quantize.ts';
import { ReportBuilder, type ReportParts } from '../tensor/report.ts';
import { type BlockPlace, writerAt } from './block-place.ts';
import { InputFile, type OpenFile } from './input-file.ts';
import { type LinearOffsets, writeBlocks } from './rows.ts';
import type { FloatTensor } from './tensor-file.ts';
import type { Job } from './worker-job.ts';

export interface QuantizeSetup {
  readonly file: OpenFile;
  readonly tensor: FloatTensor;
  readonly axis: number;
  /** A format, a profile, and every parameter in force. */
  readonly format: string;
  readonly profile: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly place: BlockPlace;
  readonly offsets: LinearOffsets;
  /** How messages name the tensor. */
  readonly name: string;
}

/** The exact values of a piece, in memory order. */
export function tileValues(
  file: InputFile,
  { type, offset, littleEndian }: FloatTensor,
  g: Geometry,
  tile: Tile,
) {
  const count = tileRows(tile) * tileDepth(tile);
  const size = ELEMENT_BYTES[type];
  const values: TileValues = type === 'F64' ? new Float64Array(count) : new Float32Array(count);
  const bytes = new Uint8Array(count * size);
  for (const { start, count, at } of runs(g, tile)) {
    file.readInto(bytes.subarray(at * size, (at + count) * size), offset + start * size);
  }
  readValues(bytes, type, littleEndian, values);
  return values;
}

export const quantizeJob: Job<QuantizeSetup, Tile, ReportParts> = (setup) => {
  const { tensor, name, offsets } = setup;
  const file = InputFile.opened(setup.file);
  const writer = writerAt(setup.place);
  const g = geometry(tensor.shape, setup.axis, tensor.order);
  const c = codec(setup.format, setup.profile, setup.parameters);
  return (tile) => {
    const report = new ReportBuilder();
    const packed = quantizeTile(tileValues(file, tensor, g, tile), g, tile, c, report, name);
    writeBlocks(writer, offsets, packed, g, tile, c);
    return { value: report.parts() };
  };
};
