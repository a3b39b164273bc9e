/**
 * A case folder of a product: codes and scales of both operands, and the ends of what bound:fp32 admits at every output.
 * Clauses: spec/folders.md FOL-21; spec/gemm.md BND-03.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { valuesOf } from '../fast/f32.ts';
import type { Sha256 } from '../files/sha256.ts';
import { unpack } from '../functions/packing.ts';
import { blockOperand } from '../matmul/operand-blocks.ts';
import { ranges } from '../matmul/verdict.ts';
import { fillFamily } from '../random/families.ts';
import { type Codec, codec } from '../tensor/codec.ts';
import { blocksOf } from '../tensor/geometry.ts';
import { type QuantizedTensor, quantizeTensor } from '../tensor/quantize.ts';
import { CHECK_PY } from './check-py.ts';
import { type ArrayForm, encodeArray, FILE_FORMS } from './folder-encoding.ts';
import { FLAG_DIGITS, FLAGS } from './folder-flags.ts';
import type { FolderEncoding, FolderGenerator } from './folder-job.ts';
import { MANIFEST, type Manifest, type ManifestFile, manifestText, SCHEMA, seedValue } from './manifest.ts';
import { MANIFEST_SCHEMA } from './manifest-schema.ts';

/** The name under which a product is exported. */
export const GEMM = 'gemm';
export const GEMM_ENCODINGS = ['raw', 'npy'] as const satisfies readonly FolderEncoding[];

export interface GemmFolderJob {
  readonly format: string;
  readonly profile: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** M, K, N. */
  readonly shape: readonly [m: number, k: number, n: number];
  readonly encoding: (typeof GEMM_ENCODINGS)[number];
  readonly generator: Omit<FolderGenerator, 'boundary'>;
}

/** What a product's outputs are judged by, stated beside the quantizer's parameters. */
const JUDGED_BY = { output: 'f32', accept: 'bound:fp32' } as const;

/** Elements of an operand, and outputs, that a folder holds at most: ends are worked out on exact numbers. */
const MOST_ELEMENTS = 2 ** 24;
const MOST_OUTPUTS = 2 ** 18;

/** @throws Fp4Error E_SHAPE */
export function checkGemmShape([m, k, n]: GemmFolderJob['shape']): void {
  const least = Math.min(m, k, n);
  if (least < 1 || m * n > MOST_OUTPUTS || Math.max(m, n) * k > MOST_ELEMENTS) {
    throw new Fp4Error(
      'E_SHAPE',
      `a product of shape ${m}x${k}x${n}; expected at least 1x1x1, at most ${MOST_OUTPUTS} outputs and ${MOST_ELEMENTS} elements an operand`,
    );
  }
}

/** FOL-21. An operand as the family gives it, quantized along K. */
function drawn(job: GemmFolderJob, c: Codec, operand: number, rows: number): QuantizedTensor {
  const depth = job.shape[1];
  const words = new Uint32Array(rows * depth);
  const { family, seed, range } = job.generator;
  const draw = { family, seed, operand, type: c.input, channels: depth, ...(range && { range }) };
  fillFamily(draw, 0, words);
  const wide = c.input === 'bf16' ? words.map((w) => w << 16) : words;
  const values = Float64Array.from(valuesOf(wide));
  return quantizeTensor(values, [rows, depth], 1, job.format, job.profile, job.parameters).tensor;
}

interface Listed {
  readonly form: ArrayForm;
  readonly role: 'input' | 'expected';
  readonly files: readonly { readonly file: string; readonly words: Uint32Array }[];
}

function scaleWords({ scaleBytes }: Codec, scales: Uint8Array): Uint32Array {
  if (scaleBytes === 1) return Uint32Array.from(scales);
  const view = new DataView(scales.buffer, scales.byteOffset, scales.length);
  return Uint32Array.from({ length: scales.length / 4 }, (_, i) => view.getUint32(4 * i, true));
}

function operandArrays(c: Codec, name: string, tensor: QuantizedTensor, ending: string): Listed[] {
  const [rows, depth] = tensor.shape as [number, number];
  const blocks = blocksOf(depth, c.blockSize);
  const wide = c.scaleBytes === 4;
  const form = { nibbles: 'low-first', count: 1 } as const;
  const codes = {
    ...form,
    name: `${name}_codes`,
    dtype: 'u4x2',
    shape: [rows, blocks * c.blockSize],
    count: c.blockSize,
    digits: 1,
  } as const;
  const scales = {
    ...form,
    name: `${name}_scales`,
    dtype: wide ? 'u32' : 'u8',
    shape: [rows, blocks],
    digits: wide ? 8 : 2,
  } as const;
  const file = (n: string): string => `input_${n}.${ending}`;
  return [
    {
      form: scales,
      role: 'input',
      files: [{ file: file(scales.name), words: scaleWords(c, tensor.scales) }],
    },
    {
      form: codes,
      role: 'input',
      files: [{ file: file(codes.name), words: Uint32Array.from(unpack(tensor.codes)) }],
    },
  ];
}

export interface GemmFolder {
  readonly manifest: Manifest;
  /** The files that the manifest lists, by name. */
  readonly listed: ReadonlyMap<string, Uint8Array>;
  /** The product's array. */
  readonly form: ArrayForm;
  readonly low: Uint32Array;
  readonly high: Uint32Array;
}

/** FOL-21. Everything that follows from a job. @throws Fp4Error E_SHAPE, E_PROFILE, E_PARAMETER, E_NONFINITE */
export function gemmFolderFrom(job: GemmFolderJob, sha256: Sha256, producer: string): GemmFolder {
  checkGemmShape(job.shape);
  const [m, k, n] = job.shape;
  const c = codec(job.format, job.profile, job.parameters);
  const ending = FILE_FORMS[job.encoding];
  const [a, b] = [drawn(job, c, 0, m), drawn(job, c, 1, n)];
  const operands = { a: blockOperand(job.format, a, m, k), b: blockOperand(job.format, b, n, k) };
  const { low, high } = ranges({ ...operands, output: 'f32' }, { kind: 'fp32', name: 'bound:fp32' });
  const form: ArrayForm = {
    name: 'c',
    dtype: 'f32',
    shape: [m, n],
    count: n,
    digits: 8,
    nibbles: 'low-first',
  };
  const expected = [
    { file: `expected_c_low.${ending}`, words: low },
    { file: `expected_c_high.${ending}`, words: high },
  ];
  const arrays: Listed[] = [
    ...operandArrays(c, 'a', a, ending),
    ...operandArrays(c, 'b', b, ending),
    { form, role: 'expected', files: expected },
  ];
  const listed = new Map<string, Uint8Array>();
  for (const array of arrays) {
    for (const { file, words } of array.files) listed.set(file, encodeArray(array.form, words, ending));
  }
  const files = arrays.map((array) => entryOf(array, ending, (file) => sha256(listed.get(file)!)));
  return { manifest: manifestOf(job, c, files, producer), listed, form, low, high };
}

function entryOf(
  { form, role, files }: Listed,
  ending: string,
  hash: (file: string) => string,
): ManifestFile {
  const [first, second] = files;
  return {
    name: form.name,
    role,
    file: first!.file,
    ...(role === 'expected' && { actual: `actual_${form.name}.${ending}` }),
    dtype: form.dtype,
    shape: form.shape,
    count: form.count,
    digits: form.digits,
    byteOrder: 'little',
    layout: 'linear',
    order: form.dtype === 'u4x2' ? 'low-first' : 'row-major',
    sha256: hash(first!.file),
    compare: second ? 'bound' : 'bits',
    ...(second && { high: second.file, highSha256: hash(second.file) }),
  };
}

function manifestOf(
  job: GemmFolderJob,
  c: Codec,
  files: readonly ManifestFile[],
  producer: string,
): Manifest {
  const [m, k] = job.shape;
  const to = blocksOf(k, c.blockSize) * c.blockSize;
  const { family, seed, range } = job.generator;
  return {
    schema: SCHEMA,
    producer,
    function: GEMM,
    format: c.format,
    dtype: c.input,
    profile: c.profile,
    parameters: { ...c.parameters, ...JUDGED_BY },
    cases: m,
    shape: job.shape,
    padding: to > k ? { from: k, to, word: '0' } : null,
    layout: 'linear',
    encoding: job.encoding,
    names: 'plain',
    stages: false,
    nan: 'any',
    generator: { family, seed: seedValue(seed), range: range ?? null, boundary: null },
    files,
    companions: [],
    flags: { names: FLAGS, digits: FLAG_DIGITS, cases: '0'.repeat(FLAG_DIGITS * m) },
  };
}

/** The quantizer's parameters among those of a manifest. @throws Fp4Error E_FOLDER where the others are not as they must be */
export function quantizerParameters(parameters: Readonly<Record<string, string>>): Record<string, string> {
  const rest = { ...parameters };
  for (const [name, value] of Object.entries(JUDGED_BY)) {
    if (rest[name] !== value) {
      throw new Fp4Error(
        'E_FOLDER',
        `${MANIFEST}: parameters.${name} is "${rest[name]}"; expected "${value}"`,
      );
    }
    delete rest[name];
  }
  return rest;
}

/** FOL-01, FOL-21. The files of the folder by name, the manifest last. */
export function buildGemmFolder(
  job: GemmFolderJob,
  sha256: Sha256,
  producer: string,
): { readonly manifest: Manifest; readonly files: ReadonlyMap<string, Uint8Array> } {
  const { manifest, listed } = gemmFolderFrom(job, sha256, producer);
  const text = (content: string): Uint8Array => new TextEncoder().encode(content);
  const files = new Map(listed);
  files.set('check.py', text(CHECK_PY));
  files.set('manifest.schema.json', text(`${JSON.stringify(MANIFEST_SCHEMA, null, 2)}\n`));
  files.set(MANIFEST, text(manifestText(manifest, sha256)));
  return { manifest, files };
}
