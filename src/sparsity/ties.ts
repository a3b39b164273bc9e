/**
 * Which of several equal candidates stays. Clauses: spec/sparsity.md SPA-05.
 * @module
 */
import { Fp4Error } from '../error.ts';

export const TIE_RULES = ['lowest-index', 'highest-index'] as const;

/** A rule by name, or an explicit order: the indices of the candidates, the one that wins first. */
export type TieRule = (typeof TIE_RULES)[number] | readonly number[];

/**
 * SPA-05. The place of each of n candidates in the order in which equal ones are preferred, 0 the first.
 * @throws Fp4Error E_USAGE where an explicit order is no permutation of 0 to n - 1
 */
export function precedence(ties: TieRule, n: number): Uint32Array {
  const places = new Uint32Array(n);
  if (ties === 'lowest-index' || ties === 'highest-index') {
    for (let i = 0; i < n; i++) places[i] = ties === 'lowest-index' ? i : n - 1 - i;
    return places;
  }
  const seen = new Set(ties);
  const permutation =
    ties.length === n && seen.size === n && ties.every((i) => Number.isInteger(i) && i >= 0 && i < n);
  if (!permutation) {
    const found = ties.length > 16 ? `${ties.length} numbers` : `[${ties.join(', ')}]`;
    throw new Fp4Error(
      'E_USAGE',
      `an order of ties among ${n} is each of 0 to ${n - 1} once; found ${found}`,
    );
  }
  for (const [place, i] of ties.entries()) places[i] = place;
  return places;
}
