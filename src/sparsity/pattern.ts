/**
 * The patterns of structured sparsity: what is kept or pruned together, out of how many, and how many stay.
 * Clauses: spec/sparsity.md SPA-01, SPA-06.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';

/** SPA-01. Patterns inside small groups along the axis. */
export interface GroupPattern {
  /** Consecutive elements of a group. */
  readonly group: number;
  /** Consecutive elements that stay or go together. */
  readonly unit: number;
  /** Units of a group that stay. */
  readonly keep: number;
}

export const GROUP_PATTERNS = {
  '2:4': { group: 4, unit: 1, keep: 2 },
  '1:2': { group: 2, unit: 1, keep: 1 },
  '4:8': { group: 8, unit: 2, keep: 2 },
} as const satisfies Readonly<Record<string, GroupPattern>>;

export type GroupPatternName = keyof typeof GROUP_PATTERNS;

export const PATTERNS = ['2:4', '1:2', '4:8', 'channel', 'block'] as const;
export type Pattern = (typeof PATTERNS)[number];

/** SPA-01. Rows and positions of a block. */
export const BLOCK_ROWS = 32;
export const BLOCK_DEPTH = 64;

/** @throws Fp4Error E_USAGE for a name that is no pattern */
export function patternByName(name: string): Pattern {
  if ((PATTERNS as readonly string[]).includes(name)) return name as Pattern;
  throw new Fp4Error('E_USAGE', `unknown pattern "${name}"; ${knownNames(name, PATTERNS)}`);
}

export const isGroupPattern = (pattern: Pattern): pattern is GroupPatternName =>
  Object.hasOwn(GROUP_PATTERNS, pattern);

/** SPA-06. How many of an odd number of channels or blocks stay. */
export const ODD_RULES = ['ceil', 'floor', 'half-even'] as const;
export type OddRule = (typeof ODD_RULES)[number];

/** SPA-06. How many of n channels or blocks stay. Under half-even it is n / 2 rounded half-even that is pruned. */
export function keepCount(n: number, odd: OddRule): number {
  const lower = Math.floor(n / 2);
  if (n % 2 === 0 || odd === 'floor') return lower;
  const prunesUpper = odd === 'half-even' && lower % 2 === 1;
  return prunesUpper ? lower : lower + 1;
}
