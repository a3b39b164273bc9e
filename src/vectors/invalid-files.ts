/**
 * Inputs that must be refused: what is answered before, the exit code and the error's code. Each error is stated here by hand and
 * confirmed by the code that reads such input.
 * Clauses: spec/vectors.md VEC-09, spec/stream.md STR-03, spec/tensors.md TEN-03, TEN-08.
 * @module
 */
import { Fp4Error, type Fp4ErrorCode } from '../error.ts';
import { npyHeaderBytes, parseNpyHeader } from '../files/npy.ts';
import { parseSafetensorsHeader, safetensorsHeaderBytes } from '../files/safetensors.ts';
import type { AnyPolicy } from '../functions/oracle-function.ts';
import { functionByName, policyOf } from '../functions/registry.ts';
import { codec } from '../tensor/codec.ts';
import { normalizedAxis } from '../tensor/geometry.ts';
import { parseQuantizedHeader } from '../tensor/quantized-header.ts';
import type { PackContext } from './block-cases.ts';
import { hexOf, npyBytes, safetensorsBytes } from './file-bytes.ts';
import { idOf } from './hash.ts';
import { answerLines, answerRecords } from './session-lines.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

/** Exit code of bad input (STR-07). */
const REFUSED = 2;

interface Refusal {
  readonly comment: string;
  readonly clauses: readonly string[];
  readonly error: Fp4ErrorCode;
}

interface StreamRefusal extends Refusal {
  readonly function: string;
  readonly set?: AnyPolicy;
  /** Lines, or the bytes of records in hex. */
  readonly input: readonly string[] | string;
}

const ones = (count: number): string => Array.from({ length: count }, () => '3f800000').join(' ');
const bf16Ones = (count: number): string => Array.from({ length: count }, () => '3f80').join(' ');
const zeros = (count: number): string => '0'.repeat(count);

const STREAM: readonly StreamRefusal[] = [
  {
    comment: 'a word too few; the line before is answered',
    clauses: ['STR-01', 'STR-03'],
    error: 'E_WORD_COUNT',
    function: 'mxfp4_quantize_f32',
    input: [ones(32), ones(31)],
  },
  {
    comment: 'a word too many',
    clauses: ['STR-03'],
    error: 'E_WORD_COUNT',
    function: 'mxfp4_quantize_f32',
    input: [ones(33)],
  },
  {
    comment: 'two spaces between words',
    clauses: ['STR-01', 'STR-03'],
    error: 'E_WORD_WIDTH',
    function: 'f32_to_e2m1',
    input: ['3f800000', '# counted', '', ' 3f800000'],
  },
  {
    comment: 'a space at the end',
    clauses: ['STR-01', 'STR-03'],
    error: 'E_WORD_COUNT',
    function: 'f32_to_e2m1',
    input: ['3f800000 '],
  },
  {
    comment: 'a word of three digits where BF16 has four',
    clauses: ['STR-03'],
    error: 'E_WORD_WIDTH',
    function: 'bf16_to_e4m3',
    input: ['3f80', '3f8'],
  },
  {
    comment: 'a letter that is no hex digit',
    clauses: ['STR-03', 'CON-01'],
    error: 'E_WORD_DIGIT',
    function: 'bf16_to_e4m3',
    input: ['3g80'],
  },
  {
    comment: 'a prefix before the digits',
    clauses: ['STR-03'],
    error: 'E_WORD_DIGIT',
    function: 'bf16_to_e4m3',
    input: ['0x3f80'],
  },
  {
    comment: 'a code string that is too short',
    clauses: ['STR-01', 'STR-03'],
    error: 'E_WORD_WIDTH',
    function: 'mxfp4_dequantize',
    input: [`7f ${zeros(32)}`, `7f ${zeros(31)}`],
  },
  {
    comment: 'codes separated by spaces',
    clauses: ['STR-01', 'STR-03'],
    error: 'E_WORD_WIDTH',
    function: 'mxfp4_dequantize',
    input: [`7f ${'0 '.repeat(31)}0`],
  },
  {
    comment: 'a scale word of two digits for HiF4',
    clauses: ['STR-03', 'HIF4-02'],
    error: 'E_WORD_WIDTH',
    function: 'hif4_dequantize',
    input: [`c0 ${zeros(64)}`],
  },
  {
    comment: 'a raw record that is cut short, after a whole one',
    clauses: ['STR-04'],
    error: 'E_RECORD',
    function: 'mxfp4_dequantize',
    input: `7f${'21'.repeat(16)}7f${'21'.repeat(15)}`,
  },
  {
    comment: 'a raw code above f',
    clauses: ['STR-04'],
    error: 'E_RECORD',
    function: 'e2m1_to_f32',
    input: '0710',
  },
  {
    comment: 'a NaN under nonfinite=error',
    clauses: ['CON-05', 'STR-06'],
    error: 'E_NONFINITE',
    function: 'hif4_quantize',
    set: { nonfinite: 'error' },
    input: [bf16Ones(64), `7fc0 ${bf16Ones(63)}`],
  },
  {
    comment: 'an infinity under nonfinite=error',
    clauses: ['CON-05', 'STR-06'],
    error: 'E_NONFINITE',
    function: 'mxfp4_quantize',
    set: { nonfinite: 'error' },
    input: [`${bf16Ones(31)} ff80`],
  },
  {
    comment: 'a finite FP32 that BF16 makes infinite, under nonfinite=error',
    clauses: ['CON-04', 'CON-05', 'STR-06'],
    error: 'E_NONFINITE',
    function: 'hif4_quantize_f32',
    set: { nonfinite: 'error' },
    input: [`7f7fffff ${ones(63)}`],
  },
  {
    comment: 'a NaN under nonfinite=top-scale',
    clauses: ['CON-05', 'STR-06'],
    error: 'E_NONFINITE',
    function: 'mxfp4_quantize_f32',
    set: { nonfinite: 'top-scale' },
    input: [`7fc00000 ${ones(31)}`],
  },
];

interface ArgumentRefusal extends Refusal {
  readonly function: string;
  readonly profile?: string;
  readonly set?: AnyPolicy;
}

const ARGUMENTS: readonly ArgumentRefusal[] = [
  { comment: 'no such function', clauses: ['STR-02'], error: 'E_USAGE', function: 'hif4_quantise' },
  {
    comment: 'no such profile',
    clauses: ['CON-02'],
    error: 'E_PROFILE',
    function: 'mxfp4_quantize',
    profile: 'torchao',
  },
  {
    comment: 'a profile of the other format',
    clauses: ['CON-02', 'PRO-01', 'PRO-02'],
    error: 'E_PROFILE',
    function: 'hif4_quantize',
    profile: 'ocp',
  },
  {
    comment: 'no such parameter',
    clauses: ['CON-02', 'MX-20'],
    error: 'E_PARAMETER',
    function: 'mxfp4_quantize',
    set: { rounding: 'even' },
  },
  {
    comment: 'no such value',
    clauses: ['CON-02', 'HIF4-20'],
    error: 'E_PARAMETER',
    function: 'hif4_quantize',
    set: { scale: 'floor' },
  },
  {
    comment: 'a value of the other format',
    clauses: ['CON-02', 'MX-20'],
    error: 'E_PARAMETER',
    function: 'mxfp4_quantize',
    set: { ties: 'away-bf16' },
  },
];

interface FileRefusal extends Refusal {
  readonly format: 'npy' | 'safetensors' | 'quantized';
  readonly bytes: Uint8Array;
}

const quantizedHeader = (shape: string, scales: readonly number[]): object => ({
  __metadata__: { 'fp4.format': 'mxfp4', 'fp4.shape': shape, 'fp4.axis': '0' },
  codes: { dtype: 'U8', shape: [16], data_offsets: [0, 16] },
  scales: { dtype: 'U8', shape: scales, data_offsets: [16, 17] },
});

const FILES: readonly FileRefusal[] = [
  { comment: 'an empty file', clauses: ['TEN-03'], error: 'E_NPY', format: 'npy', bytes: new Uint8Array(0) },
  {
    comment: 'a wrong magic',
    clauses: ['TEN-03'],
    error: 'E_NPY',
    format: 'npy',
    bytes: npyBytes('<f4', false, '(1,)', new Uint8Array(4)).fill(0, 0, 1),
  },
  {
    comment: 'data shorter than the shape asks for',
    clauses: ['TEN-03'],
    error: 'E_NPY',
    format: 'npy',
    bytes: npyBytes('<f4', false, '(2,)', new Uint8Array(4)),
  },
  {
    comment: 'data longer than the shape asks for',
    clauses: ['TEN-03'],
    error: 'E_NPY',
    format: 'npy',
    bytes: npyBytes('<f4', false, '(1,)', new Uint8Array(8)),
  },
  {
    comment: 'a negative dimension',
    clauses: ['TEN-03'],
    error: 'E_NPY',
    format: 'npy',
    bytes: npyBytes('<f4', false, '(-1,)', new Uint8Array(4)),
  },
  {
    comment: 'an element type that is not read',
    clauses: ['TEN-01', 'TEN-03'],
    error: 'E_DTYPE',
    format: 'npy',
    bytes: npyBytes('<c8', false, '(1,)', new Uint8Array(8)),
  },
  {
    comment: 'an empty file',
    clauses: ['TEN-03'],
    error: 'E_SAFETENSORS',
    format: 'safetensors',
    bytes: new Uint8Array(0),
  },
  {
    comment: 'a header that is no JSON',
    clauses: ['TEN-03'],
    error: 'E_SAFETENSORS',
    format: 'safetensors',
    bytes: safetensorsBytes('{"x":', new Uint8Array(0)),
  },
  {
    comment: 'a name given twice',
    clauses: ['TEN-03'],
    error: 'E_SAFETENSORS',
    format: 'safetensors',
    bytes: safetensorsBytes(
      '{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
      new Uint8Array(1),
    ),
  },
  {
    comment: 'offsets beyond the file',
    clauses: ['TEN-02', 'TEN-03'],
    error: 'E_SAFETENSORS',
    format: 'safetensors',
    bytes: safetensorsBytes('{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}', new Uint8Array(1)),
  },
  {
    comment: 'bytes that no tensor owns',
    clauses: ['TEN-03'],
    error: 'E_SAFETENSORS',
    format: 'safetensors',
    bytes: safetensorsBytes('{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', new Uint8Array(2)),
  },
  {
    comment: 'scales that do not belong to fp4.shape',
    clauses: ['TEN-07', 'TEN-08'],
    error: 'E_TENSOR',
    format: 'quantized',
    bytes: safetensorsBytes(JSON.stringify(quantizedHeader('[33]', [1])), new Uint8Array(17)),
  },
  {
    comment: 'an fp4.shape that is no array of sizes',
    clauses: ['TEN-08'],
    error: 'E_TENSOR',
    format: 'quantized',
    bytes: safetensorsBytes(JSON.stringify(quantizedHeader('[32.5]', [1])), new Uint8Array(17)),
  },
];

/** The code of the error that something throws; undefined where it throws none. */
function errorOf(attempt: () => unknown): Fp4ErrorCode | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (error instanceof Fp4Error) return error.code;
    throw error;
  }
}

function confirm({ comment, error }: Refusal, found: Fp4ErrorCode | undefined): void {
  if (found !== error) throw new Error(`invalid input "${comment}": ${found}, not ${error}`);
}

function streamTest(context: PackContext, refusal: StreamRefusal) {
  const f = functionByName(refusal.function);
  const set = refusal.set ?? {};
  const policy = policyOf(f, undefined, set);
  const raw = typeof refusal.input === 'string';
  const { answered, error, at } = raw
    ? answerRecords(f, policy, refusal.input as string)
    : answerLines(f, policy, refusal.input as readonly string[]);
  confirm(refusal, error);
  return {
    id: idOf(context.sha256, refusal.function, JSON.stringify(set), JSON.stringify(refusal.input)),
    comment: refusal.comment,
    clauses: refusal.clauses,
    function: refusal.function,
    set,
    encoding: raw ? 'raw' : 'text',
    input: refusal.input,
    result: 'invalid',
    answered,
    at,
    error: refusal.error,
    exit: REFUSED,
  };
}

function argumentTest(context: PackContext, refusal: ArgumentRefusal) {
  const { comment, clauses, error, profile, set } = refusal;
  const attempt = (): AnyPolicy => policyOf(functionByName(refusal.function), profile, set);
  confirm(refusal, errorOf(attempt));
  const given = { function: refusal.function, ...(profile === undefined ? {} : { profile }), set: set ?? {} };
  const id = idOf(context.sha256, JSON.stringify(given));
  return { id, comment, clauses, ...given, result: 'invalid', error, exit: REFUSED };
}

const READERS: Record<FileRefusal['format'], (bytes: Uint8Array) => unknown> = {
  npy: (bytes) => {
    const length = npyHeaderBytes(bytes.subarray(0, 12), bytes.length, 'input');
    return parseNpyHeader(bytes.subarray(0, length), bytes.length, 'input');
  },
  safetensors: readSafetensors,
  quantized: (bytes) => parseQuantizedHeader(readSafetensors(bytes), 'input'),
};

function readSafetensors(bytes: Uint8Array) {
  const length = safetensorsHeaderBytes(bytes.subarray(0, 8), bytes.length, 'input');
  return parseSafetensorsHeader(bytes.subarray(0, length), bytes.length, 'input');
}

function fileTest(context: PackContext, refusal: FileRefusal) {
  const { comment, clauses, error, format, bytes } = refusal;
  confirm(
    refusal,
    errorOf(() => READERS[format](bytes)),
  );
  const id = idOf(context.sha256, format, hexOf(bytes));
  return { id, comment, clauses, format, bytes: hexOf(bytes), result: 'invalid', error, exit: REFUSED };
}

const TENSORS: readonly (Refusal & { readonly shape: readonly number[]; readonly axis: number })[] = [
  { comment: 'a 0-d tensor', clauses: ['TEN-05'], error: 'E_SHAPE', shape: [], axis: -1 },
  { comment: 'an axis that does not exist', clauses: ['TEN-05'], error: 'E_SHAPE', shape: [2, 3], axis: 2 },
];

/** Everything that is refused. Nothing is written where a file was to be (TEN-10). */
export function invalidFile(context: PackContext) {
  const shapes = TENSORS.map((refusal) => {
    const { comment, clauses, error, shape, axis } = refusal;
    confirm(
      refusal,
      errorOf(() => [codec('mxfp4'), normalizedAxis(shape, axis, 'input')]),
    );
    const id = idOf(context.sha256, JSON.stringify({ shape, axis }));
    return { id, comment, clauses, shape, axis, result: 'invalid', error, exit: REFUSED };
  });
  return {
    schema: SCHEMA,
    kind: 'invalid' as const,
    generator: context.generator,
    groups: [
      { subject: 'stream', clauses: ['STR-03', 'STR-07'], tests: STREAM.map((r) => streamTest(context, r)) },
      { subject: 'arguments', clauses: ['STR-07'], tests: ARGUMENTS.map((r) => argumentTest(context, r)) },
      { subject: 'files', clauses: ['STR-07', 'TEN-03'], tests: FILES.map((r) => fileTest(context, r)) },
      { subject: 'shapes', clauses: ['STR-07', 'TEN-05', 'TEN-10'], tests: shapes },
    ],
  } satisfies VectorFile & Record<string, unknown>;
}
