/**
 * What judging a case folder finds. Clauses: spec/folders.md FOL-19.
 * @module
 */
import type { FolderDifference } from './check-compare.ts';

export interface FileVerdict {
  readonly name: string;
  readonly role: 'stage' | 'expected';
  /** Undefined where the device gave no such stage. */
  readonly wrong: number | undefined;
  readonly elements: number;
}

export interface FolderVerdict {
  readonly function: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly cases: number;
  /** In the order in which an encoder makes them. */
  readonly files: readonly FileVerdict[];
  /** Elements that differ, in all. */
  readonly differences: number;
  /** The first difference of the first file that has one. */
  readonly first?: FolderDifference;
}
