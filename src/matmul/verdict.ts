/**
 * The verdict on a product that someone else computed: how many outputs lie outside each acceptance, the worst of them, where
 * they are, and where a bound's conditions do not hold. Clauses: spec/gemm.md GEM-13 to GEM-17, BND-01 to BND-07.
 * @module
 */

import type { FloatValue } from '../number/binary-format.ts';
import { type Exact, fromNumber } from '../number/exact.ts';
import { fromBinary64 } from '../number/floats.ts';
import { exponentOf, twoTo } from '../number/number-bits.ts';
import type { Acceptance } from './acceptance.ts';
import {
  admitted,
  distance,
  fp32Bound,
  isNaNWord,
  type Magnitudes,
  magnitudesOf,
  type Range,
  rank,
  truncatingBound,
} from './bound.ts';
import { edges, fp32Interval, type Interval, truncatingInterval } from './bound-screen.ts';
import { indicators, magnitudes } from './derived.ts';
import { exactElement, terms } from './exact-dot.ts';
import { ExactProduct } from './exact-panel.ts';
import type { RowFacts } from './exact-rows.ts';
import { FINITE, type Operand } from './operand.ts';
import { type OutputName, outputWord, outputWords } from './output.ts';

/** Outputs on which a bound proves nothing, by the condition of BND-04 that does not hold; it is judged all the same. */
export interface Conditions {
  /** A term has bits that FP32 does not hold. */
  inexact: number;
  /** Some order could overflow on the way. */
  overflow: number;
  /** A partial sum may be subnormal, which a unit that flushes would lose. */
  subnormal: number;
}

export interface Outside {
  readonly acceptance: string;
  /** Outputs outside. */
  outside: number;
  /** Of a bound alone. */
  readonly conditions?: Conditions;
  /** The output furthest outside, in representable numbers; the first of equals. */
  worst?: { readonly i: number; readonly j: number; readonly distance: number; readonly range: Range };
  /** GEM-16. Outputs outside, by tile, row by row, where there is one. */
  readonly tiles: Map<string, number>;
}

/** Rows and columns of the tiles that differences are counted by. */
export type Tile = readonly [rows: number, columns: number];

export interface VerdictJob {
  readonly a: Operand;
  readonly b: Operand;
  /** M x N words of the output type. */
  readonly found: Uint32Array;
  readonly output: OutputName;
  readonly acceptances: readonly Acceptance[];
  readonly c?: Float32Array;
  readonly tile?: Tile;
}

const NAN_DISTANCE = 2 ** 33;

/** Everything the screen knows of an output. */
interface Known {
  readonly i: number;
  readonly j: number;
  readonly sum: number;
  readonly count: number;
  readonly total: number;
  readonly c: number;
}

/** Largest integer of a block's element. */
const LARGEST_INTEGER: Readonly<Record<string, number>> = { hif4: 28, mxfp4: 12 };
/** Subnormal elements align as the smallest normal ones do. */
const SMALLEST_NORMAL: Readonly<Record<string, number>> = { bf16: -126, f16: -14, f32: -126 };
const LARGEST = (2 - 2 ** -24) * 2 ** 127;
const FLUSHED = -126;
const FP32_LOWEST = -149;

/** BND-05. The largest exponent that an element or the scale of a group can give in alignment, for each row. */
export function alignmentExponents(x: Operand): Int16Array {
  const largest = LARGEST_INTEGER[x.format];
  const smallest = SMALLEST_NORMAL[x.format] ?? Number.NEGATIVE_INFINITY;
  const found = new Int16Array(x.rows).fill(-1000);
  for (let row = 0; row < x.rows; row++) {
    for (let h = row * x.groups; h < (row + 1) * x.groups; h++) {
      if (x.marks[h] !== FINITE) continue;
      const integer = largest ?? Math.abs(x.integers[h]!);
      if (integer === 0) continue;
      const exponent = exponentOf(integer * x.significands[h]! * twoTo(x.exponents[h]!));
      found[row] = Math.max(found[row]!, exponent, smallest);
    }
  }
  return found;
}

class Judge {
  readonly #job: VerdictJob;
  readonly #facts: readonly [RowFacts, RowFacts];
  readonly #alignments: readonly [Int16Array, Int16Array];

  constructor(job: VerdictJob, facts: readonly [RowFacts, RowFacts]) {
    this.#job = job;
    this.#facts = facts;
    this.#alignments = [alignmentExponents(job.a), alignmentExponents(job.b)];
  }

  #alignment({ i, j }: Known): number {
    // A product of two significands below 2 can reach 4.
    return this.#alignments[0][i]! + this.#alignments[1][j]! + 1;
  }

  #values({ i, j, c }: Known): FloatValue[] {
    return [...terms(this.#job.a, i, this.#job.b, j), fromBinary64(c)];
  }

  #exactBound(acceptance: Acceptance, known: Known, m: Magnitudes): Exact {
    if (acceptance.kind === 'truncating') {
      return truncatingBound(acceptance.model, this.#job.a.depth, m, this.#alignment(known));
    }
    return fp32Bound(m);
  }

  /** BND-03, on exact numbers. */
  exactRange(acceptance: Acceptance, known: Known): Range {
    const { a, b, output } = this.#job;
    const value = exactElement(a, known.i, b, known.j, fromBinary64(known.c));
    if (value.kind !== 'finite' || acceptance.kind === 'exact') {
      const word = outputWord(value, output);
      return { low: word, high: word };
    }
    if (acceptance.kind === 'bits') {
      const word =
        acceptance.accumulate?.(a, known.i, b, known.j, floatWord(known.c)) ?? outputWord(value, output);
      return { low: word, high: word };
    }
    const m = magnitudesOf(this.#values(known));
    const sum = value.negative
      ? { ...value.magnitude, significand: -value.magnitude.significand }
      : value.magnitude;
    return admitted(sum, this.#exactBound(acceptance, known, m), output);
  }

  #interval(acceptance: Acceptance, known: Known): Interval | undefined {
    if (acceptance.kind === 'truncating') {
      return truncatingInterval(acceptance.model, this.#job.a.depth, known.total, this.#alignment(known));
    }
    return fp32Interval(known.count, known.total);
  }

  /** The range of a bound, by binary64 where that decides both ends; `word` alone has to be told apart from it. */
  #boundRange(acceptance: Acceptance, known: Known, word: number): Range {
    const { output } = this.#job;
    const interval = this.#interval(acceptance, known);
    if (interval === undefined || !Number.isFinite(known.sum)) return this.exactRange(acceptance, known);
    const [lower, upper] = edges(known.sum, interval);
    const rounded = outputWords(Float64Array.of(lower.low, lower.high, upper.low, upper.high), output);
    const [r0, r1, r2, r3] = Array.from(rounded, (w) => rank(w, output)) as [number, number, number, number];
    const place = rank(word, output);
    const sure = r0 === r1 && r2 === r3;
    const inside = place >= r1 && place <= r2;
    return sure || inside ? { low: rounded[1]!, high: rounded[2]! } : this.exactRange(acceptance, known);
  }

  /** How far a word lies outside, in representable numbers, and the range it was held against. */
  judge(
    acceptance: Acceptance,
    known: Known,
    word: number,
    exactWord: number,
  ): { distance: number; range: Range } {
    const { output } = this.#job;
    const same = { low: exactWord, high: exactWord };
    const wantsNaN = isNaNWord(exactWord, output);
    if (acceptance.kind === 'bits' && acceptance.accumulate) {
      const range = this.exactRange(acceptance, known);
      return { distance: bitDistance(word, range.low, output), range };
    }
    if (
      acceptance.kind === 'exact' ||
      acceptance.kind === 'bits' ||
      wantsNaN ||
      !Number.isFinite(known.sum)
    ) {
      const strict = acceptance.kind === 'exact' || acceptance.kind === 'bits';
      const d =
        strict || wantsNaN || isNaNWord(word, output)
          ? bitDistance(word, exactWord, output)
          : distance(word, same, output);
      return { distance: d, range: same };
    }
    if (isNaNWord(word, output)) return { distance: NAN_DISTANCE, range: same };
    const range = this.#boundRange(acceptance, known, word);
    return { distance: distance(word, range, output), range };
  }

  /** BND-04. Counts the conditions that do not hold for an output. */
  conditions(known: Known, conditions: Conditions): void {
    const { a, b } = this.#job;
    const { i, j, total, count } = known;
    if (!Number.isFinite(known.sum) || count === 0) return;
    const quantum = this.#facts[0].quantum[i]! + this.#facts[1].quantum[j]!;
    const suspect = quantum < FP32_LOWEST || a.format === 'f32' || b.format === 'f32';
    if (suspect && !this.#termsFit(i, j)) conditions.inexact++;
    const growth = fp32Interval(count, total);
    if (growth === undefined || total + growth.high >= LARGEST) conditions.overflow++;
    const small = known.c === 0 ? quantum : Math.min(quantum, lowestBit(known.c));
    if (small < FLUSHED) conditions.subnormal++;
  }

  #termsFit(i: number, j: number): boolean {
    for (const term of terms(this.#job.a, i, this.#job.b, j)) {
      if (term.kind !== 'finite' || !fitsFP32(term.magnitude)) return false;
    }
    return true;
  }
}

const single = new Float32Array(1);
const singleWord = new Uint32Array(single.buffer);

function floatWord(x: number): number {
  single[0] = x;
  return singleWord[0]!;
}

function fitsFP32({ significand, exponent }: Exact): boolean {
  // Every product of two elements is a binary64 number.
  const value = Number(significand) * twoTo(exponent);
  return Math.fround(value) === value;
}

/** Exponent of the lowest bit that is set. */
function lowestBit(x: number): number {
  const { significand, exponent } = fromNumber(Math.abs(x));
  return exponentOf(Number(significand & -significand)) + exponent;
}

/** GEM-14. Bits are compared with bits: only a NaN equals every NaN. */
function bitDistance(word: number, expected: number, output: OutputName): number {
  if (word === expected) return 0;
  const [x, y] = [isNaNWord(word, output), isNaNWord(expected, output)];
  if (x || y) return x && y ? 0 : NAN_DISTANCE;
  return Math.max(1, Math.abs(rank(word, output) - rank(expected, output)));
}

export interface Verdict {
  readonly outputs: number;
  readonly acceptances: readonly Outside[];
}

/** GEM-13. Judges every output. */
export function verdict(job: VerdictJob): Verdict {
  const { a, b, found, output, acceptances, c, tile } = job;
  const columns = b.rows;
  const product = new ExactProduct(a, b);
  const judge = new Judge(job, product.facts);
  const addend = c === undefined ? undefined : (i: number, j: number) => c[i * columns + j]!;
  const bounds = acceptances.some(({ kind }) => kind === 'fp32' || kind === 'truncating');
  const totals = bounds
    ? new ExactProduct(magnitudes(a), magnitudes(b)).panels(
        0,
        a.rows,
        addend && ((i, j) => Math.abs(addend(i, j))),
      )
    : undefined;
  const counts = bounds
    ? new ExactProduct(indicators(a), indicators(b)).panels(
        0,
        a.rows,
        addend && ((i, j) => Number(addend(i, j) !== 0)),
      )
    : undefined;
  const results = acceptances.map(
    ({ name, kind }): Outside => ({
      acceptance: name,
      outside: 0,
      tiles: new Map(),
      ...((kind === 'fp32' || kind === 'truncating') && {
        conditions: { inexact: 0, overflow: 0, subnormal: 0 },
      }),
    }),
  );
  for (const panel of product.panels(0, a.rows, addend)) {
    const total = totals?.next().value as typeof panel | undefined;
    const count = counts?.next().value as typeof panel | undefined;
    const words = outputWords(panel.sums, output);
    for (let at = 0; at < words.length; at++) {
      const i = panel.i0 + Math.floor(at / panel.columns);
      const j = panel.j0 + (at % panel.columns);
      const word = found[i * columns + j]!;
      const known: Known = {
        i,
        j,
        sum: panel.sums[at]!,
        count: count?.sums[at] ?? 0,
        total: total?.sums[at] ?? 0,
        c: addend?.(i, j) ?? 0,
      };
      for (const [k, acceptance] of acceptances.entries()) {
        const result = results[k]!;
        if (result.conditions) judge.conditions(known, result.conditions);
        const { distance: d, range } = judge.judge(acceptance, known, word, words[at]!);
        if (d === 0) continue;
        result.outside++;
        if (d > (result.worst?.distance ?? 0)) result.worst = { i, j, distance: d, range };
        if (tile) {
          const key = `${Math.floor(i / tile[0])},${Math.floor(j / tile[1])}`;
          result.tiles.set(key, (result.tiles.get(key) ?? 0) + 1);
        }
      }
    }
  }
  return { outputs: found.length, acceptances: results };
}

/** The range that an acceptance admits at every output, as a case folder states it; NaN where only a NaN is right. */
export function ranges(
  job: Omit<VerdictJob, 'found' | 'acceptances'>,
  acceptance: Acceptance,
): { low: Uint32Array; high: Uint32Array } {
  const { a, b, c } = job;
  const judge = new Judge(
    { ...job, found: new Uint32Array(0), acceptances: [] },
    new ExactProduct(a, b).facts,
  );
  const low = new Uint32Array(a.rows * b.rows);
  const high = new Uint32Array(a.rows * b.rows);
  for (let i = 0; i < a.rows; i++) {
    for (let j = 0; j < b.rows; j++) {
      const at = i * b.rows + j;
      const range = judge.exactRange(acceptance, { i, j, sum: 0, count: 0, total: 0, c: c?.[at] ?? 0 });
      low[at] = range.low;
      high[at] = range.high;
    }
  }
  return { low, high };
}

/** GEM-15. The terms of an output, largest magnitude first, then in the order of K; those that are zero are left out. */
export function sortedTerms(a: Operand, i: number, b: Operand, j: number): { k: number; value: number }[] {
  const all: { k: number; value: number }[] = [];
  let k = 0;
  for (const term of terms(a, i, b, j)) {
    if (term.kind === 'finite') {
      const magnitude = Number(term.magnitude.significand) * twoTo(term.magnitude.exponent);
      if (magnitude !== 0) all.push({ k, value: term.negative ? -magnitude : magnitude });
    } else {
      all.push({
        k,
        value:
          term.kind === 'nan'
            ? Number.NaN
            : term.negative
              ? Number.NEGATIVE_INFINITY
              : Number.POSITIVE_INFINITY,
      });
    }
    k++;
  }
  const size = (x: number): number => (Number.isNaN(x) ? Number.POSITIVE_INFINITY : Math.abs(x));
  return all.sort((x, y) =>
    size(x.value) === size(y.value) ? x.k - y.k : size(y.value) > size(x.value) ? 1 : -1,
  );
}
