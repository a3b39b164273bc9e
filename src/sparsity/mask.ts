/**
 * The fast path of pruning: what a pattern keeps of a matrix of binary64 magnitudes, proven equal to definition.ts.
 * Sums of squares are compared by their rounded values where these are far enough apart, and exactly elsewhere.
 * Clauses: spec/sparsity.md SPA-01 to SPA-08.
 * @module
 */
import { add, compare, type Exact, fromNumber, isZero, multiply } from '../number/exact.ts';
import { SumOfSquares } from '../number/exact-sum.ts';
import type { PatternOptions } from './definition.ts';
import {
  BLOCK_DEPTH,
  BLOCK_ROWS,
  GROUP_PATTERNS,
  type GroupPatternName,
  isGroupPattern,
  keepCount,
} from './pattern.ts';
import { precedence, type TieRule } from './ties.ts';

/** What is kept of a matrix. */
export interface Mask {
  readonly rows: number;
  readonly depth: number;
  /** rows x depth, 1 where an element is kept. */
  readonly kept: Uint8Array;
  /** Decisions: groups, or 1 for all channels or blocks together. */
  readonly rankings: number;
  /** How many of them the tie rule decided, between candidates that are not zero. */
  readonly tied: number;
  /** SPA-07. Elements that the pattern adds to fill its last groups or blocks. */
  readonly padding: number;
}

/** SPA-02. -1, 0 or 1 by rank: NaN above infinity, infinity above every number. */
function compareMagnitudes(a: number, b: number): number {
  if (a > b) return 1;
  if (a < b) return -1;
  if (a === b) return 0;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** Where a sum of two squares, rounded, is within 2^-51 of itself: nothing in it has over- or underflowed. */
const SMALLEST_SURE = 2 ** -900;
const LARGEST_SURE = 2 ** 1000;
const MARGIN = 2 ** -50;

const exactSquares = (a: number, b: number): Exact => {
  const [x, y] = [fromNumber(a), fromNumber(b)];
  return add(multiply(x, x), multiply(y, y));
};

/** The rank of a pair beside its rounded sum of squares. */
const pairClass = (a: number, b: number): number =>
  Number.isNaN(a) || Number.isNaN(b)
    ? 2
    : a === Number.POSITIVE_INFINITY || b === Number.POSITIVE_INFINITY
      ? 1
      : 0;

/** SPA-04. -1, 0 or 1, as a^2 + b^2 is below, equal to or above c^2 + d^2. */
export function comparePairs(a: number, b: number, c: number, d: number): number {
  const [left, right] = [pairClass(a, b), pairClass(c, d)];
  if (left !== 0 || right !== 0) return Math.sign(left - right);
  if ((a === c && b === d) || (a === d && b === c)) return 0;
  const [s, t] = [a * a + b * b, c * c + d * d];
  const [low, high] = s < t ? [s, t] : [t, s];
  if (low > SMALLEST_SURE && high < LARGEST_SURE && high - low > high * MARGIN) return s < t ? -1 : 1;
  return compare(exactSquares(a, b), exactSquares(c, d));
}

const group = new Float64Array(8);

/** How one group goes: a bit for each unit that is kept, and above them a bit where a tie decided. */
const TIED = 256;

function groupBits(
  units: number,
  keep: number,
  place: Uint32Array,
  order: (i: number, j: number) => number,
  isZeroUnit: (i: number) => boolean,
): number {
  let bits = 0;
  let last = -1;
  let next = -1;
  for (let i = 0; i < units; i++) {
    let before = 0;
    for (let j = 0; j < units; j++) {
      if (j === i) continue;
      const sign = order(j, i);
      if (sign > 0 || (sign === 0 && place[j]! < place[i]!)) before++;
    }
    if (before < keep) bits |= 1 << i;
    if (before === keep - 1) last = i;
    if (before === keep) next = i;
  }
  return order(last, next) === 0 && !isZeroUnit(last) ? bits | TIED : bits;
}

function maskOfGroups(
  magnitudes: Float64Array,
  rows: number,
  depth: number,
  pattern: GroupPatternName,
  ties: TieRule,
): Mask {
  const { group: size, unit, keep } = GROUP_PATTERNS[pattern];
  const units = size / unit;
  const place = precedence(ties, units);
  const order =
    unit === 1
      ? (i: number, j: number) => compareMagnitudes(group[i]!, group[j]!)
      : (i: number, j: number) =>
          comparePairs(group[2 * i]!, group[2 * i + 1]!, group[2 * j]!, group[2 * j + 1]!);
  const isZeroUnit =
    unit === 1 ? (i: number) => group[i] === 0 : (i: number) => group[2 * i] === 0 && group[2 * i + 1] === 0;
  const kept = new Uint8Array(rows * depth);
  const groups = Math.ceil(depth / size);
  let tied = 0;
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      const start = g * size;
      const count = Math.min(size, depth - start);
      const at = r * depth + start;
      for (let j = 0; j < size; j++) group[j] = j < count ? magnitudes[at + j]! : 0;
      const bits = groupBits(units, keep, place, order, isZeroUnit);
      if (bits >= TIED) tied++;
      for (let j = 0; j < count; j++) kept[at + j] = (bits >> (unit === 1 ? j : j >> 1)) & 1;
    }
  }
  return { rows, depth, kept, rankings: rows * groups, tied, padding: rows * (groups * size - depth) };
}

/** The sum of squares of a candidate of many elements. */
class Norm {
  readonly #sum = new SumOfSquares();
  #class = 0;

  add(magnitude: number): void {
    const found = pairClass(magnitude, 0);
    if (found === 0) this.#sum.addSquare(magnitude);
    else this.#class = Math.max(this.#class, found);
  }

  key(): { readonly class: number; readonly sum: Exact } {
    return { class: this.#class, sum: this.#sum.value() };
  }
}

/** SPA-04, SPA-05. Which of many candidates stay. */
function choose(norms: readonly Norm[], keep: number, ties: TieRule): { kept: Uint8Array; tied: number } {
  const keys = norms.map((norm) => norm.key());
  const place = precedence(ties, keys.length);
  const above = (i: number, j: number): number => {
    const [a, b] = [keys[i]!, keys[j]!];
    return b.class - a.class || (a.class === 0 ? compare(b.sum, a.sum) : 0);
  };
  const order = keys.map((_, i) => i).sort((i, j) => above(i, j) || place[i]! - place[j]!);
  const kept = new Uint8Array(keys.length);
  for (const i of order.slice(0, keep)) kept[i] = 1;
  const [last, next] = [order[keep - 1], order[keep]];
  if (last === undefined || next === undefined || above(last, next) !== 0) return { kept, tied: 0 };
  const zero = keys[last]!.class === 0 && isZero(keys[last]!.sum);
  return { kept, tied: zero ? 0 : 1 };
}

function maskOfCandidates(
  magnitudes: Float64Array,
  rows: number,
  depth: number,
  { pattern, ties, odd }: PatternOptions,
): Mask {
  const across = Math.ceil(depth / BLOCK_DEPTH);
  const down = Math.ceil(rows / BLOCK_ROWS);
  const byChannel = pattern === 'channel';
  const count = byChannel ? depth : down * across;
  const candidate = byChannel
    ? (_: number, k: number) => k
    : (r: number, k: number) => (r >> 5) * across + (k >> 6); // 32 rows, 64 positions
  const norms = Array.from({ length: count }, () => new Norm());
  for (let r = 0, at = 0; r < rows; r++) {
    for (let k = 0; k < depth; k++, at++) norms[candidate(r, k)]!.add(magnitudes[at]!);
  }
  const choice = choose(norms, keepCount(count, odd), ties);
  const kept = new Uint8Array(rows * depth);
  for (let r = 0, at = 0; r < rows; r++) {
    for (let k = 0; k < depth; k++, at++) kept[at] = choice.kept[candidate(r, k)]!;
  }
  const padding = byChannel ? 0 : count * BLOCK_ROWS * BLOCK_DEPTH - rows * depth;
  return { rows, depth, kept, rankings: count > 0 ? 1 : 0, tied: choice.tied, padding };
}

/**
 * SPA-01. What a pattern keeps of a matrix whose rows run along the axis.
 * @param magnitudes rows x depth, not negative; NaN and infinity may be among them
 * @throws Fp4Error E_USAGE for an order of ties that does not fit
 */
export const maskOf = (
  magnitudes: Float64Array,
  rows: number,
  depth: number,
  options: PatternOptions,
): Mask =>
  isGroupPattern(options.pattern)
    ? maskOfGroups(magnitudes, rows, depth, options.pattern, options.ties)
    : maskOfCandidates(magnitudes, rows, depth, options);
