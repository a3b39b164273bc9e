/**
 * Vectors of patterns and of metadata: what each pattern keeps, the slots of every group, words and SM80's order.
 * The definition and the fast path must agree on what is kept. Clauses: spec/sparsity.md SPA-01 to SPA-17.
 * @module
 */
import { fromBinary64 } from '../number/floats.ts';
import { fillFamily } from '../random/families.ts';
import { compress, expand, gather } from '../sparsity/compress.ts';
import { definedMask } from '../sparsity/definition.ts';
import { metadataWords, nibblesOfWords, type WordForm } from '../sparsity/metadata-words.ts';
import {
  GROUP_PATTERNS,
  type GroupPatternName,
  type OddRule,
  PATTERNS,
  type Pattern,
} from '../sparsity/pattern.ts';
import { forEachElement, pruneQuantized, pruneReport, pruneValues } from '../sparsity/prune.ts';
import { CONVENTIONS, type Convention, OVERFULL, type Overfull } from '../sparsity/slots.ts';
import type { TieRule } from '../sparsity/ties.ts';
import type { PackContext } from './block-cases.ts';
import { hexOf } from './file-bytes.ts';
import { idOf } from './hash.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

interface Job {
  readonly comment: string;
  readonly pattern: Pattern;
  readonly shape: readonly number[];
  readonly axis: number;
  readonly values: readonly number[];
  readonly ties?: TieRule;
  readonly odd?: OddRule;
  readonly clauses: readonly string[];
}

const cycle = (count: number): number[] => Array.from({ length: count }, (_, i) => (((i * 37) % 11) - 5) / 4);

const HAND = [
  1,
  1,
  1,
  1,
  0,
  0,
  0,
  5,
  -0,
  -0,
  -0,
  -0,
  3,
  -3,
  3,
  -3,
  2,
  1,
  1,
  1,
  NaN,
  Infinity,
  1,
  -Infinity,
  4,
  3,
];
const NORMS = [3, 0, 5, 1, 4, 4, 6, 0, 1, -3];

const JOBS: readonly Job[] = [
  ...(['lowest-index', 'highest-index', [2, 0, 3, 1]] as const).map((ties) => ({
    ...{ comment: 'ties, lone values, zeros of either sign, NaN and infinity, a short last group', ties },
    ...{ pattern: '2:4' as const, shape: [26], axis: 0, values: HAND },
    clauses: ['SPA-01', 'SPA-02', 'SPA-05', 'SPA-07', 'SPA-08', 'SPA-17'],
  })),
  ...(['1:2', '4:8'] as const).map((pattern) => ({
    ...{ comment: 'the same', pattern, shape: [26], axis: 0, values: HAND },
    clauses: ['SPA-01', 'SPA-02', 'SPA-04', 'SPA-05', 'SPA-07'],
  })),
  ...(['ceil', 'floor', 'half-even'] as const).map((odd) => ({
    ...{ comment: 'five channels of squares 25, 36, 25, 2, 25', pattern: 'channel' as const, odd },
    ...{ shape: [2, 5], axis: 1, values: NORMS, clauses: ['SPA-04', 'SPA-05', 'SPA-06'] },
  })),
  {
    ...{ comment: 'two pairs whose sums of squares differ by less than binary64 tells', pattern: '4:8' },
    ...{
      shape: [8],
      axis: 0,
      values: [2 ** 30, 0, 2 ** 30, 1, 2 ** 30, 2 ** -600, 0, 0],
      clauses: ['SPA-04'],
    },
  },
  ...PATTERNS.flatMap((pattern) =>
    [0, 1, 2].map((axis) => ({
      ...{ comment: `along axis ${axis}`, pattern, shape: [3, 5, 6], axis, values: cycle(90) },
      clauses: ['SPA-01', 'SPA-07'],
    })),
  ),
  {
    ...{
      comment: 'six blocks, the last row and column of them ragged',
      pattern: 'block',
      shape: [33, 130],
      axis: 1,
    },
    values: cycle(33 * 130).map((x, i) => x * (((i % 130) >> 6) + 1)),
    clauses: ['SPA-01', 'SPA-06', 'SPA-07'],
  },
];

const bits = new DataView(new ArrayBuffer(8));
function hex64(x: number): string {
  bits.setFloat64(0, x);
  return bits.getBigUint64(0).toString(16).padStart(16, '0');
}

function valuesTest(context: PackContext, job: Job) {
  const { pattern, shape, axis, ties = 'lowest-index', odd = 'ceil' } = job;
  const values = Float64Array.from(job.values);
  const pruned = pruneValues(values, shape, { pattern, axis, ties, odd });
  const { rows, depth, kept } = pruned.mask;
  const matrix = Array.from({ length: rows }, () => new Array<number>(depth).fill(0));
  forEachElement(pruned.geometry, (index, row, position) => {
    matrix[row]![position] = values[index]!;
  });
  const defined = definedMask(
    matrix.map((row) => row.map(fromBinary64)),
    { pattern, ties, odd },
  );
  const digits = kept.join('');
  if (defined.kept.flat().map(Number).join('') !== digits)
    throw new Error(`${pattern}: the two paths differ`);
  const input = job.values.map(hex64);
  return {
    id: idOf(
      context.sha256,
      'prune',
      pattern,
      shape.join(),
      String(axis),
      String(ties),
      odd,
      input.join(' '),
    ),
    ...{ comment: job.comment, clauses: job.clauses, pattern, axis, ties, odd, shape, input, kept: digits },
    report: pruneReport(pruned),
  };
}

/** Blocks of drawn codes under scales near one another, one of them a NaN. */
function quantizedTest(context: PackContext, format: string, pattern: Pattern, axis: number) {
  const shape = [6, 40];
  const [size, scaleBytes] = format === 'hif4' ? [64, 4] : [32, 1];
  const blocks = 6 * Math.ceil(40 / size);
  const words = new Uint32Array((blocks * size) / 2);
  fillFamily({ family: 'bits', seed: context.seed, operand: 0, type: { bits: 8 }, channels: 1 }, 0, words);
  const codes = Uint8Array.from(words);
  const scales = Uint8Array.from({ length: blocks * scaleBytes }, (_, j) =>
    j % scaleBytes === 0 ? (j === scaleBytes ? 0xff : 0x7e + ((j / scaleBytes) & 1)) : words[j]!,
  );
  const pruned = pruneQuantized({ format, shape, axis: 1, codes, scales }, { pattern, axis });
  return {
    id: idOf(context.sha256, 'prune', format, pattern, String(axis), hexOf(codes), hexOf(scales)),
    ...{
      comment: `pruned along axis ${axis}, one scale a NaN, padding cleared`,
      clauses: ['SPA-03', 'SPA-08', 'SPA-16'],
    },
    ...{ format, pattern, axis, ties: 'lowest-index', odd: 'ceil', shape, 'block-axis': 1 },
    ...{
      codes: hexOf(codes),
      scales: hexOf(scales),
      pruned: hexOf(pruned.codes),
      report: pruneReport(pruned),
    },
  };
}

/** SPA-10 to SPA-12, SPA-14. Every pattern of nonzeros of one group. */
function* metadataTests(context: PackContext) {
  const conventions: Record<GroupPatternName, readonly Convention[]> = {
    ...{ '2:4': CONVENTIONS, '1:2': ['kept', 'pytorch'], '4:8': ['kept'] },
  };
  for (const pattern of Object.keys(GROUP_PATTERNS) as GroupPatternName[]) {
    const { group, unit, keep } = GROUP_PATTERNS[pattern];
    for (const convention of conventions[pattern]) {
      for (let flags = 0; flags < 2 ** (group / unit); flags++) {
        const nonzero = Array.from({ length: group }, (_, i) => (flags >> Math.floor(i / unit)) & 1);
        const many = nonzero.filter(Boolean).length > keep * unit;
        for (const overfull of many ? OVERFULL : (['error'] as const)) {
          yield metadataTest(context, pattern, convention, overfull, nonzero, many);
        }
      }
    }
  }
}

function metadataTest(
  context: PackContext,
  pattern: GroupPatternName,
  convention: Convention,
  overfull: Overfull,
  nonzero: readonly number[],
  many: boolean,
) {
  const digits = nonzero.join('');
  const common = {
    id: idOf(context.sha256, 'metadata', pattern, convention, overfull, digits),
    clauses: [
      'SPA-09',
      'SPA-10',
      ...(many ? ['SPA-11'] : ['SPA-14']),
      ...(pattern === '2:4' ? [] : ['SPA-12']),
    ],
    ...{ pattern, convention, overfull, ties: 'lowest-index', nonzero: digits },
  };
  if (many && overfull === 'error') return { ...common, result: 'invalid', error: 'E_TENSOR' };
  const words = Uint8Array.from(nonzero, (flag, i) => flag * (i + 1));
  const packed = compress(Uint8Array.from(nonzero), 1, nonzero.length, { pattern, convention, overfull });
  const back = expand(gather(words, packed), packed.nibbles, 1, nonzero.length, { pattern, convention }, 0);
  if (!many && back.join() !== words.join())
    throw new Error(`${pattern} ${convention} ${digits} does not expand`);
  const nibble = packed.nibbles[0]!.toString(16);
  return { ...common, result: 'valid', nibble, stored: [...packed.sources] };
}

function wordsTest(context: PackContext, form: WordForm, rows: number, groups: number) {
  const drawn = new Uint32Array(rows * groups);
  fillFamily({ family: 'bits', seed: context.seed, operand: 1, type: { bits: 4 }, channels: 1 }, 0, drawn);
  const nibbles = Uint8Array.from(drawn);
  const { words } = metadataWords(nibbles, rows, groups, form, 0x4);
  if (nibblesOfWords(words, rows, groups, form).join() !== nibbles.join())
    throw new Error(`${form} does not come back`);
  const digits = 2 * words.BYTES_PER_ELEMENT;
  const text = Array.from(nibbles, (n) => n.toString(16)).join('');
  return {
    id: idOf(context.sha256, 'words', form, String(rows), text),
    ...{ clauses: ['SPA-13'], form, rows, groups, empty: '4', nibbles: text },
    words: Array.from(words, (w) => w.toString(16).padStart(digits, '0')).join(' '),
  };
}

export function sparsityFile(context: PackContext) {
  const group = (subject: string, clauses: readonly string[], tests: readonly object[]) => ({
    subject,
    clauses,
    tests,
  });
  return {
    schema: SCHEMA,
    kind: 'sparsity' as const,
    generator: context.generator,
    groups: [
      group(
        'values',
        ['SPA-01', 'SPA-02', 'SPA-05', 'SPA-17'],
        JOBS.map((job) => valuesTest(context, job)),
      ),
      group(
        'quantized',
        ['SPA-03', 'SPA-08', 'SPA-16'],
        ['hif4', 'mxfp4'].flatMap((format) =>
          PATTERNS.flatMap((pattern) => [0, 1].map((axis) => quantizedTest(context, format, pattern, axis))),
        ),
      ),
      group('metadata', ['SPA-09', 'SPA-10', 'SPA-11', 'SPA-12', 'SPA-14'], [...metadataTests(context)]),
      group(
        'words',
        ['SPA-13'],
        [
          ...(['u8', 'u16', 'u32'] as const).map((form) => wordsTest(context, form, 3, 11)),
          wordsTest(context, 'sm80-u16', 64, 16),
          wordsTest(context, 'sm80-u32', 32, 32),
        ],
      ),
    ],
  } satisfies VectorFile & Record<string, unknown>;
}
