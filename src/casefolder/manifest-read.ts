/**
 * A manifest from text that nobody vouches for: the job it describes, or what is wrong with it. Everything else in it
 * follows from the job and the inputs, and is compared with what follows. Clauses: spec/folders.md FOL-16, FOL-20.
 * @module
 */

import { Fp4Error, knownNames } from '../error.ts';
import { JsonError } from '../files/json-scan.ts';
import type { Sha256 } from '../files/sha256.ts';
import type { AnyPolicy } from '../functions/oracle-function.ts';
import { policyOf } from '../functions/registry.ts';
import { familyByName } from '../random/families.ts';
import { ENCODINGS, type FolderGenerator, type FolderJob, NAMINGS, subjectOf } from './folder-job.ts';
import { digestOf, MANIFEST, type Plain, parseManifestText, SCHEMA } from './manifest.ts';

type Members = { readonly [key: string]: Plain };

export const folderError = (message: string): Fp4Error => new Fp4Error('E_FOLDER', message);

/** A value of a manifest in a message. */
export const shown = (value: Plain | undefined): string => {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, jsonBigint) ?? 'nothing');
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

const jsonBigint = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

const wrong = (path: string, found: Plain | undefined, expected: string): Fp4Error =>
  folderError(`${MANIFEST}: ${path} is ${shown(found)}; expected ${expected}`);

const isObject = (value: Plain | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Readers of one member, by its path. */
export class Reader {
  readonly #object: Members;
  readonly #path: string;

  constructor(value: Plain | undefined, path: string) {
    if (!isObject(value)) throw wrong(path, value, 'an object');
    this.#object = value;
    this.#path = path;
  }

  #at(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`;
  }

  raw(key: string): Plain | undefined {
    return Object.hasOwn(this.#object, key) ? this.#object[key] : undefined;
  }

  string(key: string): string {
    const value = this.raw(key);
    if (typeof value !== 'string') throw wrong(this.#at(key), value, 'a string');
    return value;
  }

  optionalString(key: string): string | undefined {
    return this.raw(key) === null ? undefined : this.string(key);
  }

  oneOf<T extends string>(key: string, values: readonly T[]): T {
    const value = this.string(key);
    if (!(values as readonly string[]).includes(value)) throw wrong(this.#at(key), value, values.join(', '));
    return value as T;
  }

  boolean(key: string): boolean {
    const value = this.raw(key);
    if (typeof value !== 'boolean') throw wrong(this.#at(key), value, 'true or false');
    return value;
  }

  integer(key: string, low: number, high: number): number {
    return integerIn(this.raw(key), this.#at(key), low, high);
  }

  /** Two integers, or undefined for null. */
  optionalPair(key: string, low: number, high: number): [number, number] | undefined {
    const value = this.raw(key);
    if (value === null) return undefined;
    if (!Array.isArray(value) || value.length !== 2)
      throw wrong(this.#at(key), value, 'null or two integers');
    const [a, b] = value.map((item, i) => integerIn(item, `${this.#at(key)}[${i}]`, low, high));
    return [a!, b!];
  }

  optional(key: string): Reader | undefined {
    const value = this.raw(key);
    return value === null ? undefined : new Reader(value, this.#at(key));
  }

  strings(key: string): Record<string, string> {
    const value = this.raw(key);
    if (!isObject(value)) throw wrong(this.#at(key), value, 'an object of strings');
    const entries = Object.entries(value).map(([name, text]): [string, string] => {
      if (typeof text !== 'string') throw wrong(`${this.#at(key)}.${name}`, text, 'a string');
      return [name, text];
    });
    return Object.fromEntries(entries);
  }
}

function integerIn(value: Plain | undefined, path: string, low: number, high: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value;
  throw wrong(path, value, `an integer from ${low} to ${high}`);
}

const MOST_ROWS = 2 ** 26;
/** As the command's own limit for --range. */
const RANGE_LIMIT = 200;

export function generatorOf(reader: Reader | undefined): FolderGenerator | undefined {
  if (reader === undefined) return undefined;
  const seed = String(reader.raw('seed'));
  if (!/^(0|[1-9][0-9]{0,19})$/.test(seed) || BigInt(seed) >= 1n << 64n) {
    throw wrong('generator.seed', reader.raw('seed'), 'an integer from 0 to 2^64 - 1');
  }
  const range = reader.optionalPair('range', -RANGE_LIMIT, RANGE_LIMIT);
  if (range && range[0] > range[1]) throw wrong('generator.range', [...range], 'the lower end first');
  const family = familyByName(reader.string('family'));
  if (range && family !== 'ladder') throw wrong('generator.range', [...range], `null with family ${family}`);
  const boundary = reader.optional('boundary')?.integer('level', 1, 2);
  return {
    family,
    seed: BigInt(seed),
    ...(range && { range }),
    ...(boundary !== undefined && { boundary: boundary as 1 | 2 }),
  };
}

/** A manifest as it was read. */
export interface ReadManifest {
  readonly job: FolderJob;
  readonly producer: string;
  /** All of it, for comparing. */
  readonly value: Members;
}

function parsed(text: string): Plain {
  try {
    return parseManifestText(text);
  } catch (error) {
    if (error instanceof JsonError) throw folderError(`${MANIFEST}: ${error.message}`);
    throw error;
  }
}

/** A manifest whose schema and digest are right. */
export interface OpenManifest {
  readonly reader: Reader;
  readonly producer: string;
  readonly value: Members;
}

/** A shape of so many sizes. @throws Fp4Error E_FOLDER */
export function shapeOf(reader: Reader, length: number): number[] {
  const value = reader.raw('shape');
  if (!Array.isArray(value) || value.length !== length) throw wrong('shape', value, `${length} integers`);
  return value.map((item, i) => integerIn(item, `shape[${i}]`, 0, MOST_ROWS));
}

/**
 * FOL-20. The job that a manifest describes.
 * @throws Fp4Error E_FOLDER for what is no such manifest; E_PROFILE, E_PARAMETER, E_USAGE for names that do not exist
 */
export function readManifest({ reader, producer, value }: OpenManifest): ReadManifest {
  return { job: jobOf(reader), producer, value };
}

/** FOL-16. @throws Fp4Error E_FOLDER for what is no manifest, or one that was changed */
export function openManifest(text: string, sha256: Sha256): OpenManifest {
  const value = parsed(text);
  const reader = new Reader(value, '');
  const schema = reader.string('schema');
  if (schema !== SCHEMA) throw wrong('schema', schema, `"${SCHEMA}"`);
  const digest = digestOf(value as Members, sha256);
  if (reader.string('digest') !== digest) {
    throw folderError(
      `${MANIFEST}: it was changed: its digest is ${digest}; it says ${shown(reader.raw('digest'))}`,
    );
  }
  const comment = reader.raw('comment');
  if (comment !== undefined && typeof comment !== 'string') throw wrong('comment', comment, 'a string');
  return { reader, producer: reader.string('producer'), value: value as Members };
}

function jobOf(reader: Reader): FolderJob {
  const [format, dtype, profile] = ['format', 'dtype', 'profile'].map((key) => reader.optionalString(key));
  const subject = subjectOf({
    subject: reader.string('function'),
    ...(format !== undefined && { format }),
    ...(dtype !== undefined && { dtype }),
    ...(profile !== undefined && { profile }),
  });
  if (profile === undefined && subject.profile !== undefined) throw wrong('profile', null, subject.profile);
  const parameters = reader.strings('parameters');
  const policy = allParameters(subject.policy, parameters, () =>
    policyOf(subject.function, profile, parameters),
  );
  const shape = reader.optionalPair('shape', 0, MOST_ROWS);
  const generator = generatorOf(reader.optional('generator'));
  return {
    ...subject,
    policy,
    ...(shape && { shape }),
    ...(!shape && { cases: reader.integer('cases', 1, MOST_ROWS) }),
    ...(generator && { generator }),
    layout: reader.string('layout'),
    encoding: reader.oneOf('encoding', ENCODINGS),
    names: reader.oneOf('names', NAMINGS),
    stages: reader.boolean('stages'),
  };
}

/** Every parameter is stated, so that no default can change what a folder means. */
function allParameters(known: AnyPolicy, given: AnyPolicy, resolve: () => AnyPolicy): AnyPolicy {
  const policy = resolve();
  const missing = Object.keys(known).find((name) => !Object.hasOwn(given, name));
  if (missing !== undefined) {
    throw folderError(
      `${MANIFEST}: parameters lacks "${missing}"; ${knownNames(missing, Object.keys(known))}`,
    );
  }
  return policy;
}

/** Members that may say anything. */
const FREE = ['comment', 'digest'];

/** FOL-20. The first member that is not as it must be, as a message; undefined where all are. */
export function mismatch(found: Plain | undefined, expected: unknown, path = ''): string | undefined {
  if (Array.isArray(expected)) {
    if (!Array.isArray(found)) return `${path} is ${shown(found)}; expected a list`;
    if (found.length !== expected.length)
      return `${path} has ${found.length} items; expected ${expected.length}`;
    for (let i = 0; i < expected.length; i++) {
      const message = mismatch(found[i], expected[i], `${path}[${i}]`);
      if (message !== undefined) return message;
    }
    return undefined;
  }
  if (typeof expected === 'object' && expected !== null) {
    if (!isObject(found)) return `${path} is ${shown(found)}; expected an object`;
    const wanted = expected as Record<string, unknown>;
    const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
    for (const key of Object.keys(found)) {
      if (path === '' && FREE.includes(key)) continue;
      if (!Object.hasOwn(wanted, key)) return `${at(key)} does not belong there`;
    }
    for (const key of Object.keys(wanted)) {
      if (!Object.hasOwn(found, key)) return `${at(key)} is missing`;
      const message = mismatch(found[key], wanted[key], at(key));
      if (message !== undefined) return message;
    }
    return undefined;
  }
  return found === expected ? undefined : `${path} is ${shown(found)}; expected ${shown(expected as Plain)}`;
}
