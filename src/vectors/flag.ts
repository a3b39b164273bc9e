/**
 * Flags: what decides a case. Each is found by exact arithmetic on the definition's intermediates, never from a list.
 * Clauses: spec/vectors.md VEC-07.
 * @module
 */
import type { BlockInput, Signed } from '../format/nonfinite.ts';
import type { AnyPolicy } from '../functions/oracle-function.ts';
import type { BinaryFormat, Place } from '../number/binary-format.ts';
import { add, type Exact, isZero, negate, scale } from '../number/exact.ts';

/** What a flag means, where its rule stands, and which faults of real code it catches. */
export interface Note {
  readonly text: string;
  readonly clauses: readonly string[];
  readonly faults: readonly string[];
}

/** A flag of the cases C. */
export interface Flag<C> extends Note {
  readonly name: string;
  /** Whether any case of a function with this input type can have it under this policy. */
  readonly applies: (policy: AnyPolicy, from: BinaryFormat) => boolean;
  readonly holds: (c: C) => boolean;
}

/** The notes of a header, in the order of the flags. */
export const notesOf = (flags: readonly (Note & { readonly name: string })[]): Record<string, Note> =>
  Object.fromEntries(flags.map(({ name, text, clauses, faults }) => [name, { text, clauses, faults }]));

export const ALWAYS = (): boolean => true;

/** How many half-steps a place has passed: it grows where a magnitude passes a number or a tie. */
const halves = ({ index, position }: Place): number =>
  2 * index + Number(position === 'half' || position === 'above-half');

/** Nearer than this fraction of itself a magnitude is said to be just beside a tie: one step of BF16 at most. */
const BESIDE = -7;

/** What a magnitude is to the ties of a grid that ends at code `largest`; undefined where it is far from any. */
export type TieKind = 'even' | 'odd' | 'below' | 'above' | undefined;

/**
 * A magnitude at a tie whose lower neighbour is even (half-even stays, half-away does not) or odd (both go up), or just
 * below or above one.
 */
export function tieKind(magnitude: Exact, largest: number, placeOf: (m: Exact) => Place): TieKind {
  if (isZero(magnitude)) return undefined;
  const here = placeOf(magnitude);
  if (here.index >= largest || here.index < 0 || here.position === 'exact') return undefined;
  if (here.position === 'half') return here.index % 2 === 0 ? 'even' : 'odd';
  const step = scale(magnitude, BESIDE);
  const above = here.position === 'above-half';
  const moved = placeOf(add(magnitude, above ? negate(step) : step));
  if (halves(moved) === halves(here)) return undefined;
  return above ? 'above' : 'below';
}

/** What the elements of a block are read from. */
interface Scaled {
  readonly scaled: readonly Signed[];
  readonly input: BlockInput;
}

const known = new WeakMap<Scaled, ReadonlySet<TieKind>>();

/** The ties among the elements that no rule for NaN or infinity has dictated; kept, since several flags ask. */
export function elementTies(
  trace: Scaled,
  largest: number,
  placeOf: (m: Exact) => Place,
): ReadonlySet<TieKind> {
  let kinds = known.get(trace);
  if (kinds === undefined) {
    const free = trace.scaled.filter((_, i) => !trace.input.dictated.has(i));
    kinds = new Set(free.map(({ magnitude }) => tieKind(magnitude, largest, placeOf)));
    known.set(trace, kinds);
  }
  return kinds;
}
