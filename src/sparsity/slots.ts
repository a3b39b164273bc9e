/**
 * The slots of one compressed group: which of its elements the stored values are, and the nibble that says so. All 16 patterns
 * of nonzeros, under every convention. Clauses: spec/sparsity.md SPA-09 to SPA-12.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import type { GroupPatternName } from './pattern.ts';
import { precedence, type TieRule } from './ties.ts';

/** SPA-10. What fills the slots where a group has fewer nonzeros than slots. */
export const CONVENTIONS = ['kept', 'pytorch', 'cutlass', 'ascend'] as const;
export type Convention = (typeof CONVENTIONS)[number];

/** SPA-11. What becomes of a group with more nonzeros than slots. */
export const OVERFULL = ['error', 'first-two', 'pytorch'] as const;
export type Overfull = (typeof OVERFULL)[number];

/** SPA-10, SPA-12. The conventions that exist for a pattern. */
const KNOWN: Readonly<Record<GroupPatternName, readonly Convention[]>> = {
  '2:4': CONVENTIONS,
  '1:2': ['kept', 'pytorch'],
  '4:8': ['kept'],
};

/** @throws Fp4Error E_USAGE for a convention that does not exist, or not for this pattern */
export function conventionOf(name: string, pattern: GroupPatternName): Convention {
  const known: readonly string[] = KNOWN[pattern];
  if (known.includes(name)) return name as Convention;
  throw new Fp4Error('E_USAGE', `no convention "${name}" for ${pattern}; ${knownNames(name, known)}`);
}

/** One group compressed. */
export interface Slots {
  /** Undefined where the group has too many nonzeros and they are an error. */
  readonly nibble: number | undefined;
  /** The unit that each slot's value comes from; none means a slot that holds +0. */
  readonly sources: readonly (number | undefined)[];
}

const TOO_MANY: Slots = { nibble: undefined, sources: [] };

/** SPA-09. Two different units in ascending order. */
const pair = (low: number, high: number): Slots => ({ nibble: low | (high << 2), sources: [low, high] });

/** SPA-10. A lone nonzero at unit 0 to 3, and none at all, as each library writes them: idx0, idx1, then the units in the slots. */
type Lone = readonly [idx0: number, idx1: number, slot0: number | undefined, slot1: number | undefined];
const LONE: Readonly<Record<Exclude<Convention, 'kept'>, readonly Lone[]>> = {
  pytorch: [
    [0, 2, 0, 2],
    [1, 2, 1, 2],
    [2, 3, 2, 3],
    [2, 3, 2, 3],
    [2, 3, 2, 3],
  ],
  cutlass: [
    [0, 3, 0, undefined],
    [1, 3, 1, undefined],
    [2, 3, 2, undefined],
    [0, 3, undefined, 3],
    [0, 0, undefined, undefined],
  ],
  ascend: [
    [0, 0, 0, undefined],
    [1, 0, 1, undefined],
    [2, 0, 2, undefined],
    [0, 2, undefined, 3],
    [0, 0, undefined, undefined],
  ],
};
const NONE = 4;

/** SPA-11. The two that PyTorch's formula leaves of three or four nonzeros: not the first two of 0111 and of 1011. */
const leftByPytorch = (nonzero: readonly number[]): readonly number[] =>
  nonzero.includes(0) && nonzero.includes(1) ? [0, 1] : [nonzero[0]!, 3];

function slotsOfFour(
  nonzero: readonly number[],
  convention: Convention,
  overfull: Overfull,
  ties: TieRule,
): Slots {
  const many = nonzero.length > 2;
  if (many && overfull === 'error') return TOO_MANY;
  const [first, second] = many && overfull === 'pytorch' ? leftByPytorch(nonzero) : nonzero;
  if (second !== undefined) {
    // Ascend counts the second index from the second element.
    const stored = pair(first!, second);
    return convention === 'ascend' ? { ...stored, nibble: first! | ((second - 1) << 2) } : stored;
  }
  if (convention === 'kept') {
    const place = precedence(ties, 4);
    const rank = (i: number): number => (nonzero.includes(i) ? -1 : place[i]!);
    const [a, b] = [0, 1, 2, 3].sort((i, j) => rank(i) - rank(j));
    return pair(Math.min(a!, b!), Math.max(a!, b!));
  }
  const [idx0, idx1, ...sources] = LONE[convention][first ?? NONE]!;
  return { nibble: idx0 | (idx1 << 2), sources };
}

/** SPA-12. Of two 32-bit elements one is kept; its nibble names it as two halves of 16 bits. */
function slotsOfTwo(
  nonzero: readonly number[],
  convention: Convention,
  overfull: Overfull,
  ties: TieRule,
): Slots {
  if (nonzero.length > 1 && overfull === 'error') return TOO_MANY;
  const none = convention === 'pytorch' ? 1 : precedence(ties, 2).indexOf(0);
  const kept = nonzero[0] ?? none;
  return { nibble: kept === 0 ? 0x4 : 0xe, sources: [kept] };
}

/**
 * SPA-09 to SPA-12. The slots of a group by its nonzero units.
 * @param flags bit i is set where unit i is not zero
 */
export function slotsOf(
  flags: number,
  pattern: GroupPatternName,
  convention: Convention,
  overfull: Overfull,
  ties: TieRule,
): Slots {
  const nonzero = [0, 1, 2, 3].filter((i) => (flags >> i) & 1);
  return pattern === '1:2'
    ? slotsOfTwo(nonzero, convention, overfull, ties)
    : slotsOfFour(nonzero, convention, overfull, ties);
}

/**
 * SPA-14. The units that the two slots of a nibble belong to.
 * @returns undefined for a nibble that the convention does not have
 */
export function unitsOf(
  nibble: number,
  pattern: GroupPatternName,
  convention: Convention,
): readonly number[] | undefined {
  const [idx0, idx1] = [nibble & 3, nibble >> 2];
  if (pattern === '1:2') return nibble === 0x4 ? [0] : nibble === 0xe ? [1] : undefined;
  if (convention === 'ascend') return idx0 < 3 && idx1 < 3 ? [idx0, idx1 + 1] : undefined;
  const emptyOfCutlass = convention === 'cutlass' && nibble === 0;
  return idx0 < idx1 || emptyOfCutlass ? [idx0, idx1] : undefined;
}
