/**
 * The definition of pruning, on exact numbers: what each pattern ranks, and which candidates stay.
 * Clauses: spec/sparsity.md SPA-01 to SPA-08.
 * @module
 */
import type { FloatValue } from '../number/binary-format.ts';
import { add, compare, type Exact, isZero, multiply, ZERO } from '../number/exact.ts';
import {
  BLOCK_DEPTH,
  BLOCK_ROWS,
  GROUP_PATTERNS,
  type GroupPattern,
  isGroupPattern,
  keepCount,
  type OddRule,
  type Pattern,
} from './pattern.ts';
import { precedence, type TieRule } from './ties.ts';

/** What a candidate is ranked by: a magnitude or a sum of squares. */
export type Key = { readonly kind: 'finite'; readonly value: Exact } | { readonly kind: 'infinite' | 'nan' };

const RANKS = { finite: 0, infinite: 1, nan: 2 } as const;

/** SPA-02. NaN stands above infinity, and infinity above every number. */
export function compareKeys(a: Key, b: Key): number {
  if (a.kind === 'finite' && b.kind === 'finite') return compare(a.value, b.value);
  return RANKS[a.kind] - RANKS[b.kind];
}

const isZeroKey = (key: Key): boolean => key.kind === 'finite' && isZero(key.value);

/** SPA-02. The magnitude of an element; -0 is zero. */
const magnitudeKey = (x: FloatValue): Key =>
  x.kind === 'finite' ? { kind: 'finite', value: x.magnitude } : { kind: x.kind };

/** SPA-04. The sum of the squares of several elements. */
function squaresKey(elements: readonly FloatValue[]): Key {
  let sum: Exact = ZERO;
  for (const x of elements) if (x.kind === 'finite') sum = add(sum, multiply(x.magnitude, x.magnitude));
  const worst = elements.map(magnitudeKey).find((key) => key.kind === 'nan');
  if (worst !== undefined) return worst;
  return elements.some((x) => x.kind === 'infinite') ? { kind: 'infinite' } : { kind: 'finite', value: sum };
}

export interface Choice {
  /** By candidate. */
  readonly kept: readonly boolean[];
  /** Whether equal candidates, not zero, were told apart by the tie rule alone. */
  readonly tied: boolean;
}

/** SPA-05. Which candidates stay: the `keep` of largest key, equal ones in the order of preference. */
export function choose(keys: readonly Key[], keep: number, ties: TieRule): Choice {
  const place = precedence(ties, keys.length);
  const order = keys
    .map((_, i) => i)
    .sort((i, j) => compareKeys(keys[j]!, keys[i]!) || place[i]! - place[j]!);
  const kept = keys.map(() => false);
  for (const i of order.slice(0, keep)) kept[i] = true;
  const [last, next] = [order[keep - 1], order[keep]];
  const tied =
    last !== undefined &&
    next !== undefined &&
    !isZeroKey(keys[last]!) &&
    compareKeys(keys[last]!, keys[next]!) === 0;
  return { kept, tied };
}

/** What is kept of a matrix, by row and position, and how many rankings a tie decided. */
export interface DefinedMask {
  readonly kept: readonly (readonly boolean[])[];
  readonly tied: number;
}

export interface PatternOptions {
  readonly pattern: Pattern;
  readonly ties: TieRule;
  readonly odd: OddRule;
}

const PADDING: FloatValue = { kind: 'finite', negative: false, magnitude: ZERO };

/** Consecutive parts of n elements each; what is missing in the last is padded with zeros (SPA-07). */
const parts = (row: readonly FloatValue[], n: number): FloatValue[][] =>
  Array.from({ length: Math.ceil(row.length / n) }, (_, p) =>
    Array.from({ length: n }, (_, j) => row[p * n + j] ?? PADDING),
  );

function maskOfGroups(
  rows: readonly (readonly FloatValue[])[],
  { group, unit, keep }: GroupPattern,
  ties: TieRule,
): DefinedMask {
  let tied = 0;
  const kept = rows.map((row) => {
    const flags = parts(row, group).flatMap((elements) => {
      const keys = unit === 1 ? elements.map(magnitudeKey) : parts(elements, unit).map(squaresKey);
      const choice = choose(keys, keep, ties);
      if (choice.tied) tied++;
      return choice.kept.flatMap((flag) => Array.from({ length: unit }, () => flag));
    });
    return flags.slice(0, row.length);
  });
  return { kept, tied };
}

/**
 * SPA-01. What a pattern keeps of a matrix whose rows run along the axis.
 * @throws Fp4Error E_USAGE for an order of ties that does not fit
 */
export function definedMask(
  rows: readonly (readonly FloatValue[])[],
  { pattern, ties, odd }: PatternOptions,
): DefinedMask {
  if (isGroupPattern(pattern)) return maskOfGroups(rows, GROUP_PATTERNS[pattern], ties);
  const depth = rows[0]?.length ?? 0;
  // The candidate of an element, and how many there are.
  const across = Math.ceil(depth / BLOCK_DEPTH);
  const candidate = (r: number, k: number): number =>
    pattern === 'channel' ? k : Math.floor(r / BLOCK_ROWS) * across + Math.floor(k / BLOCK_DEPTH);
  const count = pattern === 'channel' ? depth : Math.ceil(rows.length / BLOCK_ROWS) * across;
  const members = Array.from({ length: count }, (): FloatValue[] => []);
  for (const [r, row] of rows.entries())
    for (const [k, x] of row.entries()) members[candidate(r, k)]!.push(x);
  const choice = choose(members.map(squaresKey), keepCount(count, odd), ties);
  return {
    kept: rows.map((row, r) => row.map((_, k) => choice.kept[candidate(r, k)]!)),
    tied: Number(choice.tied),
  };
}
