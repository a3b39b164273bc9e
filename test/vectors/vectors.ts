/** The vector files on disk, read as any user of them would. */
import { readdirSync, readFileSync } from 'node:fs';

export const FOLDER = new URL('../../vectors/v1/', import.meta.url);

export const vectorNames = (): string[] => readdirSync(FOLDER).sort();
export const vectorBytes = (name: string): Buffer => readFileSync(new URL(name, FOLDER));

export interface BlockTest {
  readonly id: string;
  readonly comment: string;
  readonly flags: readonly string[];
  readonly clauses: readonly string[];
  readonly inputs: Readonly<Record<string, string>>;
  readonly result: 'valid' | 'acceptable' | 'invalid';
  readonly expected?: Readonly<Record<string, string>>;
  readonly stages?: Readonly<Record<string, string>>;
  readonly error?: string;
  readonly alternatives?: readonly {
    readonly profiles: readonly string[];
    readonly expected?: Readonly<Record<string, string>>;
    readonly error?: string;
  }[];
}

export interface FieldShape {
  readonly name: string;
  readonly kind: 'word' | 'codes';
  readonly count: number;
  readonly digits: number;
}

export interface Group<T> {
  readonly outputs: readonly FieldShape[];
  readonly subject: string;
  readonly policy: Readonly<Record<string, string>>;
  readonly clauses: readonly string[];
  readonly layout: 'table' | 'runs' | 'cases';
  readonly count: number;
  readonly table: readonly string[];
  readonly runs: readonly string[];
  readonly tests: readonly T[];
}

export interface VectorFile<T = BlockTest> {
  readonly name: string;
  readonly kind: string;
  readonly function: string;
  readonly profile: string;
  readonly inputs: readonly FieldShape[];
  readonly notes: Readonly<Record<string, unknown>>;
  readonly groups: readonly Group<T>[];
}

export const vectorFile = <T = BlockTest>(name: string): VectorFile<T> => ({
  ...JSON.parse(vectorBytes(name).toString('utf8')),
  name,
});

/** The files of the functions whose name matches. */
export const filesOf = <T = BlockTest>(pattern: RegExp): VectorFile<T>[] =>
  vectorNames()
    .filter((name) => pattern.test(name))
    .map((name) => vectorFile<T>(name));

/** The words of a field. */
export const words = (hex: string): number[] => hex.split(' ').map((w) => Number.parseInt(w, 16));
/** The codes of a field. */
export const codes = (hex: string): number[] => Array.from(hex, (c) => Number.parseInt(c, 16));
