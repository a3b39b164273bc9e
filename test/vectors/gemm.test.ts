/** Vectors of products: worked out again by BigInt arithmetic (test/matmul/big-dot.ts); commands run as a user runs them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fp4 } from '../cli/run-command.ts';
import { blockValues, dot, roundedWord, scaledNumber } from '../matmul/big-dot.ts';
import { temporaryFolder } from '../node/tensor-bytes.ts';
import { vectorFile } from './vectors.ts';

interface OperandJson {
  readonly format: 'hif4' | 'mxfp4' | 'bf16' | 'f16' | 'f32';
  readonly codes?: string;
  readonly scales?: string;
  readonly words?: string;
}

interface ProductTest {
  readonly id: string;
  readonly comment: string;
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  readonly a: OperandJson;
  readonly b: OperandJson;
  readonly c?: string;
  readonly output: 'f32' | 'bf16' | 'f16';
  readonly expected: string;
  readonly low?: string;
  readonly high?: string;
}

interface CommandTest {
  readonly comment: string;
  readonly args: string[];
  readonly files: Record<string, string>;
  readonly exit: number;
  readonly error?: string;
  readonly output?: string;
}

const group = <T>(subject: string) =>
  vectorFile<T>('gemm.json').groups.find((g) => g.subject === subject)!.tests;

const half = (w: number): number => {
  const [e, f] = [(w >> 10) & 31, w & 1023];
  return (
    (w & 0x8000 ? -1 : 1) *
    (e === 0
      ? f * 2 ** -24
      : e === 31
        ? f === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : (1024 + f) * 2 ** (e - 25))
  );
};
const single = (w: number): number => new Float32Array(Uint32Array.of(w).buffer)[0]!;

/** Rows of numbers over 2^400; undefined for what is no finite number. */
function rowsOf(
  { format, codes, scales, words }: OperandJson,
  rows: number,
  depth: number,
): (bigint | undefined)[][] {
  const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
  const finite = (x: number): bigint | undefined => (Number.isFinite(x) ? scaledNumber(x) : undefined);
  const all =
    format === 'hif4' || format === 'mxfp4'
      ? blockValues(format, bytes(codes!), bytes(scales!))
      : words!.split(' ').map((w) => {
          const word = Number.parseInt(w, 16);
          return finite(format === 'f16' ? half(word) : single(format === 'bf16' ? word * 65536 : word));
        });
  const width = all.length / rows;
  return Array.from({ length: rows }, (_, r) => all.slice(r * width, r * width + depth));
}

const plain = group<ProductTest>('products').filter(({ c }) => c === undefined);

test.each(plain.map((t) => [t.comment, t] as const))('%s [GEM-05, GEM-09, VEC-08]', (_, t) => {
  const a = rowsOf(t.a, t.rows, t.depth);
  const b = rowsOf(t.b, t.columns, t.depth);
  const words = t.expected.split(' ').map((w) => Number.parseInt(w, 16));
  let compared = 0;
  for (const [at, word] of words.entries()) {
    const [x, y] = [a[Math.floor(at / t.columns)]!, b[at % t.columns]!];
    const finite = [...x, ...y].every((v) => v !== undefined);
    if (finite) expect(word).toBe(roundedWord(dot(x as bigint[], y as bigint[]), t.output));
    else expect(word & 0x7f800000).toBe(0x7f800000);
    compared++;
  }
  expect(compared).toBe(t.rows * t.columns);
});

test('the ends of bound:fp32 by BigInt arithmetic [BND-01, BND-02, BND-03]', () => {
  const bounded = plain.filter(({ low }) => low !== undefined);
  expect(bounded.length).toBeGreaterThan(15);
  for (const t of bounded) {
    const [x, y] = [rowsOf(t.a, 1, t.depth)[0]!, rowsOf(t.b, 1, t.depth)[0]!] as [bigint[], bigint[]];
    const products = x.map((v, k) => v * y[k]!).filter((v) => v !== 0n);
    const m = Math.max(0, products.length - 1);
    const total = products.reduce((sum, v) => sum + (v < 0n ? -v : v), 0n);
    const bound = total * ((2n ** 24n + 1n) ** BigInt(m) - 2n ** BigInt(24 * m));
    const sum = dot(x, y) << BigInt(24 * m);
    const ends = [sum - bound, sum + bound].map((v) => roundedWord(v, 'f32', 24 * m));
    expect(
      [t.low, t.high].map((w) => Number.parseInt(w!, 16)),
      t.comment,
    ).toEqual(ends);
  }
});

describe('products with C, by hand', () => {
  const c = new Map(group<ProductTest>('products').map((t) => [t.comment, t.expected]));
  test('C, alpha and beta are exact until one rounding [GEM-11]', () => {
    // 1 + 2^-24 is a tie; 2^-60 decides it.
    expect(c.get('C is added before the rounding')).toBe('3f800001');
    // 3 x 0.1 - 0.3 as binary64 numbers is 2^-54 x 3 - ...: 0.1 = 3602879701896397 / 2^55, 0.3 = 5404319552844595 / 2^54.
    const difference = 3n * 3602879701896397n - 2n * 5404319552844595n;
    expect(difference).toBe(1n);
    expect(c.get('alpha A B^T + beta C, rounded once')).toBe((0x3f800000 - 55 * 2 ** 23).toString(16));
    expect(c.get('with beta = 0 a NaN in C does not count')).toBe('40400000');
  });
  test('NaN and infinities [GEM-06]', () => {
    expect(c.get('infinity times zero, infinities of both signs, and one infinity')).toBe(
      '7fc00000 7fc00000 ff800000',
    );
    expect(c.get('a NaN scale in row 1 of A makes row 1 NaN, and nothing else')).toMatch(
      /^(?!7fc)\S+ (?!7fc)\S+ 7fc00000 7fc00000$/,
    );
  });
});

test.each(group<{ comment: string; acceptance: string; admitted: boolean }>('verdicts'))(
  '$acceptance: $comment is admitted: $admitted [GEM-13, GEM-14]',
  ({ comment, acceptance, admitted }) => {
    const g3 = { exact: false, 'bits:exact': false, 'bound:fp32': false, 'bound:@unit.json': true };
    const known: Record<string, boolean> = {
      'too far for such a unit too': false,
      '-0 is not +0 as bits': false,
      'zeros are equal under a bound': true,
      'some order overflows': true,
      // u x 256 x 256.015625 is 0.003906..., 128 x 2^-15 is 0.003906...: the outputs are 2^-15 apart.
      'just inside the bound, on exact numbers': true,
      'just outside the bound': false,
    };
    expect(admitted).toBe(known[comment] ?? g3[acceptance as keyof typeof g3]);
  },
);

test.each(group<CommandTest>('commands').map((t) => [t.comment, t] as const))(
  'fp4 gemm: %s [GEM-03, GEM-04, GEM-10, GEM-12, GEM-18, GEM-19]',
  async (_, { args, files, exit, error, output }) => {
    const folder = temporaryFolder();
    for (const [name, hex] of Object.entries(files))
      writeFileSync(join(folder, name), Buffer.from(hex, 'hex'));
    const { code, stderr } = await fp4(
      ...args.map((arg) => (arg.endsWith('.npy') ? join(folder, arg) : arg)),
      '--threads',
      '1',
    );
    expect(code).toBe(exit);
    if (error !== undefined) expect(stderr).toContain(`(${error})`);
    expect(existsSync(join(folder, 'C.npy'))).toBe(output !== undefined);
    if (output === undefined) return;
    const found = readFileSync(join(folder, 'C.npy'));
    const data = Buffer.from(output, 'hex');
    // The same array; headers may be padded otherwise.
    expect(found.subarray(found.indexOf('\n') + 1).toString('hex')).toBe(
      data.subarray(data.indexOf('\n') + 1).toString('hex'),
    );
  },
);
