/**
 * Quantizing a tensor file to a .safetensors file, a piece at a time, so that neither has to fit into memory.
 * Clauses: spec/tensors.md TEN-04 to TEN-07, TEN-10, TEN-23.
 * @module
 */
import { writeLayout } from '../layout/convert.ts';
import { blockFormat, extentOf } from '../layout/linear.ts';
import type { Codec } from '../tensor/codec.ts';
import { type Geometry, geometry, normalizedAxis, tiles } from '../tensor/geometry.ts';
import { TILE_ELEMENTS } from '../tensor/quantize.ts';
import { buildQuantizedHeader, isLinear, type StoredForm, storedForm } from '../tensor/quantized-header.ts';
import { ReportBuilder, type TensorReport } from '../tensor/report.ts';
import { type BlockPlace, inMemory, inOutput } from './block-place.ts';
import type { InputFile } from './input-file.ts';
import { LinearMemory } from './linear-memory.ts';
import { type OutputFile, writeWhole } from './output-file.ts';
import { type OnProgress, Pace } from './pace.ts';
import type { QuantizedSource } from './quantized-source.ts';
import type { LinearOffsets } from './rows.ts';
import { type FloatTensor, floatTensor, tensorName, withInput } from './tensor-file.ts';
import { messages, threadsFor, withWorkers } from './worker-pool.ts';

export interface QuantizeJob {
  /** X.npy or FILE.safetensors:NAME. */
  readonly input: string;
  readonly output: string;
  readonly codec: Codec;
  /** How codes and scales are laid out, linear if absent; what is not linear is held in memory whole. */
  readonly layout?: string;
  /** May be negative. */
  readonly packAxis?: number;
  /** May be negative, counted from the last. */
  readonly axis: number;
  /** Whether the words of a .npy file of type u2 are BF16. */
  readonly bf16: boolean;
  readonly onProgress?: OnProgress;
  /** Threads at most, 1 if absent. */
  readonly threads?: number;
  /** Elements of one piece; only tests need another number. */
  readonly tileElements?: number;
}

/** The report of a job, with what it was about. */
export interface QuantizeResult {
  readonly shape: readonly number[];
  readonly axis: number;
  readonly report: TensorReport;
}

/** A tensor to quantize: its open file, and how it lies around its axis. */
interface Source {
  readonly file: InputFile;
  readonly tensor: FloatTensor;
  readonly geometry: Geometry;
}

type Work = Pick<
  QuantizeJob,
  'input' | 'codec' | 'axis' | 'bf16' | 'onProgress' | 'threads' | 'tileElements'
>;

function withTensor<T>(job: Work, use: (source: Source) => Promise<T>): Promise<T> {
  const name = tensorName(job.input);
  return withInput(name.path, (file) => {
    const tensor = floatTensor(file, name, job.bf16);
    const axis = normalizedAxis(tensor.shape, job.axis, job.input);
    return use({ file, tensor, geometry: geometry(tensor.shape, axis, tensor.order) });
  });
}

/** Quantizes piece by piece into linear codes and scales. */
async function quantizeInto(
  { file, tensor, geometry: g }: Source,
  job: Work,
  place: BlockPlace,
  offsets: LinearOffsets,
): Promise<QuantizeResult> {
  const { format, profile, parameters, blockSize } = job.codec;
  const { axis, shape } = g;
  const setup = {
    file: file.handle,
    tensor,
    axis,
    format,
    profile,
    parameters,
    place,
    offsets,
    name: job.input,
  };
  const budget = job.tileElements ?? TILE_ELEMENTS;
  const elements = g.slow * g.k * g.fast;
  const report = new ReportBuilder();
  const pace = new Pace(elements, job.onProgress);
  await withWorkers(threadsFor(job.threads ?? 1, elements / budget), async (pool) => {
    for await (const parts of pool.run('quantize', setup, messages(tiles(g, blockSize, budget)))) {
      report.add(parts);
      await pace.step(parts.elements);
    }
  });
  return { shape, axis, report: report.report() };
}

/** TEN-19. The arrays of a layout to their places in a file. */
function writeArrays(
  output: OutputFile,
  format: string,
  form: StoredForm,
  g: Geometry,
  linear: LinearMemory,
  offsets: Readonly<Record<string, number>>,
): void {
  const block = blockFormat(format);
  const extent = extentOf(block, g.shape, g.axis);
  const arrays = writeLayout(form.layout, block, extent, linear.blocks, form.packAxis);
  for (const [name, bytes] of Object.entries(arrays)) output.write(bytes, offsets[name]!);
}

/**
 * Quantizes one tensor. The output appears only when all went well.
 * @throws Fp4Error for every kind of bad input
 */
export const quantizeFile = (job: QuantizeJob): Promise<QuantizeResult> =>
  withTensor(job, (source) => {
    const g = source.geometry;
    const packAxis =
      job.packAxis === undefined ? undefined : normalizedAxis(g.shape, job.packAxis, '--pack-axis');
    const form = storedForm(job.codec.format, job.layout, packAxis);
    const { header, offsets } = buildQuantizedHeader(job.codec, g, form);
    return writeWhole(job.output, async (output) => {
      output.write(header, 0);
      if (isLinear(form)) {
        return quantizeInto(source, job, inOutput(output), {
          codes: offsets['codes']!,
          scales: offsets['scales']!,
        });
      }
      const memory = memoryFor(job.codec, g);
      const result = await quantizeInto(source, job, inMemory(memory), memory.offsets);
      writeArrays(output, job.codec.format, form, g, memory, offsets);
      return result;
    });
  });

const memoryFor = ({ format }: Codec, g: Geometry): LinearMemory => {
  const block = blockFormat(format);
  return LinearMemory.empty(block, extentOf(block, g.shape, g.axis));
};

/** Quantizes one tensor in memory, to be compared with what someone else made of it. */
export const quantizedInMemory = (job: Work): Promise<QuantizedSource> =>
  withTensor(job, async (source) => {
    const memory = memoryFor(job.codec, source.geometry);
    const { shape, axis } = await quantizeInto(source, job, inMemory(memory), memory.offsets);
    return {
      name: job.input,
      decoder: job.codec,
      geometry: geometry(shape, axis, 'C'),
      reader: memory,
      place: inMemory(memory),
      offsets: memory.offsets,
      profile: job.codec.profile,
      parameters: job.codec.parameters,
    };
  });
