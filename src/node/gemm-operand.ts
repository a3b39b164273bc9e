/**
 * Operands of a product from files: quantized data of any layout, tensors to be quantized along K, or tensors taken as they are.
 * Clauses: spec/gemm.md GEM-01 to GEM-04, GEM-18.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import type { BatchedOperand } from '../matmul/batch.ts';
import { blockOperand } from '../matmul/operand-blocks.ts';
import { isPlainFormat, PLAIN_FORMATS, plainOperand } from '../matmul/operand-plain.ts';
import { codec, FORMATS } from '../tensor/codec.ts';
import { blocksOf, forEachRow, geometry, tileDepth, tiles } from '../tensor/geometry.ts';
import { TILE_ELEMENTS } from '../tensor/quantize.ts';
import { quantizedInMemory } from './quantize-file.ts';
import { tileValues } from './quantize-job.ts';
import { type ForeignPair, type QuantizedSource, withQuantized } from './quantized-source.ts';
import { floatTensor, readNpyHeader, type TensorName, tensorName, withInput } from './tensor-file.ts';

/** One operand as a command names it. */
export interface OperandJob {
  /** How messages name it: A or B. */
  readonly label: string;
  readonly input: string | ForeignPair;
  /** Of a tensor: what it becomes. Of quantized data: what it must be, if given. */
  readonly format?: string;
  readonly profile?: string;
  readonly overrides: Readonly<Record<string, string>>;
  /** Whether u2 words of .npy files are BF16. */
  readonly bf16: boolean;
  /** K is the last dimension but one, in place of the last. */
  readonly depthFirst: boolean;
}

const OPERAND_FORMATS = [...FORMATS, ...PLAIN_FORMATS];

/** GEM-03. The axis of K, and the shape it is in. @throws Fp4Error E_SHAPE */
function depthAxis(job: OperandJob, shape: readonly number[], name: string): number {
  if (shape.length < 2) {
    throw new Fp4Error(
      'E_SHAPE',
      `${name}: ${job.label} has shape [${shape.join(', ')}]; expected rows and K`,
    );
  }
  return shape.length - (job.depthFirst ? 2 : 1);
}

function fromSource(
  job: OperandJob,
  { name, decoder: d, geometry: g, reader, offsets }: QuantizedSource,
): BatchedOperand {
  if (job.format !== undefined && job.format !== d.format) {
    throw new Fp4Error('E_USAGE', `${name}: ${job.label} is ${d.format}, not ${job.format}`);
  }
  const axis = depthAxis(job, g.shape, name);
  if (g.axis !== axis) {
    const order = job.label === 'B' ? '--b-order' : '--a-order';
    const shape = `shape [${g.shape.join(', ')}]`;
    throw new Fp4Error(
      'E_SHAPE',
      `${name}: blocks run along axis ${g.axis} of ${shape}, K along axis ${axis} (${order})`,
    );
  }
  const rows = g.outer.reduce((a, b) => a * b, 1);
  const blocks = rows * blocksOf(g.k, d.blockSize);
  const codes = new Uint8Array((blocks * d.blockSize) / 2);
  const scales = new Uint8Array(blocks * d.scaleBytes);
  reader.readInto(codes, offsets.codes);
  reader.readInto(scales, offsets.scales);
  return { operand: blockOperand(d.format, { codes, scales }, rows, g.k), leading: g.outer.slice(0, -1) };
}

/** GEM-02. A tensor that is not quantized, its rows gathered along K. */
async function plainFrom(
  job: OperandJob,
  name: TensorName,
  format: string,
  bf16: boolean,
): Promise<BatchedOperand> {
  return withInput(name.path, (file) => {
    const tensor = floatTensor(file, name, bf16);
    const axis = depthAxis(job, tensor.shape, name.path);
    const g = geometry(tensor.shape, axis, tensor.order);
    const rows = g.outer.reduce((a, b) => a * b, 1);
    const values = new Float64Array(rows * g.k);
    for (const tile of tiles(g, 1, TILE_ELEMENTS)) {
      const piece = tileValues(file, tensor, g, tile);
      const width = tile.fast[1] - tile.fast[0];
      forEachRow(g, tile, (_index, first, row) => {
        const to = row * g.k + tile.k[0];
        for (let k = 0; k < tileDepth(tile); k++) values[to + k] = piece[first + k * width]!;
      });
    }
    return { operand: plainOperand(format, values, rows, g.k), leading: g.outer.slice(0, -1) };
  });
}

const isU16 = (name: TensorName): Promise<boolean> =>
  withInput(name.path, (file) => name.kind === 'npy' && readNpyHeader(file).type === 'U16');

const shapeOf = (name: TensorName, bf16: boolean): Promise<readonly number[]> =>
  withInput(name.path, (file) => floatTensor(file, name, bf16).shape);

/**
 * GEM-18. An operand, in memory.
 * @throws Fp4Error for every kind of bad input
 */
export async function readOperand(job: OperandJob): Promise<BatchedOperand> {
  const { input, format, profile, overrides, label } = job;
  const policy = profile !== undefined || Object.keys(overrides).length > 0;
  const name = typeof input === 'string' ? tensorName(input) : undefined;
  if (name === undefined || (name.kind === 'safetensors' && name.tensor === undefined)) {
    return withQuantized(input, (source) => fromSource(job, source));
  }
  if (format === undefined) {
    throw new Fp4Error(
      'E_USAGE',
      `${label} is a tensor; name its format with --format or --${label.toLowerCase()}-format`,
    );
  }
  if (!(OPERAND_FORMATS as readonly string[]).includes(format)) {
    throw new Fp4Error('E_USAGE', `unknown format "${format}"; ${knownNames(format, OPERAND_FORMATS)}`);
  }
  const bf16 = job.bf16 && (await isU16(name));
  if (isPlainFormat(format)) {
    if (policy)
      throw new Fp4Error('E_USAGE', `${label} is ${format}, which is not quantized; it takes no profile`);
    return plainFrom(job, name, format, bf16);
  }
  const axis = depthAxis(job, await shapeOf(name, bf16), name.path);
  const c = codec(format, profile, overrides);
  return fromSource(job, await quantizedInMemory({ input: input as string, codec: c, axis, bf16 }));
}
