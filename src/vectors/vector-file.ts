/**
 * What a vector file holds, and its one text form: the same content gives the same bytes, a record a line.
 * Clauses: spec/vectors.md VEC-01 to VEC-06.
 * @module
 */
import type { Note } from './flag.ts';

/** The hex of each field, by name (VEC-03). */
export type NamedHex = Readonly<Record<string, string>>;

/** What another named profile gives for the same inputs (VEC-05). */
export interface Alternative {
  readonly profiles: readonly string[];
  readonly expected?: NamedHex;
  readonly error?: string;
}

/** One input with what must come of it. */
export interface VectorTest {
  readonly id: string;
  readonly comment: string;
  readonly flags: readonly string[];
  readonly clauses: readonly string[];
  readonly inputs: NamedHex;
  readonly result: 'valid' | 'acceptable' | 'invalid';
  readonly expected?: NamedHex;
  readonly stages?: NamedHex;
  readonly error?: string;
  readonly alternatives?: readonly Alternative[];
}

export type Kind =
  | 'blocks'
  | 'scalars'
  | 'invalid'
  | 'stream'
  | 'families'
  | 'tensors'
  | 'layouts'
  | 'folders'
  | 'sparsity'
  | 'elementary'
  | 'adamw'
  | 'grpo'
  | 'gemm';

/** Where vectors come from: version and seed are part of what is written. */
export interface Generator {
  readonly name: string;
  readonly version: string;
  /** 64 bits in hex. */
  readonly seed: string;
}

/** A file before it is text. Every group is an object whose lists (tests, table, runs, functions) go a record a line. */
export interface VectorFile {
  readonly schema: string;
  readonly kind: Kind;
  readonly generator: Generator;
  readonly notes?: Readonly<Record<string, Note>>;
  readonly groups: readonly object[];
}

export const SCHEMA = 'fp4-oracle/vectors/v1';

/** Lists whose entries stand on lines of their own. */
const LISTS = new Set(['tests', 'table', 'runs', 'functions', 'files']);

const line = (value: unknown): string => JSON.stringify(value);

const listed = (entries: readonly string[], open: string, close: string): string =>
  entries.length === 0 ? open + close : `${open}\n${entries.join(',\n')}\n${close}`;

const members = (value: object, render: (key: string, member: unknown) => string): string[] =>
  Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${line(key)}: ${render(key, member)}`);

const lists = (key: string, member: unknown): string =>
  LISTS.has(key) && Array.isArray(member) ? listed(member.map(line), '[', ']') : line(member);

/** VEC-01. The text of a file. */
export function textOf(file: object): string {
  const render = (key: string, member: unknown): string => {
    if (key === 'notes')
      return listed(
        members(member as object, (_, note) => line(note)),
        '{',
        '}',
      );
    if (key !== 'groups') return lists(key, member);
    return listed(
      (member as object[]).map((group) => listed(members(group, lists), '{', '}')),
      '[',
      ']',
    );
  };
  return `${listed(members(file, render), '{', '}')}\n`;
}
