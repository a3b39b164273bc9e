/**
 * What a testable function is: a record from which the stream, the vectors, the properties and the documents are made.
 * Clauses: spec/stream.md STR-02.
 * @module
 */
import type { ParameterTable, Profile } from '../format/policy.ts';
import type { Field, Words } from './field.ts';

/** The value of each parameter. The table of the function says which there are. */
export type AnyPolicy = Readonly<Record<string, string>>;

export interface Evaluation {
  readonly outputs: readonly Words[];
  readonly stages: readonly Words[];
}

/** An input chosen for a reason. */
export interface BoundaryCase {
  readonly inputs: readonly Words[];
  /** Why it is there, in a few words. */
  readonly note: string;
}

/**
 * Many cases at once: elements of each field, case after case, in one array.
 * @param inputs of `count` cases
 * @param outputs receives theirs
 */
export type Batch = (inputs: readonly Uint32Array[], outputs: readonly Uint32Array[], count: number) => void;

export interface OracleFunction {
  readonly name: string;
  readonly summary: string;
  /** The clauses of spec/ that the function implements. */
  readonly clauses: readonly string[];
  readonly parameters: ParameterTable;
  /** Empty where there is nothing on which implementations differ. */
  readonly profiles: readonly Profile<AnyPolicy>[];
  readonly inputs: readonly Field[];
  outputs(policy: AnyPolicy): readonly Field[];
  /** The intermediates, in order; empty for functions that have none. */
  stages(policy: AnyPolicy): readonly Field[];
  /** The definition. */
  define(inputs: readonly Words[], policy: AnyPolicy): Evaluation;
  /** The fast path: the outputs alone. */
  fast(inputs: readonly Words[], policy: AnyPolicy): readonly Words[];
  /**
   * The fast path for many cases; what it throws does not say for which, so that one is looked for case by case. Absent where
   * nothing is gained.
   */
  batch?(policy: AnyPolicy): Batch;
  /** Boundary inputs of a level: 1 the essential ones, 2 all of them (those of level 1 first). */
  boundary(level: 1 | 2): Iterable<BoundaryCase>;
}
