/**
 * The files that a manifest lists, against their hashes and against what the oracle makes. Clauses: spec/folders.md FOL-20.
 * @module
 */
import type { Sha256 } from '../files/sha256.ts';
import type { Folder } from './folder.ts';
import { MANIFEST, type Plain } from './manifest.ts';
import { folderError, mismatch, shown } from './manifest-read.ts';

/** The bytes of a file of the folder, undefined where there is none. @throws Fp4Error for one that cannot be trusted */
export type ReadFile = (name: string) => Uint8Array | undefined;

export function needed(read: ReadFile, name: string): Uint8Array {
  const bytes = read(name);
  if (bytes === undefined) throw folderError(`${name}: missing`);
  return bytes;
}

const firstByte = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return i;
  return a.length === b.length ? -1 : length;
};

/** FOL-20. The files that the manifest lists against their hashes there, and against what the oracle makes of the inputs. */
export function checkListed(
  folder: Pick<Folder, 'manifest' | 'listed'>,
  value: Plain,
  read: ReadFile,
  sha256: Sha256,
): void {
  const { manifest, listed } = folder;
  const unhashed = JSON.stringify(value, (key, v) =>
    HASHES.includes(key) ? '' : typeof v === 'bigint' ? `${v}` : v,
  );
  const wanted = JSON.stringify(manifest, (key, v) => (HASHES.includes(key) ? '' : v));
  const structure = mismatch(JSON.parse(unhashed), JSON.parse(wanted));
  if (structure !== undefined) throw folderError(`${MANIFEST}: ${structure}`);
  const stated = new Map(statedHashes(value));
  for (const [name, bytes] of listed) {
    const found = needed(read, name);
    const hash = sha256(found);
    if (hash !== stated.get(name)) {
      throw folderError(`${name}: sha256 is ${hash}; ${MANIFEST} says ${shown(stated.get(name))}`);
    }
    const byte = firstByte(found, bytes);
    if (byte >= 0) throw folderError(`${name}: byte ${byte} is not what the oracle makes of the inputs`);
  }
  const message = mismatch(value, manifest);
  if (message !== undefined) throw folderError(`${MANIFEST}: ${message}`);
}

const HASHES = ['sha256', 'highSha256'];

/** Every file that a value names beside a hash. */
function* statedHashes(value: Plain): Generator<[string, Plain]> {
  if (typeof value !== 'object' || value === null) return;
  const { file, sha256, high, highSha256 } = value as { readonly [key: string]: Plain };
  if (typeof file === 'string' && sha256 !== undefined) yield [file, sha256];
  if (typeof high === 'string' && highSha256 !== undefined) yield [high, highSha256];
  for (const member of Object.values(value)) yield* statedHashes(member);
}
