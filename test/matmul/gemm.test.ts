/** The exact product by every path against BigInt arithmetic of its own (big-dot.ts). */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { gemm } from '../../src/matmul/gemm.ts';
import type { Operand } from '../../src/matmul/operand.ts';
import { blockOperand } from '../../src/matmul/operand-blocks.ts';
import { plainOperand } from '../../src/matmul/operand-plain.ts';
import type { OutputName } from '../../src/matmul/output.ts';
import { quantizeTensor } from '../../src/tensor/quantize.ts';
import { blockValues, dot, FRACTION, roundedWord, scaledNumber } from './big-dot.ts';

/** A small generator of bits (xorshift), so that every run draws the same. */
function bits(seed: number): () => number {
  let x = seed | 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

const FORMATS = ['hif4', 'mxfp4', 'bf16', 'f16', 'f32'] as const;
type Format = (typeof FORMATS)[number];
const KINDS = ['plain', 'wide', 'cancel', 'huge'] as const;
type Kind = (typeof KINDS)[number];

interface Rows {
  readonly operand: Operand;
  /** Elements of each row by big-dot.ts; undefined where a row has a NaN. */
  readonly values: (bigint[] | undefined)[];
}

const fill = (count: number, draw: (k: number) => number): Uint8Array =>
  Uint8Array.from({ length: count }, (_, k) => draw(k));

/** Random rows of a format: scales close together, far apart, or one far above the rest. */
function randomRows(format: Format, kind: Kind, rows: number, depth: number, next: () => number): Rows {
  if (format !== 'hif4' && format !== 'mxfp4') {
    const range = { f16: 10, bf16: 60, f32: 60 }[format];
    const values = Float64Array.from({ length: rows * depth }, (_, k) => {
      const shift =
        kind === 'wide' ? (next() % (2 * range)) - range : kind === 'huge' && k % depth === 0 ? range : 0;
      const digits = format === 'f32' ? 2 ** 23 : format === 'f16' ? 2 ** 10 : 2 ** 7;
      const x = (1 + (next() % digits) / digits) * 2 ** shift * (next() % 2 ? 1 : -1);
      return next() % 9 === 0 ? 0 : x;
    });
    const big = Array.from(values, scaledNumber);
    return {
      operand: plainOperand(format, values, rows, depth),
      values: Array.from({ length: rows }, (_, r) => big.slice(r * depth, (r + 1) * depth)),
    };
  }
  const block = format === 'hif4' ? 64 : 32;
  const groups = Math.ceil(depth / block);
  const codes = fill((rows * groups * block) / 2, () => next() % 256);
  const bytes = format === 'hif4' ? 4 : 1;
  const top = format === 'hif4' ? 255 : 250;
  const middle = format === 'hif4' ? 190 : 120;
  const scales = fill(rows * groups * bytes, (k) => {
    if (format === 'hif4' && k % 4 !== 0) return next() % 256;
    if (kind === 'wide') return next() % 40 === 0 ? 255 : next() % top;
    return kind === 'huge' && k % (groups * bytes) === 0 ? top - 1 : middle + (next() % 4);
  });
  const all = blockValues(format, codes, scales);
  const values = Array.from({ length: rows }, (_, r) => {
    const row = all.slice(r * groups * block, r * groups * block + depth);
    const blocks = Array.from({ length: groups }, (_, g) => scales[(r * groups + g) * bytes]);
    return blocks.includes(255) ? undefined : (row as bigint[]);
  });
  return { operand: blockOperand(format, { codes, scales }, rows, depth), values };
}

const NAN_WORDS = { f32: 0x7fc00000, bf16: 0x7fc0, f16: 0x7e00 };

const expected = (a: Rows, b: Rows, output: OutputName): number[] =>
  a.values.flatMap((x) => b.values.map((y) => (x && y ? roundedWord(dot(x, y), output) : NAN_WORDS[output])));

/** B with the second half of every row the first one's opposite, nearly, so that sums cancel. */
function cancelled(b: Operand): Operand {
  const integers = b.integers.slice();
  const { groups, group, significands, exponents, marks } = b;
  const half = Math.floor(groups / 2);
  for (let r = 0; r < b.rows; r++) {
    for (let k = 0; k < half * group; k++) {
      const at = r * groups * group + k;
      integers[at + half * group] = -integers[at]!;
    }
    for (let g = 0; g < half; g++) {
      significands[r * groups + g + half] = significands[r * groups + g]!;
      exponents[r * groups + g + half] = exponents[r * groups + g]!;
      marks[r * groups + g + half] = marks[r * groups + g]!;
    }
  }
  return { ...b, integers };
}

const DEPTHS = [1, 31, 32, 33, 64, 65, 1504, 4096];

describe('10^4 products of every kind equal BigInt arithmetic [GEM-01] [GEM-02] [GEM-03] [GEM-05] [GEM-07] [GEM-08] [GEM-09]', () => {
  const pairs = FORMATS.flatMap((a) => FORMATS.map((b) => [a, b] as const));
  test.each(pairs)('%s x %s', (formatA, formatB) => {
    const next = bits(formatA.length * 1000 + formatB.charCodeAt(0) * 7 + FORMATS.indexOf(formatB));
    let count = 0;
    for (const depth of DEPTHS) {
      const size = depth > 1000 ? 2 : 4;
      for (const kind of KINDS) {
        const a = randomRows(formatA, kind, size, depth, next);
        const b = randomRows(formatB, kind, size, depth, next);
        for (const output of ['f32', 'bf16', 'f16'] as const) {
          const wanted = expected(a, b, output);
          expect(
            [...gemm(a.operand, b.operand, { output, simd: true })],
            `${depth} ${kind} ${output}`,
          ).toEqual(wanted);
          expect([...gemm(a.operand, b.operand, { output, simd: false })]).toEqual(wanted);
          count += 2 * wanted.length;
        }
      }
    }
    expect(count).toBeGreaterThan(400);
  });
});

test('sums that cancel [GEM-07] [GEM-08]', () => {
  const next = bits(77);
  for (const format of FORMATS) {
    const a = randomRows(format, 'wide', 3, 256, next);
    const doubled = cancelled(a.operand);
    const words = gemm(doubled, a.operand, { simd: true });
    const plain = gemm(doubled, a.operand, { simd: false });
    expect([...words]).toEqual([...plain]);
  }
});

/** The numbers of a little-endian float32 .npy file in C order. */
function npy(name: string): Float32Array {
  const bytes = readFileSync(new URL(`../data/${name}`, import.meta.url));
  const start = 10 + bytes.readUInt16LE(8);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length));
}

test.each(['hif4', 'mxfp4'] as const)(
  'speech_activations x lstm_weight^T in %s, all of it [GEM-05]',
  (format) => {
    const [x, w] = [npy('speech_activations_256x128.npy'), npy('lstm_weight_ih_512x128.npy')];
    const rows = [256, 512];
    const operands = [x, w].map((values, k) => {
      const { tensor } = quantizeTensor(Float64Array.from(values), [rows[k]!, 128], 1, format);
      const all = blockValues(format, tensor.codes, tensor.scales) as bigint[];
      const big = Array.from({ length: rows[k]! }, (_, r) => all.slice(r * 128, (r + 1) * 128));
      return { big, operand: blockOperand(format, tensor, rows[k]!, 128) };
    });
    const [a, b] = operands as [(typeof operands)[0], (typeof operands)[0]];
    const words = gemm(a.operand, b.operand, { simd: true });
    const plain = gemm(a.operand, b.operand, { simd: false });
    expect(words.length).toBe(256 * 512);
    const wrong = words.findIndex(
      (word, at) => word !== roundedWord(dot(a.big[Math.floor(at / 512)]!, b.big[at % 512]!), 'f32'),
    );
    expect(wrong).toBe(-1);
    expect(plain).toEqual(words);
  },
);

describe('a tie of FP32 that a term 2^-s decides, on both sides of what binary64 holds [GEM-07] [GEM-08] [GEM-09]', () => {
  const SPREADS = Array.from({ length: 60 }, (_, k) => k + 26);
  const wanted = [0x3f800001, 0x3f800000];

  test('not quantized: 1 + 2^-24 +- 2^-s', () => {
    for (const s of SPREADS) {
      const a = plainOperand('bf16', Float64Array.of(1, 2 ** -24, 2 ** -s), 1, 3);
      const b = plainOperand('bf16', Float64Array.of(1, 1, 1, 1, 1, -1), 2, 3);
      expect([...gemm(a, b)], `s = ${s}`).toEqual(wanted);
    }
  });

  test.each([true, false])('in blocks, SIMD %s', (simd) => {
    for (const s of SPREADS) {
      // 1 is code 2; a block each for the three terms, in a row of A, and for their signs, in two of B.
      const codes = (signs: number[]) =>
        Uint8Array.from({ length: 16 * signs.length }, (_, at) => (at % 16 === 0 ? signs[at / 16]! : 0));
      const a = blockOperand(
        'mxfp4',
        { codes: codes([2, 2, 2]), scales: Uint8Array.of(127, 127 - 24, 127 - s) },
        1,
        96,
      );
      const b = blockOperand(
        'mxfp4',
        { codes: codes([2, 2, 2, 2, 2, 10]), scales: new Uint8Array(6).fill(127) },
        2,
        96,
      );
      expect([...gemm(a, b, { simd })], `s = ${s}`).toEqual(wanted);
    }
  });
});

describe('alpha A B^T + beta C by BigInt arithmetic [GEM-11]', () => {
  test('random factors, in every output type', () => {
    const next = bits(4242);
    const number = (): number => ((next() % 2001) - 1000) / 2 ** (next() % 12);
    for (let round = 0; round < 40; round++) {
      const a = randomRows('hif4', 'plain', 2, 65, next);
      const b = randomRows('mxfp4', 'plain', 2, 65, next);
      const [alpha, beta] = [number() || 1, number() || 1];
      const c = Float32Array.from({ length: 4 }, number);
      for (const output of ['f32', 'bf16', 'f16'] as const) {
        const words = gemm(a.operand, b.operand, { output, c, alpha, beta });
        const sums = a.values.flatMap((x) => b.values.map((y) => dot(x!, y!)));
        const wanted = sums.map((sum, k) => {
          // Over 2^(3 x 400): products have 2 x 400 fraction bits, a factor 400 more.
          const exact =
            sum * scaledNumber(alpha) + ((scaledNumber(c[k]!) * scaledNumber(beta)) << BigInt(FRACTION));
          return roundedWord(exact, output, FRACTION);
        });
        expect([...words]).toEqual(wanted);
      }
    }
  });

  test('C alone is added by the quick paths as by the definition', () => {
    const next = bits(99);
    for (const kind of ['plain', 'huge'] as const) {
      const a = randomRows('hif4', kind, 4, 128, next);
      const b = randomRows('hif4', kind, 4, 128, next);
      const c = Float32Array.from({ length: 16 }, () => ((next() % 4001) - 2000) / 2 ** (next() % 40));
      const sums = a.values.flatMap((x) => b.values.map((y) => dot(x!, y!)));
      const wanted = sums.map((sum, k) =>
        roundedWord(sum + (scaledNumber(c[k]!) << BigInt(FRACTION)), 'f32'),
      );
      for (const simd of [true, false]) expect([...gemm(a.operand, b.operand, { c, simd })]).toEqual(wanted);
    }
  });
});
