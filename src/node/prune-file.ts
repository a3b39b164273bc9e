/**
 * Pruning a tensor file: a quantized .safetensors file, or a tensor of floats; in memory whole.
 * Clauses: spec/sparsity.md SPA-16.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { readValues } from '../fast/input-words.ts';
import { ELEMENT_BYTES, type ElementName } from '../files/element-type.ts';
import { buildNpyHeader } from '../files/npy.ts';
import { buildSafetensorsHeader, type NewTensor } from '../files/safetensors.ts';
import { type Compressed, compress } from '../sparsity/compress.ts';
import { metadataWords, type WordForm } from '../sparsity/metadata-words.ts';
import { BLOCK_DEPTH, BLOCK_ROWS, isGroupPattern } from '../sparsity/pattern.ts';
import {
  forEachElement,
  type PruneOptions,
  type PruneReport,
  type Pruning,
  pruneQuantized,
  pruneReport,
  pruneValues,
} from '../sparsity/prune.ts';
import { type Convention, conventionOf, type Overfull } from '../sparsity/slots.ts';
import { blocksOf, geometry, normalizedAxis } from '../tensor/geometry.ts';
import { isLinear, isQuantized, parseQuantizedHeader } from '../tensor/quantized-header.ts';
import { VERSION } from '../version.ts';
import type { InputFile } from './input-file.ts';
import { writeWhole } from './output-file.ts';
import {
  floatTensor,
  readElements,
  readSafetensorsHeader,
  type TensorName,
  tensorName,
  withInput,
} from './tensor-file.ts';

export interface PruneJob extends PruneOptions {
  /** A quantized file, X.npy or FILE.safetensors:NAME. */
  readonly input: string;
  readonly output: string;
  readonly bf16: boolean;
  readonly convention: Convention;
  readonly words: WordForm;
  /** What becomes of a group with too many nonzeros: pruned by rank, or what SPA-11 says. */
  readonly overfull: 'rank' | Overfull;
}

export interface PruneResult {
  readonly shape: readonly number[];
  /** Along which it was pruned; not negative. */
  readonly axis: number;
  readonly report: PruneReport;
}

/** What is pruned, before it is written. */
interface Pruned {
  readonly pruning: Pruning;
  readonly tensors: readonly (NewTensor & { readonly bytes: Uint8Array })[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** The bytes of words, little-endian. */
function littleEndian(words: Uint8Array | Uint16Array | Uint32Array): Uint8Array {
  const size = words.BYTES_PER_ELEMENT;
  return Uint8Array.from(
    { length: size * words.length },
    (_, j) => words[Math.floor(j / size)]! >>> (8 * (j % size)),
  );
}

const WORD_TYPES = { 1: 'U8', 2: 'U16', 4: 'U32' } as const satisfies Record<number, ElementName>;

/** SPA-16. The array `metadata`: words of nibbles, or a flag a channel or block. */
function metadataArray({ geometry: g, mask, nonzero }: Pruning, job: PruneJob) {
  if (isGroupPattern(job.pattern)) {
    const { pattern, convention, ties = 'lowest-index' } = job;
    const { nibbles, groups, empty } = compress(nonzero, mask.rows, mask.depth, {
      pattern,
      convention,
      ties,
    });
    const { words, columns } = metadataWords(nibbles, mask.rows, groups, job.words, empty);
    const type = WORD_TYPES[words.BYTES_PER_ELEMENT as 1 | 2 | 4];
    return { name: 'metadata', type, shape: [...g.outer, columns], bytes: littleEndian(words) };
  }
  const [tall, wide] = job.pattern === 'channel' ? [mask.rows, 1] : [BLOCK_ROWS, BLOCK_DEPTH];
  const down = job.pattern === 'channel' ? 1 : Math.ceil(mask.rows / tall);
  const across = Math.ceil(mask.depth / wide);
  const bytes = Uint8Array.from(
    { length: down * across },
    (_, j) => mask.kept[Math.floor(j / across) * tall * mask.depth + (j % across) * wide] ?? 0,
  );
  return {
    name: 'metadata',
    type: 'U8' as const,
    shape: job.pattern === 'channel' ? [across] : [down, across],
    bytes,
  };
}

const sparsityStrings = (job: PruneJob, axis: number): Record<string, string> => ({
  'fp4.sparsity': job.pattern,
  'fp4.sparsity-axis': String(axis),
  'fp4.sparsity-ties': typeof job.ties === 'string' ? job.ties : JSON.stringify(job.ties ?? 'lowest-index'),
  ...(isGroupPattern(job.pattern)
    ? {
        'fp4.sparsity-convention': job.convention,
        'fp4.sparsity-words': job.words,
        'fp4.sparsity-overfull': job.overfull,
      }
    : { 'fp4.sparsity-odd': job.odd ?? 'ceil' }),
});

/**
 * SPA-11. What a convention keeps of a tensor as it stands, in place of a ranking: the elements that a slot names.
 * @param ranked the same tensor, of which only the geometry and the nonzeros before pruning count
 */
function asItStands(ranked: Pruning, before: Uint8Array, job: PruneJob): Pruning {
  if (job.overfull === 'rank' || !isGroupPattern(job.pattern)) return ranked;
  const { pattern, convention, overfull, ties = 'lowest-index' } = job;
  const { rows, depth } = ranked.mask;
  const packed: Compressed = compress(before, rows, depth, { pattern, convention, overfull, ties });
  const kept = new Uint8Array(before.length);
  for (const source of packed.sources) if (source >= 0) kept[source] = 1;
  const nonzero = before.map((flag, at) => flag & kept[at]!);
  const lost = before.reduce((sum, flag, at) => sum + (flag & ~kept[at]! & 1), 0);
  return { ...ranked, mask: { ...ranked.mask, kept, tied: 0 }, nonzero, lost };
}

/** Elements that are not zero, in rows along the axis. */
function nonzeroRows({ geometry: g, mask }: Pruning, isZero: (index: number) => boolean): Uint8Array {
  const flags = new Uint8Array(mask.kept.length);
  forEachElement(g, (index, row, position) => {
    flags[row * g.k + position] = Number(!isZero(index));
  });
  return flags;
}

/** A quantized file, its scales as they are. */
function quantized(file: InputFile, job: PruneJob): Pruned {
  const parsed = parseQuantizedHeader(readSafetensorsHeader(file), file.path);
  if (!isLinear(parsed.form)) {
    throw new Fp4Error(
      'E_USAGE',
      `${file.path}: layout ${parsed.form.layout.name}; only linear files are pruned`,
    );
  }
  const { decoder: d, geometry: g, offsets, metadata } = parsed;
  const blocks = blocksOf(g.k, d.blockSize);
  const rows = g.slow * g.fast;
  const codes = file.read(offsets['codes']!, (rows * blocks * d.blockSize) / 2);
  const scales = file.read(offsets['scales']!, rows * blocks * d.scaleBytes);
  const ranked = pruneQuantized({ format: d.format, shape: g.shape, axis: g.axis, codes, scales }, job);
  let out = ranked.codes;
  let pruning: Pruning = ranked;
  if (job.overfull !== 'rank' && isGroupPattern(job.pattern)) {
    const at = new Uint32Array(rows * g.k); // of each element in C order, its code
    forEachElement(g, (index, row, position) => {
      at[index] = row * blocks * d.blockSize + position;
    });
    const codeOf = (index: number): number => (codes[at[index]! >> 1]! >> (4 * (at[index]! & 1))) & 15;
    pruning = asItStands(
      ranked,
      nonzeroRows(ranked, (index) => (codeOf(index) & 7) === 0),
      job,
    );
    out = new Uint8Array(codes.length);
    forEachElement(pruning.geometry, (index, row, position) => {
      if (pruning.mask.kept[row * pruning.geometry.k + position] === 0) return;
      out[at[index]! >> 1]! |= codeOf(index) << (4 * (at[index]! & 1));
    });
  }
  const packed = [...g.outer, (blocks * d.blockSize) / 2];
  return {
    pruning,
    tensors: [
      { name: 'codes', type: 'U8', shape: packed, bytes: out },
      { name: 'scales', type: d.scaleType, shape: [...g.outer, blocks], bytes: scales },
    ],
    metadata: Object.fromEntries(
      [...metadata].filter(([key]) => key.startsWith('fp4.') && !key.startsWith('fp4.sparsity')),
    ),
  };
}

/** Floats in C order, little-endian, bit for bit. */
function plain(file: InputFile, name: TensorName, job: PruneJob): Pruned {
  const tensor = floatTensor(file, name, job.bf16);
  const size = ELEMENT_BYTES[tensor.type];
  const { shape } = tensor;
  const count = shape.reduce((a, b) => a * b, 1);
  const axis = normalizedAxis(shape, job.axis ?? -1, job.input);
  const stored = readElements(file, tensor, 0, count);
  const bytes = new Uint8Array(stored.length);
  // Seen from its last axis, an array in Fortran order is [1, K, rest]; rows are in C order whatever the order in memory.
  const last = geometry(shape, shape.length - 1, tensor.order);
  forEachElement(last, (index, _, position) => {
    const slow = Math.floor(index / (last.k * last.fast));
    const at = (last.rowOf(slow, index % last.fast) * last.k + position) * size;
    for (let b = 0; b < size; b++)
      bytes[at + b] = stored[index * size + (tensor.littleEndian ? b : size - 1 - b)]!;
  });
  const values = new Float64Array(count);
  readValues(bytes, tensor.type, true, values);
  const ranked = pruneValues(values, shape, { ...job, axis });
  const pruning = asItStands(
    ranked,
    nonzeroRows(ranked, (index) => values[index] === 0),
    job,
  );
  const { geometry: g, mask } = pruning;
  forEachElement(g, (index, row, position) => {
    if (mask.kept[row * g.k + position] === 0) bytes.fill(0, index * size, (index + 1) * size);
  });
  return {
    pruning,
    tensors: [{ name: 'pruned', type: tensor.type, shape, bytes }],
    metadata: { 'fp4.version': VERSION },
  };
}

/** SPA-16. The whole output file: one .npy array without metadata, or a .safetensors file with it. */
function outputBytes(pruned: Pruned, job: PruneJob): readonly Uint8Array[] {
  const [first] = pruned.tensors;
  if (job.output.endsWith('.npy')) {
    const type = first!.type === 'BF16' ? 'U16' : first!.type;
    return [buildNpyHeader(type, first!.shape), first!.bytes];
  }
  const tensors = [...pruned.tensors, metadataArray(pruned.pruning, job)];
  const { header } = buildSafetensorsHeader(tensors, {
    ...pruned.metadata,
    ...sparsityStrings(job, pruned.pruning.geometry.axis),
  });
  return [header, ...tensors.map(({ bytes }) => bytes)];
}

const openQuantized = (file: InputFile, { kind, tensor }: TensorName): boolean =>
  kind === 'safetensors' && tensor === undefined && isQuantized(readSafetensorsHeader(file));

/**
 * SPA-16. Prunes one tensor. The output appears only when all went well.
 * @throws Fp4Error for every kind of bad input
 */
export const pruneFile = (job: PruneJob): Promise<PruneResult> => {
  const name = tensorName(job.input);
  if (isGroupPattern(job.pattern)) conventionOf(job.convention, job.pattern);
  return withInput(name.path, async (file) => {
    const isPacked = openQuantized(file, name);
    if (isPacked && job.output.endsWith('.npy')) {
      throw new Fp4Error(
        'E_USAGE',
        `-o ${job.output}: a quantized tensor stays one; expected a name ending in .safetensors`,
      );
    }
    const pruned = isPacked ? quantized(file, job) : plain(file, name, job);
    const parts = outputBytes(pruned, job);
    await writeWhole(job.output, async (output) => {
      let offset = 0;
      for (const part of parts) {
        output.write(part, offset);
        offset += part.length;
      }
    });
    const { geometry: g } = pruned.pruning;
    return { shape: g.shape, axis: g.axis, report: pruneReport(pruned.pruning) };
  });
};
