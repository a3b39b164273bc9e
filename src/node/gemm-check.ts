/**
 * The verdict on a result file: every product of the batch judged, the worst outputs with their terms, the accumulators that
 * explain all of it. Clauses: spec/gemm.md GEM-13 to GEM-17.
 * @module
 */
import { readFileSync } from 'node:fs';
import { Fp4Error, knownNames } from '../error.ts';
import { type Acceptance, truncatingModel } from '../matmul/acceptance.ts';
import { type BatchedOperand, batchOf } from '../matmul/batch.ts';
import { isNaNWord } from '../matmul/bound.ts';
import { exactElement } from '../matmul/exact-dot.ts';
import { gemm } from '../matmul/gemm.ts';
import { ACCUMULATOR_NAMES, accumulatorByName } from '../matmul/named-accumulator.ts';
import type { OutputName } from '../matmul/output.ts';
import { outputWord } from '../matmul/output.ts';
import { type Conditions, type Outside, sortedTerms, type Tile, verdict } from '../matmul/verdict.ts';
import { fromBinary64, toNumber } from '../number/floats.ts';
import { attempt } from './system-error.ts';

const ACCEPTANCES = ['exact', 'bits:ACCUMULATOR', 'bound:fp32', 'bound:@FILE.json'];

/** GEM-14. The acceptance that a name stands for. @throws Fp4Error E_USAGE, E_PARAMETER, E_FILE */
export function acceptanceByName(name: string): Acceptance {
  if (name === 'exact') return { kind: 'exact', name };
  if (name === 'bound:fp32') return { kind: 'fp32', name };
  if (name.startsWith('bits:')) {
    const accumulate = accumulatorByName(name.slice('bits:'.length));
    return { kind: 'bits', name, ...(accumulate && { accumulate }) };
  }
  if (name.startsWith('bound:@')) {
    const file = name.slice('bound:@'.length);
    const text = attempt(file, () => readFileSync(file, 'utf8'));
    return { kind: 'truncating', name, model: truncatingModel(text, file) };
  }
  throw new Fp4Error('E_USAGE', `unknown acceptance "${name}"; ${knownNames(name, ACCEPTANCES)}`);
}

/** GEM-15. The output furthest outside. */
export interface Worst {
  /** Leading dimensions as one index, row, column. */
  readonly index: readonly [batch: number, row: number, column: number];
  readonly found: string;
  readonly low: string;
  readonly high: string;
  /** Representable numbers between it and the nearest that is admitted. */
  readonly distance: number;
  /** The exact sum, rounded to the output's word, and as a binary64 number. */
  readonly exact: string;
  readonly value: number | string;
  /** Largest magnitude first. */
  readonly terms: readonly { readonly k: number; readonly value: number | string }[];
  readonly termCount: number;
}

export interface AcceptanceReport {
  readonly acceptance: string;
  readonly outside: number;
  readonly conditions?: Conditions;
  readonly worst?: Worst;
  readonly tiles?: readonly {
    readonly batch: number;
    readonly row: number;
    readonly column: number;
    readonly outside: number;
  }[];
}

export interface CheckReport {
  readonly outputs: number;
  readonly output: OutputName;
  readonly acceptances: readonly AcceptanceReport[];
  /** GEM-17. */
  readonly explainedBy: string | null;
}

export interface CheckJob {
  readonly a: BatchedOperand;
  readonly b: BatchedOperand;
  readonly words: Uint32Array;
  readonly output: OutputName;
  readonly acceptances: readonly Acceptance[];
  readonly c?: Float32Array;
  readonly tile?: Tile;
}

/** Terms that a report spells out. */
const SHOWN_TERMS = 64;

const plain = (x: number): number | string => (Number.isFinite(x) ? x : String(x));

/** GEM-13. Judges a result. */
export function checkProduct(job: CheckJob): CheckReport {
  const batch = batchOf(job.a, job.b);
  const size = batch.rows * batch.columns;
  const hex = (word: number): string => word.toString(16).padStart(job.output === 'f32' ? 8 : 4, '0');
  const results: { -readonly [K in keyof AcceptanceReport]: AcceptanceReport[K] }[] = job.acceptances.map(
    ({ name }) => ({ acceptance: name, outside: 0 }),
  );
  const part = (index: number) => ({
    ...batch.at(index),
    found: job.words.subarray(index * size, (index + 1) * size),
    ...(job.c && { c: job.c.subarray(index * size, (index + 1) * size) }),
  });
  const worstOf = (index: number, { worst }: Outside): Worst => {
    const { i, j, distance, range } = worst!;
    const { a, b, found, c } = part(index);
    const value = exactElement(a, i, b, j, fromBinary64(c?.[i * batch.columns + j] ?? 0));
    const terms = sortedTerms(a, i, b, j);
    const number =
      value.kind === 'nan'
        ? Number.NaN
        : value.kind === 'infinite'
          ? value.negative
            ? Number.NEGATIVE_INFINITY
            : Number.POSITIVE_INFINITY
          : toNumber(value.magnitude) * (value.negative ? -1 : 1);
    return {
      index: [index, i, j],
      found: hex(found[i * batch.columns + j]!),
      low: hex(range.low),
      high: hex(range.high),
      distance,
      exact: hex(outputWord(value, job.output)),
      value: plain(number),
      terms: terms.slice(0, SHOWN_TERMS).map((t) => ({ k: t.k, value: plain(t.value) })),
      termCount: terms.length,
    };
  };
  for (let index = 0; index < batch.count; index++) {
    const judged = verdict({
      ...part(index),
      output: job.output,
      acceptances: job.acceptances,
      ...(job.tile && { tile: job.tile }),
    });
    for (const [k, one] of judged.acceptances.entries()) {
      const result = results[k]!;
      result.outside += one.outside;
      if (one.conditions) result.conditions = addConditions(result.conditions, one.conditions);
      if (one.worst && one.worst.distance > (result.worst?.distance ?? 0)) result.worst = worstOf(index, one);
      if (job.tile) {
        const tiles = [...one.tiles].map(([key, outside]) => {
          const [row, column] = key.split(',').map(Number) as [number, number];
          return { batch: index, row, column, outside };
        });
        tiles.sort((x, y) => x.row - y.row || x.column - y.column);
        result.tiles = [...(result.tiles ?? []), ...tiles];
      }
    }
  }
  return {
    outputs: job.words.length,
    output: job.output,
    acceptances: results,
    explainedBy: explainedBy(
      job,
      Array.from({ length: batch.count }, (_, index) => part(index)),
    ),
  };
}

const addConditions = (x: Conditions | undefined, y: Conditions): Conditions => ({
  inexact: (x?.inexact ?? 0) + y.inexact,
  overflow: (x?.overflow ?? 0) + y.overflow,
  subnormal: (x?.subnormal ?? 0) + y.subnormal,
});

type Part = {
  a: BatchedOperand['operand'];
  b: BatchedOperand['operand'];
  found: Uint32Array;
  c?: Float32Array;
};

/** GEM-17. The first accumulator, in the order of their list, that gives every output bit for bit. */
function explainedBy({ output }: CheckJob, parts: readonly Part[]): string | null {
  const equal = (found: number, expected: number): boolean =>
    found === expected || (isNaNWord(found, output) && isNaNWord(expected, output));
  for (const name of ACCUMULATOR_NAMES) {
    const accumulate = accumulatorByName(name);
    const explains = parts.every(({ a, b, found, c }) => {
      if (!accumulate) {
        return gemm(a, b, { output, ...(c && { c }) }).every((word, at) => equal(found[at]!, word));
      }
      const start = c ? new Uint32Array(c.buffer, c.byteOffset, c.length) : undefined;
      return found.every((word, at) =>
        equal(word, accumulate(a, Math.floor(at / b.rows), b, at % b.rows, start?.[at] ?? 0)),
      );
    });
    if (explains) return name;
  }
  return null;
}
