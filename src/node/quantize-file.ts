/**
 * Quantizing a tensor file to a .safetensors file, a piece at a time, so that neither has to fit into memory.
 * Clauses: spec/tensors.md TEN-04 to TEN-07, TEN-10.
 * @module
 */
import { readValues } from '../fast/input-words.ts';
import type { Codec } from '../tensor/codec.ts';
import {
  type Geometry,
  geometry,
  normalizedAxis,
  runs,
  type Tile,
  tileDepth,
  tileRows,
  tiles,
} from '../tensor/geometry.ts';
import { quantizeTile, TILE_ELEMENTS } from '../tensor/quantize.ts';
import { buildQuantizedHeader } from '../tensor/quantized-header.ts';
import { ReportBuilder, type TensorReport } from '../tensor/report.ts';
import type { InputFile } from './input-file.ts';
import { writeWhole } from './output-file.ts';
import { type OnProgress, Pace } from './pace.ts';
import { writeBlocks } from './rows.ts';
import { type FloatTensor, floatTensor, readElements, tensorName, withInput } from './tensor-file.ts';

export interface QuantizeJob {
  /** X.npy or FILE.safetensors:NAME. */
  readonly input: string;
  readonly output: string;
  readonly codec: Codec;
  /** May be negative, counted from the last. */
  readonly axis: number;
  /** Whether the words of a .npy file of type u2 are BF16. */
  readonly bf16: boolean;
  readonly onProgress?: OnProgress;
  /** Elements of one piece; only tests need another number. */
  readonly tileElements?: number;
}

/** The report of a job, with what it was about. */
export interface QuantizeResult {
  readonly shape: readonly number[];
  readonly axis: number;
  readonly report: TensorReport;
}

/** The exact values of a piece, in memory order. */
function tileValues(file: InputFile, tensor: FloatTensor, g: Geometry, tile: Tile): Float64Array {
  const values = new Float64Array(tileRows(tile) * tileDepth(tile));
  for (const { start, count, at } of runs(g, tile)) {
    const bytes = readElements(file, tensor, start, count);
    readValues(bytes, tensor.type, tensor.littleEndian, values.subarray(at, at + count));
  }
  return values;
}

/**
 * Quantizes one tensor. The output appears only when all went well.
 * @throws Fp4Error for every kind of bad input
 */
export const quantizeFile = (job: QuantizeJob): Promise<QuantizeResult> => {
  const name = tensorName(job.input);
  return withInput(name.path, (file) => {
    const tensor = floatTensor(file, name, job.bf16);
    const g = geometry(tensor.shape, normalizedAxis(tensor.shape, job.axis, job.input), tensor.order);
    const { header, offsets } = buildQuantizedHeader(job.codec, g);
    return writeWhole(job.output, async (output) => {
      output.write(header, 0);
      const report = new ReportBuilder();
      const pace = new Pace(g.slow * g.k * g.fast, job.onProgress);
      for (const tile of tiles(g, job.codec.blockSize, job.tileElements ?? TILE_ELEMENTS)) {
        const values = tileValues(file, tensor, g, tile);
        const packed = quantizeTile(values, g, tile, job.codec, report, job.input);
        writeBlocks(output, offsets, packed, g, tile, job.codec);
        await pace.step(values.length);
      }
      return { shape: g.shape, axis: g.axis, report: report.report() };
    });
  });
};
