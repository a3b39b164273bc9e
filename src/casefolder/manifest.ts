/**
 * manifest.json of a case folder: what every file is, and the hash of each. Clauses: spec/folders.md FOL-02, FOL-16.
 * @module
 */

import { JsonError, type JsonValue, scanJson } from '../files/json-scan.ts';
import type { Sha256 } from '../files/sha256.ts';
import type { Dtype, FolderArray, Role } from './folder-array.ts';
import type { FolderContent } from './folder-content.ts';
import { FILE_FORMS } from './folder-encoding.ts';
import { FLAG_DIGITS, FLAGS } from './folder-flags.ts';
import type { FolderInputs } from './folder-inputs.ts';
import { caseElements, type FolderEncoding, type FolderJob, type Naming, QUANTIZE } from './folder-job.ts';

/** FOL-16. The version of the manifest; another one is another form. */
export const SCHEMA = 'fp4-case-folder/1';
export const MANIFEST = 'manifest.json';

export interface ManifestFile {
  readonly name: string;
  readonly role: Role;
  readonly file: string;
  /** What the device writes. */
  readonly actual?: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly count: number;
  readonly digits: number;
  readonly byteOrder: 'little';
  readonly layout: string;
  readonly order: 'row-major' | 'low-first' | 'high-first' | 'lsb0';
  readonly sha256: string;
  readonly compare: 'bits' | 'bound';
  /** Of a bound: the file of the upper ends; `file` has the lower ones. */
  readonly high?: string;
  readonly highSha256?: string;
  readonly nans?: readonly number[];
  readonly places?: { readonly file: string; readonly shape: readonly number[]; readonly sha256: string };
}

export interface Manifest {
  readonly schema: string;
  readonly producer: string;
  readonly function: string;
  readonly format: string | null;
  readonly dtype: string | null;
  readonly profile: string | null;
  readonly parameters: Readonly<Record<string, string>>;
  /** Blocks in all. */
  readonly cases: number;
  readonly shape: readonly number[] | null;
  /** Zeros after the elements of a row, up to a whole block. */
  readonly padding: { readonly from: number; readonly to: number; readonly word: string } | null;
  readonly layout: string;
  readonly encoding: FolderEncoding;
  readonly names: Naming;
  readonly stages: boolean;
  readonly nan: 'any' | 'bits';
  readonly generator: {
    readonly family: string;
    /** A number where every reader of JSON has it exactly, else its decimal digits. */
    readonly seed: number | string;
    readonly range: readonly number[] | null;
    readonly boundary: {
      readonly level: number;
      readonly rows: number;
      readonly perRow: number;
      readonly notes: readonly string[];
    } | null;
  } | null;
  readonly files: readonly ManifestFile[];
  readonly companions: readonly { readonly file: string; readonly sha256: string }[];
  readonly flags: { readonly names: readonly string[]; readonly digits: number; readonly cases: string };
}

/** FOL-12. The name of an array's file. */
export function fileName(job: FolderJob, array: Pick<FolderArray, 'name' | 'role'>, operand: number): string {
  const ending = FILE_FORMS[job.encoding];
  if (job.names === 'pto')
    return array.role === 'input' ? `input${operand + 1}.bin` : `golden_${array.name}.bin`;
  return `${array.role === 'input' ? 'input' : 'expected'}_${array.name}.${ending}`;
}

export const actualName = (job: FolderJob, { name }: Pick<FolderArray, 'name'>): string =>
  `actual_${name}.${FILE_FORMS[job.encoding]}`;

export const placesName = ({ name }: Pick<FolderArray, 'name'>): string => `places_${name}.bin`;

function orderOf(job: FolderJob, { dtype, nibbles }: FolderArray): ManifestFile['order'] {
  if (job.encoding === 'readmemh') return 'lsb0';
  return dtype === 'u4x2' ? nibbles : 'row-major';
}

/** The entry of an array, without its hashes. */
function entryOf(
  job: FolderJob,
  array: FolderArray,
  operand: number,
  hash: (file: string) => string,
): ManifestFile {
  const file = fileName(job, array, operand);
  return {
    name: array.name,
    role: array.role,
    file,
    ...(array.role !== 'input' && { actual: actualName(job, array) }),
    dtype: array.dtype,
    shape: array.shape,
    count: array.count,
    digits: array.digits,
    byteOrder: 'little',
    layout: array.layout,
    order: orderOf(job, array),
    sha256: hash(file),
    compare: 'bits',
    ...(array.nans && { nans: array.nans }),
    ...(array.places && {
      places: { file: placesName(array), shape: array.places.shape, sha256: hash(placesName(array)) },
    }),
  };
}

/** Which input formats a tensor's elements have. */
const tensorDtype = (job: FolderJob): string | null =>
  job.format === undefined ? null : job.function.inputs[0]!.digits === 4 ? 'bf16' : 'f32';

/** FOL-02. The manifest of a folder whose files have these hashes. */
export function buildManifest(
  job: FolderJob,
  inputs: FolderInputs,
  content: FolderContent,
  companions: readonly string[],
  hash: (file: string) => string,
  producer: string,
): Manifest {
  const { grid } = inputs;
  const { generator } = job;
  const elements = caseElements(job.function);
  const flags = Array.from(content.flags, (bits) => bits.toString(16).padStart(FLAG_DIGITS, '0'));
  const digits = job.function.inputs[0]!.digits;
  return {
    schema: SCHEMA,
    producer,
    function: job.format === undefined ? job.function.name : QUANTIZE,
    format: job.format ?? null,
    dtype: tensorDtype(job),
    profile: job.profile ?? null,
    parameters: job.policy,
    cases: grid.rows * grid.blocks,
    shape: job.shape ?? null,
    padding:
      grid.tail > 0 ? { from: job.shape![1], to: grid.blocks * elements, word: '0'.repeat(digits) } : null,
    layout: job.layout,
    encoding: job.encoding,
    names: job.names,
    stages: job.stages,
    nan: job.policy['nan'] === 'payload' ? 'bits' : 'any',
    generator:
      generator === undefined
        ? null
        : {
            family: generator.family,
            seed: seedValue(generator.seed),
            range: generator.range ?? null,
            boundary:
              generator.boundary === undefined
                ? null
                : {
                    level: generator.boundary,
                    rows: inputs.boundaryRows,
                    perRow: grid.whole,
                    notes: inputs.notes,
                  },
          },
    files: content.arrays.map((array, k) => entryOf(job, array, k, hash)),
    companions: companions.map((file) => ({ file, sha256: hash(file) })),
    flags: { names: FLAGS, digits: FLAG_DIGITS, cases: flags.join('') },
  };
}

export const seedValue = (seed: bigint): number | string =>
  seed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(seed) : String(seed);

/** A plain JSON value; integers beyond 2^53 stay bigints, so that they equal no number. */
export type Plain = null | boolean | number | bigint | string | Plain[] | { [key: string]: Plain };

function plain(value: JsonValue): Plain {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  // 429.0 would be equal to 429, and its digest would not.
  if (typeof value === 'number') throw new JsonError(`${value} is not written as an integer`);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) {
    const object = Object.create(null) as { [key: string]: Plain };
    for (const [key, member] of value) object[key] = plain(member);
    return object;
  }
  return value;
}

/** The value of a manifest's text; a name that occurs twice is an error. @throws JsonError */
export const parseManifestText = (text: string): Plain => plain(scanJson(text));

/** JSON with keys in order and without spaces. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const object = value as Record<string, unknown>;
  const members = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key])}`);
  return `{${members.join(',')}}`;
}

/** FOL-16. The hash of a manifest without its `comment` and its `digest`. */
export function digestOf(manifest: object, sha256: Sha256): string {
  const { comment: _comment, digest: _digest, ...rest } = manifest as Record<string, unknown>;
  return sha256(new TextEncoder().encode(canonicalJson(rest)));
}

/** The text of a manifest with its digest: a member a line, a file a line. */
export function manifestText(manifest: Manifest, sha256: Sha256): string {
  const members = Object.entries({ ...manifest, digest: digestOf(manifest, sha256) }).map(([key, value]) => {
    const lines = Array.isArray(value) && value.some((item) => typeof item === 'object');
    const text = lines
      ? `[\n${(value as unknown[]).map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
      : JSON.stringify(value);
    return `  ${JSON.stringify(key)}: ${text}`;
  });
  return `{\n${members.join(',\n')}\n}\n`;
}
