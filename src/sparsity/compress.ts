/**
 * Compressing rows to values and nibbles, and expanding them again. Elements are words of any type: what is not in a slot
 * is +0, word 0. Clauses: spec/sparsity.md SPA-07, SPA-09 to SPA-12, SPA-14.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { GROUP_PATTERNS, type GroupPatternName } from './pattern.ts';
import { type Convention, conventionOf, type Overfull, type Slots, slotsOf, unitsOf } from './slots.ts';
import type { TieRule } from './ties.ts';

export interface CompressOptions {
  readonly pattern: GroupPatternName;
  /** Default `kept`. */
  readonly convention?: Convention;
  /** Default `error`. */
  readonly overfull?: Overfull;
  /** Which zeros fill the slots under `kept`; default lowest-index. */
  readonly ties?: TieRule;
}

/** Compressed rows: the nibbles, and where each stored value comes from. */
export interface Compressed {
  /** Of a row: depth / group, rounded up. */
  readonly groups: number;
  /** rows x groups */
  readonly nibbles: Uint8Array;
  /** Stored values of a row: half of the elements of its groups. */
  readonly stored: number;
  /** rows x stored: the element, row x depth + position; -1 for a slot that holds +0. */
  readonly sources: Int32Array;
  /** The nibble of a group of zeros. */
  readonly empty: number;
}

/**
 * SPA-09 to SPA-12. Compresses rows by their nonzero elements.
 * @param nonzero rows x depth, 1 where an element is not zero: -0 is, NaN is not
 * @throws Fp4Error E_TENSOR for a group with too many nonzeros, E_USAGE for a convention that the pattern does not have
 */
export function compress(
  nonzero: Uint8Array,
  rows: number,
  depth: number,
  { pattern, convention = 'kept', overfull = 'error', ties = 'lowest-index' }: CompressOptions,
): Compressed {
  const { group, unit, keep } = GROUP_PATTERNS[pattern];
  conventionOf(convention, pattern);
  const units = group / unit;
  const table: readonly Slots[] = Array.from({ length: 2 ** units }, (_, flags) =>
    slotsOf(flags, pattern, convention, overfull, ties),
  );
  const groups = Math.ceil(depth / group);
  const nibbles = new Uint8Array(rows * groups);
  const stored = groups * keep * unit;
  const sources = new Int32Array(rows * stored);
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      const start = g * group;
      const count = Math.min(group, depth - start);
      let flags = 0;
      for (let j = 0; j < count; j++)
        if (nonzero[r * depth + start + j] === 1) flags |= 1 << Math.floor(j / unit);
      const { nibble, sources: from } = table[flags]!;
      if (nibble === undefined) {
        const most = unit === 1 ? `${keep}` : `${keep} pairs`;
        throw new Fp4Error(
          'E_TENSOR',
          `row ${r}, elements ${start} to ${start + group - 1}: more nonzeros than ${pattern} allows; expected at most ${most}`,
        );
      }
      nibbles[r * groups + g] = nibble;
      for (let s = 0; s < keep; s++) {
        const source = from[s];
        for (let j = 0; j < unit; j++) {
          const position = source === undefined ? depth : start + source * unit + j;
          const at = r * stored + (g * keep + s) * unit + j;
          sources[at] = position < depth ? r * depth + position : -1;
        }
      }
    }
  }
  return { groups, nibbles, stored, sources, empty: table[0]!.nibble! };
}

/** Words of up to 32 bits. */
type WordArray = Uint8Array | Uint16Array | Uint32Array;

const alike = <T extends WordArray>(array: T, length: number): T =>
  new (array.constructor as new (length: number) => T)(length);

/** SPA-09. The stored values: the words that the slots name. */
export function gather<T extends WordArray>(words: T, { sources }: Compressed): T {
  const values = alike(words, sources.length);
  for (const [at, source] of sources.entries()) if (source >= 0) values[at] = words[source]!;
  return values;
}

/**
 * SPA-14. The rows that values and nibbles stand for. Where both slots name one place, the value that is not zero stands there.
 * @param values rows x stored words
 * @param nibbles rows x groups
 * @param sign the bit that does not count when a word is compared with zero; 0 where there is none
 * @throws Fp4Error E_LENGTH; E_TENSOR for a nibble that the convention does not have, for two nonzeros in one place, and for a
 * nonzero value beyond the end of a row
 */
export function expand<T extends WordArray>(
  values: T,
  nibbles: Uint8Array,
  rows: number,
  depth: number,
  { pattern, convention = 'kept' }: Pick<CompressOptions, 'pattern' | 'convention'>,
  sign: number,
): T {
  const { group, unit, keep } = GROUP_PATTERNS[pattern];
  conventionOf(convention, pattern);
  const groups = Math.ceil(depth / group);
  const slots = keep * unit;
  if (nibbles.length !== rows * groups || values.length !== rows * groups * slots) {
    const expected = `${rows * groups} nibbles and ${rows * groups * slots} values`;
    throw new Fp4Error(
      'E_LENGTH',
      `found ${nibbles.length} nibbles and ${values.length} values; expected ${expected}`,
    );
  }
  const words = alike(values, rows * depth);
  const isZero = (word: number): boolean => word === 0 || (sign !== 0 && word === sign);
  for (let at = 0; at < nibbles.length; at++) {
    const [r, g] = [Math.floor(at / groups), at % groups];
    const refuse = (what: string): Fp4Error => new Fp4Error('E_TENSOR', `row ${r}, group ${g}: ${what}`);
    const units = unitsOf(nibbles[at]!, pattern, convention);
    if (units === undefined) {
      throw refuse(`${pattern} has no nibble ${nibbles[at]!.toString(16)} under convention ${convention}`);
    }
    const taken = new Set<number>();
    for (let s = 0; s < slots; s++) {
      const position = g * group + units[Math.floor(s / unit)]! * unit + (s % unit);
      const value = values[at * slots + s]!;
      if (position >= depth) {
        if (isZero(value)) continue;
        throw refuse(`a value that is not zero at position ${position}; a row has ${depth} elements`);
      }
      const place = r * depth + position;
      if (taken.has(position)) {
        if (isZero(value)) continue;
        if (!isZero(words[place]!)) throw refuse(`two values that are not zero at position ${position}`);
      }
      taken.add(position);
      words[place] = value;
    }
  }
  return words;
}
