/**
 * A block function as the vectors see it: flags, inputs with a history, and the definition's answer with what flags ask about.
 * @module
 */
import type { Words } from '../functions/field.ts';
import type { AnyPolicy, BoundaryCase } from '../functions/oracle-function.ts';
import type { Flag } from './flag.ts';

export interface Defined<C> {
  readonly outputs: readonly Words[];
  readonly about: C;
}

/** A function whose cases are C. */
export interface Subject<C> {
  readonly flags: readonly Flag<C>[];
  readonly examples: readonly BoundaryCase[];
  /** By the definition alone; an Fp4Error is the policy's refusal. */
  readonly define: (inputs: readonly Words[], policy: AnyPolicy) => Defined<C>;
  /** A case of which nothing is known but its inputs: it was refused. */
  readonly refused: (inputs: readonly Words[], policy: AnyPolicy) => C;
}

/** Whether two lists of fields are equal, bit for bit. */
export const same = (a: readonly Words[], b: readonly Words[]): boolean =>
  a.every((field, k) => {
    for (let j = 0; j < field.length; j++) if (field[j] !== b[k]![j]) return false;
    return true;
  });
