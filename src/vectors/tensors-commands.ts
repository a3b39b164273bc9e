import { buildNpyHeader } from '../files/npy.ts';
import { writeLayout } from '../layout/convert.ts';
import { blockFormat, extentOf } from '../layout/linear.ts';
import { type Family, fillFamily } from '../random/families.ts';
import type { PackedBlocks } from '../tensor/codec.ts';
import { storedForm } from '../tensor/quantized-header.ts';
import type { PackContext } from './block-cases.ts';
import { elementBytes, hexOf, npyBytes } from './file-bytes.ts';
import { idOf } from './hash.ts';
import {
  type Descr,
  dequantized,
  elementsOf,
  type Job,
  quantizedFile,
  quantizedJob,
} from './tensors-quantize.ts';

/** TEN-20. Bytes of foreign origin, without a file around them, and the values they stand for. */
export function foreignTest(context: PackContext) {
  const job: Job = {
    comment: 'bytes of another producer, high nibble first',
    clauses: ['TEN-20', 'LAY-03'],
    format: 'mxfp4',
    axis: -1,
    layout: 'high-first',
    descr: '<f4',
    shape: [2, 33],
  };
  const { c, g, packed } = quantizedJob(context, job);
  const block = blockFormat(c.format);
  const form = storedForm(c.format, job.layout);
  const stored = writeLayout(form.layout, block, extentOf(block, g.shape, g.axis), packed);
  const { comment, clauses, format, layout, shape, axis } = job;
  const given = {
    format,
    layout,
    shape,
    axis,
    codes: hexOf(stored['codes']!),
    scales: hexOf(stored['scales']!),
  };
  const id = idOf(context.sha256, 'foreign', JSON.stringify(given));
  return { id, comment, clauses, ...given, back: hexOf(dequantized(packed, g.shape, g.axis, c)) };
}

/** Bits of a HiF4 file that are turned over: in which array and byte, and what the field then is called. */
const TURNED = [
  { array: 'codes', byte: 0, bit: 0x10, block: 0, field: 'codes[1]', covers: '[0,1]' },
  { array: 'codes', byte: 33, bit: 0x01, block: 1, field: 'codes[2]', covers: 'padding' },
  { array: 'scales', byte: 9, bit: 0x04, block: 2, field: 'e1_8[2]', covers: '[1,16:24]' },
  { array: 'scales', byte: 12, bit: 0x01, block: 3, field: 'e6m2', covers: '[1,64:65]' },
] as const;

/** TEN-21, TEN-22. A quantized file, the same with a bit of four fields turned over, and how they are told apart. */
export function turnedTests(context: PackContext) {
  const job: Job = { comment: '', clauses: [], format: 'hif4', axis: -1, descr: '<f4', shape: [2, 65] };
  const done = quantizedJob(context, job);
  const turned = { codes: done.packed.codes.slice(), scales: done.packed.scales.slice() };
  for (const { array, byte, bit } of TURNED) turned[array][byte]! ^= bit;
  const [a, b] = [quantizedFile(done, job), quantizedFile({ ...done, packed: turned }, job)];
  /** The bits of the field in one of the two: a nibble, a byte, or a single bit. */
  const shown = (packed: PackedBlocks, { array, byte, bit, field }: (typeof TURNED)[number]): string => {
    const value = packed[array][byte]!;
    if (field === 'e6m2') return value.toString(16).padStart(2, '0');
    if (array === 'codes') return (bit > 15 ? value >> 4 : value & 15).toString(16);
    return (value & bit) === 0 ? '0' : '1';
  };
  const told = TURNED.map((t) => [t.block, t.field, t.covers, shown(done.packed, t), shown(turned, t)]);
  const shared = { comment: 'one field of each block, the second in the padding', exit: 1 };
  const diff = { a: hexOf(a), b: hexOf(b) };
  const verify = {
    format: job.format,
    profile: done.c.profile,
    input: hexOf(done.input),
    quantized: hexOf(b),
  };
  return {
    diff: {
      id: idOf(context.sha256, 'diff', diff.a, diff.b),
      clauses: ['STR-07', 'TEN-21'],
      ...shared,
      ...diff,
      stdout: told.map((line) => line.join('\t')),
    },
    verify: {
      id: idOf(context.sha256, 'verify', JSON.stringify(verify)),
      clauses: ['STR-07', 'TEN-22'],
      ...shared,
      ...verify,
      stdout: told.map(([block, field, , ...bits]) => [block, field, ...bits].join('\t')),
    },
  };
}

/** TEN-17. Two files of one array and what `diff` says of them, element by element. */
export function diffTests(context: PackContext) {
  const words = [0x3f800000n, 0x00000000n, 0x7fc00000n, 0xc0e00000n];
  const file = (descr: Descr, fortran: boolean, list: readonly bigint[]): string =>
    hexOf(npyBytes(descr, fortran, '(2, 2)', elementBytes(list, 4, descr[0] === '<')));
  const transposed = [0, 2, 1, 3].map((i) => words[i]!);
  const pairs = [
    {
      comment: 'the same elements in another byte order and memory order: no difference',
      a: file('<f4', false, words),
      b: file('>f4', true, transposed),
      stdout: [],
      exit: 0,
    },
    {
      comment: 'the sign of a zero and the payload of a NaN are differences',
      a: file('<f4', false, words),
      b: file('<f4', false, words.with(1, 0x80000000n).with(2, 0x7fc00001n)),
      stdout: ['array[0,1]\t00000000\t80000000', 'array[1,0]\t7fc00000\t7fc00001'],
      exit: 1,
    },
  ];
  return pairs.map(({ comment, a, b, ...rest }) => {
    const id = idOf(context.sha256, 'diff', a, b);
    return { id, comment, clauses: ['TEN-17', 'STR-07'], a, b, ...rest };
  });
}

/** TEN-18. Generated tensors. */
export function generatedTests(context: PackContext) {
  const jobs: { family: Family; dtype: 'f32' | 'bf16'; shape: number[]; seed: bigint }[] = [
    { family: 'gauss', dtype: 'f32', shape: [2, 5], seed: 7n },
    { family: 'outlier-channel', dtype: 'bf16', shape: [3, 4], seed: 7n },
  ];
  return jobs.map(({ family, dtype, shape, seed }) => {
    const words = new Uint32Array(elementsOf(shape));
    fillFamily({ family, seed, operand: 0, type: dtype, channels: shape.at(-1)! }, 0, words);
    const header = buildNpyHeader(dtype === 'f32' ? 'F32' : 'U16', shape);
    const data = elementBytes(Array.from(words, BigInt), dtype === 'f32' ? 4 : 2, true);
    const given = { family, dtype, shape, seed: seed.toString(16).padStart(16, '0') };
    const id = idOf(context.sha256, 'tensor', JSON.stringify(given));
    const clauses = ['RND-02', 'TEN-18'];
    return { id, clauses, ...given, output: hexOf(Uint8Array.from([...header, ...data])) };
  });
}
