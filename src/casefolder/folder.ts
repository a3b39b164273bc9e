/**
 * A case folder as files in memory: the arrays, what stands beside them, the manifest, its schema, and check.py.
 * Clauses: spec/folders.md FOL-01.
 * @module
 */
import type { Sha256 } from '../files/sha256.ts';
import { VERSION } from '../version.ts';
import { CHECK_PY } from './check-py.ts';
import { companions } from './folder-companions.ts';
import { type FolderContent, folderContent } from './folder-content.ts';
import { encodeArray, FILE_FORMS, rawBytes } from './folder-encoding.ts';
import { drawInputs, type FolderInputs } from './folder-inputs.ts';
import type { FolderGenerator, FolderJob } from './folder-job.ts';
import { buildManifest, fileName, MANIFEST, type Manifest, manifestText, placesName } from './manifest.ts';
import { MANIFEST_SCHEMA } from './manifest-schema.ts';

export const PRODUCER = `fp4-oracle ${VERSION}`;

export interface Folder {
  readonly manifest: Manifest;
  readonly content: FolderContent;
  /** The files that the manifest lists, by name. */
  readonly listed: ReadonlyMap<string, Uint8Array>;
}

/** Everything that follows from a job and its inputs. @throws Fp4Error E_USAGE, E_NONFINITE */
export function folderFrom(
  job: FolderJob,
  inputs: FolderInputs,
  sha256: Sha256,
  producer = PRODUCER,
): Folder {
  const content = folderContent(job, inputs);
  const listed = new Map<string, Uint8Array>();
  for (const [k, array] of content.arrays.entries()) {
    listed.set(fileName(job, array, k), encodeArray(array, array.words, FILE_FORMS[job.encoding]));
    if (array.places) listed.set(placesName(array), placesBytes(array.places.indices));
  }
  const beside = companions(job.encoding, content.arrays, content.flags);
  for (const [name, bytes] of beside) listed.set(name, bytes);
  const hash = (file: string): string => sha256(listed.get(file)!);
  const names = beside.map(([name]) => name);
  return { manifest: buildManifest(job, inputs, content, names, hash, producer), content, listed };
}

const placesBytes = (indices: Uint32Array): Uint8Array =>
  rawBytes(
    { name: '', dtype: 'u32', shape: [indices.length], count: 1, digits: 8, nibbles: 'low-first' },
    indices,
  );

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/**
 * FOL-01. The files of a case folder by name, the manifest last.
 * @throws Fp4Error E_SHAPE, E_USAGE, E_NONFINITE
 */
export function buildFolder(
  job: FolderJob & { readonly generator: FolderGenerator },
  sha256: Sha256,
): { readonly manifest: Manifest; readonly files: ReadonlyMap<string, Uint8Array> } {
  const { manifest, listed } = folderFrom(job, drawInputs(job), sha256);
  const files = new Map(listed);
  files.set('check.py', utf8(CHECK_PY));
  files.set('manifest.schema.json', utf8(`${JSON.stringify(MANIFEST_SCHEMA, null, 2)}\n`));
  files.set(MANIFEST, utf8(manifestText(manifest, sha256)));
  return { manifest, files };
}
