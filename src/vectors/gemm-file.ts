/**
 * Vectors of products and of verdicts on them. Every expected word comes from the definition, and is held against the fast path.
 * Clauses: spec/gemm.md GEM-01 to GEM-19, BND-01 to BND-07.
 * @module
 */
import type { Acceptance } from '../matmul/acceptance.ts';
import type { TruncatingModel } from '../matmul/bound.ts';
import { exactElement } from '../matmul/exact-dot.ts';
import { type GemmOptions, gemm } from '../matmul/gemm.ts';
import type { Operand } from '../matmul/operand.ts';
import { blockOperand } from '../matmul/operand-blocks.ts';
import { plainOperand } from '../matmul/operand-plain.ts';
import { type OutputName, outputWord, outputWords } from '../matmul/output.ts';
import { ranges, verdict } from '../matmul/verdict.ts';
import { philox } from '../random/philox.ts';
import type { PackContext } from './block-cases.ts';
import { hexOf } from './file-bytes.ts';
import { gemmCommands } from './gemm-commands.ts';
import { idOf } from './hash.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

const KINDS = ['same-sign', 'cancellation', 'huge-and-tiny', 'mixed-signs'] as const;
type Kind = (typeof KINDS)[number];

const DEPTHS = [1, 31, 32, 33, 64, 65, 1504, 4096];

/** Words of random bits that depend on a text and nothing else. */
function drawer(text: string): () => number {
  let seed = 0;
  for (const character of text) seed = (Math.imul(seed, 31) + character.charCodeAt(0)) >>> 0;
  let counter = 0;
  const out = new Uint32Array(4);
  let left = 0;
  return () => {
    if (left === 0) {
      philox(seed, 0, counter++, 0, 0, 0, out);
      left = out.length;
    }
    return out[--left]!;
  };
}

/** An operand as a vector has it, and as the code has it. */
interface Made {
  readonly json: {
    readonly format: string;
    readonly codes?: string;
    readonly scales?: string;
    readonly words?: string;
  };
  readonly operand: Operand;
}

const BLOCKS = {
  hif4: { size: 64, bytes: 4, middle: 0xc0, small: 0x70 },
  mxfp4: { size: 32, bytes: 1, middle: 0x7f, small: 0x66 },
} as const;
type BlockName = keyof typeof BLOCKS;

/** Rows of a block format whose products are of a kind; `mirror` gives the second operand of a cancellation its signs. */
function blocks(
  format: BlockName,
  kind: Kind,
  rows: number,
  depth: number,
  next: () => number,
  mirror: boolean,
): Made {
  const { size, bytes, middle, small } = BLOCKS[format];
  const groups = Math.ceil(depth / size);
  const codes = new Uint8Array((rows * groups * size) / 2);
  const scales = new Uint8Array(rows * groups * bytes);
  for (let at = 0; at < codes.length * 2; at++) {
    const magnitude = next() % 8;
    const negative =
      kind === 'same-sign' ? false : kind === 'cancellation' ? mirror && at % 2 === 1 : next() % 2 === 1;
    codes[at >> 1]! |= (magnitude | (negative ? 8 : 0)) << (4 * (at & 1));
  }
  // Pairs of equal magnitude, so that sums of products of opposite signs nearly cancel.
  if (kind === 'cancellation') {
    for (let k = 0; k < codes.length; k++) codes[k] = (codes[k]! & 0x88) | ((codes[k]! & 7) * 0x11);
  }
  for (let h = 0; h < rows * groups; h++) {
    const tiny = kind === 'huge-and-tiny' && h % groups > 0;
    scales[h * bytes] = tiny ? small : middle + (next() % 3);
    for (let b = 1; b < bytes; b++) scales[h * bytes + b] = next() % 256;
  }
  return fromBlocks(format, codes, scales, rows, depth);
}

const fromBlocks = (
  format: BlockName,
  codes: Uint8Array,
  scales: Uint8Array,
  rows: number,
  depth: number,
): Made => ({
  json: { format, codes: hexOf(codes), scales: hexOf(scales) },
  operand: blockOperand(format, { codes, scales }, rows, depth),
});

const DIGITS = { bf16: 4, f16: 4, f32: 8 } as const;

/** Rows of values that the format holds. */
function values(format: keyof typeof DIGITS, x: readonly number[], rows: number): Made {
  const exact = Float64Array.from(x);
  const words = Array.from(outputWords(exact, format), (w) => w.toString(16).padStart(DIGITS[format], '0'));
  return {
    json: { format, words: words.join(' ') },
    operand: plainOperand(format, exact, rows, x.length / rows),
  };
}

const wordsText = (words: Iterable<number>, output: OutputName): string =>
  Array.from(words, (w) => w.toString(16).padStart(DIGITS[output], '0')).join(' ');

interface Product {
  readonly comment: string;
  readonly clauses: readonly string[];
  readonly a: Made;
  readonly b: Made;
  readonly output?: OutputName;
  readonly c?: readonly number[];
  readonly alpha?: number;
  readonly beta?: number;
  /** Whether the ends of bound:fp32 are given too. */
  readonly bounds?: boolean;
}

const FP32: Acceptance = { kind: 'fp32', name: 'bound:fp32' };

/** The definition's words, where there are no factors; the fast paths must agree. */
function expectedWords({ a, b, c, alpha, beta, output = 'f32', comment }: Product): Uint32Array {
  const options: GemmOptions = {
    output,
    ...(c && { c: Float32Array.from(c) }),
    ...(alpha !== undefined && { alpha }),
    ...(beta !== undefined && { beta }),
  };
  const words = gemm(a.operand, b.operand, { ...options, simd: true });
  const plain = gemm(a.operand, b.operand, { ...options, simd: false });
  const defined = c
    ? plain
    : Uint32Array.from(words, (_, at) => {
        const [i, j] = [Math.floor(at / b.operand.rows), at % b.operand.rows];
        return outputWord(exactElement(a.operand, i, b.operand, j), output);
      });
  if (words.some((w, at) => w !== defined[at] || w !== plain[at])) {
    throw new Error(`${comment}: two paths to a product differ`);
  }
  return words;
}

function productTest({ sha256 }: PackContext, p: Product) {
  const { comment, clauses, a, b, c, alpha, beta, output = 'f32' } = p;
  const given = {
    rows: a.operand.rows,
    columns: b.operand.rows,
    depth: a.operand.depth,
    a: a.json,
    b: b.json,
    ...(c && { c: wordsText(outputWords(Float64Array.from(c), 'f32'), 'f32') }),
    ...(alpha !== undefined && { alpha }),
    ...(beta !== undefined && { beta }),
    output,
  };
  const ends = p.bounds ? ranges({ a: a.operand, b: b.operand, output }, FP32) : undefined;
  return {
    id: idOf(sha256, JSON.stringify(given)),
    comment,
    clauses,
    ...given,
    expected: wordsText(expectedWords(p), output),
    ...(ends && { low: wordsText(ends.low, output), high: wordsText(ends.high, output) }),
  };
}

function depthProducts(): Product[] {
  return (['hif4', 'mxfp4'] as const).flatMap((format) =>
    DEPTHS.flatMap((depth, d) =>
      KINDS.filter((_, k) => depth === 65 || k === d % KINDS.length).map((kind): Product => {
        const next = drawer(`${format} ${depth} ${kind}`);
        return {
          comment: `${format}, K = ${depth}, ${kind}`,
          clauses: ['GEM-01', 'GEM-05', 'GEM-09', 'BND-01', 'BND-02', 'BND-03'],
          a: blocks(format, kind, 1, depth, next, false),
          b: blocks(format, kind, 1, depth, next, true),
          bounds: true,
        };
      }),
    ),
  );
}

const HALF_ULP = 2 ** -24;

function otherProducts(): Product[] {
  const next = drawer('others');
  const hif4 = (rows: number, depth: number): Made => blocks('hif4', 'mixed-signs', rows, depth, next, false);
  const mxfp4 = (rows: number, depth: number): Made =>
    blocks('mxfp4', 'mixed-signs', rows, depth, next, false);
  const twoRows = mxfp4(2, 64);
  const nanScales = Uint8Array.of(0x7f, 0x7f, 0x7f, 0xff);
  const codes = Uint8Array.from({ length: 64 }, () => next() % 256);
  const dirty = Uint8Array.from({ length: 16 }, (_, k) => (k < 1 ? 0x22 : 0x77));
  const big = 2 ** 127;
  return [
    { comment: 'a unit of 64 against blocks of 32', clauses: ['GEM-03'], a: hif4(2, 130), b: mxfp4(2, 130) },
    {
      comment: 'a NaN scale in row 1 of A makes row 1 NaN, and nothing else',
      clauses: ['GEM-01', 'GEM-06'],
      a: fromBlocks('mxfp4', codes, nanScales, 2, 64),
      b: twoRows,
    },
    {
      comment: 'codes in the padding of a block count as zeros (L4)',
      clauses: ['GEM-01'],
      a: fromBlocks('mxfp4', dirty, Uint8Array.of(0x7f), 1, 2),
      b: fromBlocks('mxfp4', dirty, Uint8Array.of(0x7f), 1, 2),
    },
    {
      comment: 'infinity times zero, infinities of both signs, and one infinity',
      clauses: ['GEM-02', 'GEM-06'],
      a: values('bf16', [Number.POSITIVE_INFINITY, 1], 1),
      b: values('bf16', [0, 1, 1, Number.NEGATIVE_INFINITY, -2, 5], 3),
    },
    {
      comment: 'not quantized, BF16 against FP16',
      clauses: ['GEM-02', 'GEM-03'],
      a: values('bf16', [1.5, -2, 3], 1),
      b: values('f16', [0.25, 2 ** -24, 65504], 1),
    },
    {
      comment: 'a spread that binary64 does not hold: 1, 2^-80 and the tie between',
      clauses: ['GEM-07', 'GEM-08', 'GEM-09'],
      a: values('f32', [1, HALF_ULP, 2 ** -80], 1),
      b: values('f32', [1, 1, 1, 1, 1, -1], 2),
    },
    {
      comment: 'beyond the largest FP16 an infinity; half a unit below it is a tie',
      clauses: ['GEM-09'],
      a: values('f16', [65504, 1], 1),
      b: values('f16', [1, 15, 1, 16, -1, -16], 3),
      output: 'f16',
    },
    {
      comment: 'a sum that BF16 rounds once: by way of FP32 it would be a tie',
      clauses: ['GEM-08', 'GEM-09'],
      a: values('f32', [1, 2 ** -8, 2 ** -40], 1),
      b: values('f32', [1, 1, 1], 1),
      output: 'bf16',
    },
    {
      comment: 'C is added before the rounding',
      clauses: ['GEM-11'],
      a: values('bf16', [1, 2 ** -12], 1),
      b: values('bf16', [1, 2 ** -12], 1),
      c: [2 ** -60],
    },
    {
      comment: 'alpha A B^T + beta C, rounded once',
      clauses: ['GEM-11'],
      a: values('bf16', [3], 1),
      b: values('bf16', [1], 1),
      c: [1],
      alpha: 0.1,
      beta: -0.3,
    },
    {
      comment: 'with beta = 0 a NaN in C does not count',
      clauses: ['GEM-11'],
      a: values('bf16', [3], 1),
      b: values('bf16', [1], 1),
      c: [Number.NaN],
      beta: 0,
    },
    {
      comment: 'large products that cancel exactly',
      clauses: ['GEM-05', 'GEM-09'],
      a: values('bf16', [big, -big, 1], 1),
      b: values('bf16', [big, big, 1], 1),
    },
  ];
}

const G3_UNIT: TruncatingModel = {
  ...{ group: 32, fractionBits: 13, outputFractionBits: 13 },
  ...{ outputRounding: 'truncate', exponentFloor: -133 },
} as const;

interface Judged {
  readonly comment: string;
  readonly clauses: readonly string[];
  readonly a: Made;
  readonly b: Made;
  readonly found: number;
  readonly acceptance: Acceptance;
}

function judgedCases(): Judged[] {
  const terms = Array.from({ length: 257 }, (_, k) => (k < 256 ? 1 : 2 ** -6));
  const g3 = { a: values('bf16', terms, 1), b: values('bf16', new Array<number>(257).fill(1), 1) };
  const unit: Acceptance = { kind: 'truncating', name: 'bound:@unit.json', model: G3_UNIT };
  const one = { a: values('bf16', [1, 1], 1), b: values('bf16', [1, -1], 1) };
  const overflow = { a: values('bf16', [2 ** 127, -(2 ** 127)], 1), b: values('bf16', [1, 1], 1) };
  const exact: Acceptance = { kind: 'exact', name: 'exact' };
  const named: Acceptance = { kind: 'bits', name: 'bits:exact' };
  const short = 'G3: 256 where a short accumulator lost 2^-6';
  return [
    { comment: short, clauses: ['GEM-14', 'BND-01'], ...g3, found: 256, acceptance: FP32 },
    { comment: short, clauses: ['GEM-14'], ...g3, found: 256, acceptance: exact },
    { comment: short, clauses: ['GEM-10', 'GEM-14'], ...g3, found: 256, acceptance: named },
    { comment: short, clauses: ['GEM-14', 'BND-05', 'BND-06'], ...g3, found: 256, acceptance: unit },
    { comment: 'too far for such a unit too', clauses: ['BND-05'], ...g3, found: 244, acceptance: unit },
    { comment: '-0 is not +0 as bits', clauses: ['GEM-14'], ...one, found: -0, acceptance: exact },
    { comment: 'zeros are equal under a bound', clauses: ['BND-03'], ...one, found: -0, acceptance: FP32 },
    { comment: 'some order overflows', clauses: ['BND-04'], ...overflow, found: 0, acceptance: FP32 },
    {
      comment: 'just inside the bound, on exact numbers',
      clauses: ['BND-03', 'BND-07'],
      ...g3,
      found: 256.015625 - 127 * 2 ** -15,
      acceptance: FP32,
    },
    {
      comment: 'just outside the bound',
      clauses: ['BND-03', 'BND-07'],
      ...g3,
      found: 256.015625 - 129 * 2 ** -15,
      acceptance: FP32,
    },
  ];
}

function verdictTest({ sha256 }: PackContext, { comment, clauses, a, b, found, acceptance }: Judged) {
  const words = outputWords(Float64Array.of(found), 'f32');
  const job = { a: a.operand, b: b.operand, found: words, output: 'f32', acceptances: [acceptance] } as const;
  const [result] = verdict(job).acceptances;
  const given = {
    depth: a.operand.depth,
    a: a.json,
    b: b.json,
    found: wordsText(words, 'f32'),
    acceptance: acceptance.name,
    ...(acceptance.kind === 'truncating' && { model: acceptance.model }),
  };
  return {
    id: idOf(sha256, JSON.stringify(given)),
    comment,
    clauses: ['GEM-13', ...clauses],
    ...given,
    admitted: result!.outside === 0,
    ...(result!.conditions && { conditions: result!.conditions }),
  };
}

export const gemmFile = (context: PackContext): VectorFile => ({
  schema: SCHEMA,
  kind: 'gemm',
  generator: context.generator,
  groups: [
    {
      subject: 'products',
      clauses: ['GEM-05'],
      tests: [...depthProducts(), ...otherProducts()].map((p) => productTest(context, p)),
    },
    { subject: 'verdicts', clauses: ['GEM-13'], tests: judgedCases().map((j) => verdictTest(context, j)) },
    { subject: 'commands', clauses: ['GEM-18', 'GEM-19'], tests: gemmCommands(context) },
  ],
});
