/**
 * A product written to a .npy file, some rows of A at a time, by as many threads as are asked for.
 * Clauses: spec/gemm.md GEM-04, GEM-09, GEM-11, GEM-19.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { readValues } from '../fast/input-words.ts';
import type { ElementName } from '../files/element-type.ts';
import { buildNpyHeader } from '../files/npy.ts';
import { type Batch, type BatchedOperand, batchOf } from '../matmul/batch.ts';
import { checkFactors, Gemm, type GemmOptions } from '../matmul/gemm.ts';
import { accumulatorByName } from '../matmul/named-accumulator.ts';
import type { OutputName } from '../matmul/output.ts';
import { writeWhole } from './output-file.ts';
import { type OnProgress, Pace } from './pace.ts';
import { floatTensor, readElements, readNpyHeader, tensorName, withInput } from './tensor-file.ts';
import type { Job } from './worker-job.ts';
import { withWorkers } from './worker-pool.ts';

/** What every thread needs; plain data. */
export interface GemmSetup {
  readonly a: BatchedOperand;
  readonly b: BatchedOperand;
  readonly accumulator: string;
  readonly output: OutputName;
  readonly c?: Float32Array;
  readonly alpha?: number;
  readonly beta?: number;
}

/** Rows of one product of the batch. */
export interface GemmPart {
  readonly index: number;
  readonly first: number;
  readonly last: number;
}

const TYPES: Readonly<Record<OutputName, ElementName>> = { f32: 'F32', bf16: 'U16', f16: 'F16' };
const BYTES: Readonly<Record<OutputName, number>> = { f32: 4, bf16: 2, f16: 2 };

/** Outputs of a part, little-endian bytes row by row. */
export const gemmPart: Job<GemmSetup, GemmPart, Uint8Array<ArrayBuffer>> = (setup) => {
  const batch = batchOf(setup.a, setup.b);
  const accumulate = accumulatorByName(setup.accumulator);
  const size = batch.rows * batch.columns;
  let last: { index: number; gemm: Gemm } | undefined;
  const productAt = (index: number): Gemm => {
    if (last?.index === index) return last.gemm;
    const { a, b } = batch.at(index);
    const options: GemmOptions = {
      output: setup.output,
      ...(accumulate && { accumulate }),
      ...(setup.c && { c: setup.c.subarray(index * size, (index + 1) * size) }),
      ...(setup.alpha !== undefined && { alpha: setup.alpha }),
      ...(setup.beta !== undefined && { beta: setup.beta }),
    };
    last = { index, gemm: new Gemm(a, b, options) };
    return last.gemm;
  };
  return ({ index, first, last: end }) => {
    const words =
      BYTES[setup.output] === 4
        ? new Uint32Array((end - first) * batch.columns)
        : new Uint16Array((end - first) * batch.columns);
    for (const [panel, i0, j0, rows, columns] of productAt(index).panels(first, end)) {
      for (let r = 0; r < rows; r++) {
        words.set(panel.subarray(r * columns, (r + 1) * columns), (i0 - first + r) * batch.columns + j0);
      }
    }
    const value = littleEndian(words);
    return { value, transfer: [value.buffer] };
  };
};

function littleEndian(words: Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(words.buffer);
  if (new Uint8Array(Uint16Array.of(1).buffer)[0] === 1) return bytes;
  const swapped = new Uint8Array(bytes.length);
  const width = words.BYTES_PER_ELEMENT;
  for (let k = 0; k < bytes.length; k++) swapped[k - (k % width) + width - 1 - (k % width)] = bytes[k]!;
  return swapped;
}

/** Bytes of outputs of a part: enough that a thread works for a while, and little memory. */
const PART_BYTES = 2 ** 21;
const ROW_STEP = 128;

function* parts(batch: Batch, bytes: number): Generator<{ value: GemmPart }> {
  const fit = Math.floor(PART_BYTES / Math.max(1, batch.columns * bytes));
  const step = Math.max(ROW_STEP, fit - (fit % ROW_STEP));
  for (let index = 0; index < batch.count; index++) {
    for (let first = 0; first < batch.rows; first += step) {
      yield { value: { index, first, last: Math.min(first + step, batch.rows) } };
    }
  }
}

export interface GemmJob extends GemmSetup {
  readonly target: string;
  readonly threads: number;
  readonly onProgress?: OnProgress;
}

/**
 * GEM-19. Writes a product; the file appears only when all went well.
 * @returns its shape
 * @throws Fp4Error for operands that do not fit
 */
export async function gemmFile(job: GemmJob): Promise<readonly number[]> {
  const { target, threads, onProgress, ...setup } = job;
  const batch = batchOf(job.a, job.b);
  const accumulate = accumulatorByName(job.accumulator);
  checkFactors({ ...setup, ...(accumulate && { accumulate }) } as GemmOptions);
  const size = batch.count * batch.rows * batch.columns;
  if (job.c !== undefined && job.c.length !== size) {
    throw new Fp4Error(
      'E_SHAPE',
      `C has ${job.c.length} elements; the product has [${batch.shape.join(', ')}]`,
    );
  }
  await writeWhole(target, async (output) => {
    const header = buildNpyHeader(TYPES[job.output], batch.shape);
    output.write(header, 0);
    const pace = new Pace(size * BYTES[job.output], onProgress);
    let at = header.length;
    const all = [...parts(batch, BYTES[job.output])];
    await withWorkers(Math.min(threads, all.length), async (pool) => {
      for await (const bytes of pool.run('gemm', setup, all)) {
        output.write(bytes, at);
        at += bytes.length;
        await pace.step(bytes.length);
      }
    });
  });
  return batch.shape;
}

const OUTPUT_OF: Readonly<Record<string, OutputName>> = { F32: 'f32', U16: 'bf16', BF16: 'bf16', F16: 'f16' };

/** GEM-13. The words of a result that someone else computed, and their type. @throws Fp4Error E_SHAPE, E_DTYPE */
export function readResult(
  argument: string,
  shape: readonly number[],
): Promise<{ words: Uint32Array; output: OutputName }> {
  const name = tensorName(argument);
  return withInput(name.path, (file) => {
    const u16 = name.kind === 'npy' && readNpyHeader(file).type === 'U16';
    const tensor = floatTensor(file, name, u16);
    const output = OUTPUT_OF[tensor.type];
    if (output === undefined) {
      throw new Fp4Error(
        'E_DTYPE',
        `${argument}: a result is f4, u2 (BF16 words) or f2, found ${tensor.type}`,
      );
    }
    checkShape(argument, tensor.shape, shape, tensor.order);
    const count = shape.reduce((a, b) => a * b, 1);
    const bytes = readElements(file, tensor, 0, count);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const words = Uint32Array.from({ length: count }, (_, k) =>
      output === 'f32'
        ? view.getUint32(4 * k, tensor.littleEndian)
        : view.getUint16(2 * k, tensor.littleEndian),
    );
    return { words, output };
  });
}

function checkShape(
  argument: string,
  found: readonly number[],
  expected: readonly number[],
  order: 'C' | 'F',
): void {
  if (found.length !== expected.length || found.some((n, d) => n !== expected[d])) {
    const shapes = `shape [${found.join(', ')}]; the product has [${expected.join(', ')}]`;
    throw new Fp4Error('E_SHAPE', `${argument}: ${shapes}`);
  }
  if (order === 'F' && found.filter((n) => n > 1).length > 1) {
    throw new Fp4Error('E_DTYPE', `${argument}: Fortran order; expected C order`);
  }
}

/** GEM-11. The elements of C, which FP32 holds exactly. @throws Fp4Error E_SHAPE, E_DTYPE */
export function readAddend(argument: string, shape: readonly number[]): Promise<Float32Array> {
  const name = tensorName(argument);
  return withInput(name.path, (file) => {
    const u16 = name.kind === 'npy' && readNpyHeader(file).type === 'U16';
    const tensor = floatTensor(file, name, u16);
    if (tensor.type === 'F64') {
      throw new Fp4Error('E_DTYPE', `${argument}: C is f4, u2 (BF16 words) or f2, found F64`);
    }
    checkShape(argument, tensor.shape, shape, tensor.order);
    const values = new Float64Array(shape.reduce((a, b) => a * b, 1));
    readValues(readElements(file, tensor, 0, values.length), tensor.type, tensor.littleEndian, values);
    return Float32Array.from(values);
  });
}
