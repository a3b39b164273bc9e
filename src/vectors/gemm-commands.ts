/**
 * Vectors of the command `fp4 gemm`: small files in, a file or a refusal out. The products are of integers, summed here as integers.
 * Clauses: spec/gemm.md GEM-03, GEM-04, GEM-12, GEM-15 to GEM-19.
 * @module
 */
import type { PackContext } from './block-cases.ts';
import { hexOf, npyBytes } from './file-bytes.ts';
import { idOf } from './hash.ts';

/** An array of small integers. */
interface Integers {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

interface Command {
  readonly comment: string;
  readonly clauses: readonly string[];
  readonly args: readonly string[];
  readonly files: Readonly<Record<string, Integers>>;
  readonly exit?: number;
  readonly error?: string;
  readonly output?: Integers;
}

const float = new DataView(new ArrayBuffer(4));

function file({ shape, values }: Integers): Uint8Array {
  const data = values.flatMap((x) => {
    float.setFloat32(0, x, true);
    return [0, 1, 2, 3].map((k) => float.getUint8(k));
  });
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  return npyBytes('<f4', false, tuple, Uint8Array.from(data));
}

const counted = (shape: readonly number[], start: number, step = 1): Integers => ({
  shape,
  values: Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, k) => ((start + k * step) % 7) - 3),
});

/** One product of integers, places by functions of (row, k). */
function multiplied(
  rows: number,
  columns: number,
  depth: number,
  a: (i: number, k: number) => number,
  b: (j: number, k: number) => number,
): number[] {
  return Array.from({ length: rows * columns }, (_, at) => {
    let sum = 0;
    for (let k = 0; k < depth; k++) sum += a(Math.floor(at / columns), k) * b(at % columns, k);
    return sum;
  });
}

function commands(): Command[] {
  const a = counted([2, 5], 1);
  const b = counted([3, 5], 2, 3);
  const bTurned = {
    shape: [5, 3],
    values: Array.from({ length: 15 }, (_, at) => b.values[(at % 3) * 5 + Math.floor(at / 3)]!),
  };
  const aTurned = {
    shape: [5, 2],
    values: Array.from({ length: 10 }, (_, at) => a.values[(at % 2) * 5 + Math.floor(at / 2)]!),
  };
  const ofRows =
    ({ values }: Integers, offset = 0) =>
    (i: number, k: number): number =>
      values[offset + i * 5 + k]!;
  const product = { shape: [2, 3], values: multiplied(2, 3, 5, ofRows(a), ofRows(b)) };
  const batch = counted([2, 2, 5], 4, 2);
  const two = {
    shape: [2, 2, 3],
    values: [0, 10].flatMap((offset) => multiplied(2, 3, 5, ofRows(batch, offset), ofRows(b))),
  };
  const plain = ['--format', 'f32'];
  const wrong = { ...product, values: product.values.map((x, k) => (k === 4 ? x + 8 : x)) };
  return [
    {
      comment: 'rows and K',
      clauses: ['GEM-03', 'GEM-18', 'GEM-19'],
      args: plain,
      files: { A: a, B: b },
      output: product,
    },
    {
      comment: 'B as K x N, as dX = dY W has it',
      clauses: ['GEM-03', 'GEM-12'],
      args: [...plain, '--b-order', 'kn'],
      files: { A: a, B: bTurned },
      output: product,
    },
    {
      comment: 'both with K first, as dW = dY^T X has it',
      clauses: ['GEM-03', 'GEM-12'],
      args: [...plain, '--a-order', 'km', '--b-order', 'kn'],
      files: { A: aTurned, B: bTurned },
      output: product,
    },
    {
      comment: 'a batch against one matrix',
      clauses: ['GEM-04'],
      args: plain,
      files: { A: batch, B: b },
      output: two,
    },
    {
      comment: 'different K',
      clauses: ['GEM-04'],
      args: plain,
      files: { A: a, B: counted([3, 4], 0) },
      exit: 2,
      error: 'E_SHAPE',
    },
    {
      comment: 'batches of different size',
      clauses: ['GEM-04'],
      args: plain,
      files: { A: batch, B: counted([3, 3, 5], 0) },
      exit: 2,
      error: 'E_SHAPE',
    },
    {
      comment: 'a right result',
      clauses: ['GEM-13', 'GEM-17'],
      args: [...plain, '--check', 'R.npy'],
      files: { A: a, B: b, R: product },
    },
    {
      comment: 'one wrong output, by tiles',
      clauses: ['GEM-13', 'GEM-15', 'GEM-16', 'GEM-17'],
      args: [...plain, '--check', 'R.npy', '--tile', '1x2'],
      files: { A: a, B: b, R: wrong },
      exit: 1,
    },
    {
      comment: 'an accumulator that does not exist',
      clauses: ['GEM-10', 'GEM-18'],
      args: [...plain, '--accumulator', 'none'],
      files: { A: a, B: b },
      exit: 2,
      error: 'E_PARAMETER',
    },
  ];
}

/** The tests: A.npy, B.npy and what else there is stand in the folder that the command runs in; it writes C.npy. */
export const gemmCommands = ({ sha256 }: PackContext) =>
  commands().map(({ comment, clauses, args, files, exit = 0, error, output }) => {
    const given = {
      args: ['gemm', 'A.npy', 'B.npy', ...args, ...(args.includes('--check') ? [] : ['-o', 'C.npy'])],
      files: Object.fromEntries(Object.entries(files).map(([name, x]) => [`${name}.npy`, hexOf(file(x))])),
    };
    return {
      id: idOf(sha256, JSON.stringify(given)),
      comment,
      clauses,
      ...given,
      exit,
      ...(error !== undefined && { error }),
      ...(output && { output: hexOf(file(output)) }),
    };
  });
