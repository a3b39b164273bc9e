/**
 * Case folders on disk: writing one, and judging one that a device has written into.
 * Clauses: spec/folders.md FOL-01, FOL-18 to FOL-20.
 * @module
 */
import { createHash } from 'node:crypto';
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FolderDifference } from '../casefolder/check-compare.ts';
import { verifyFolder } from '../casefolder/check-folder.ts';
import { buildFolder, PRODUCER } from '../casefolder/folder.ts';
import type { FolderGenerator, FolderJob } from '../casefolder/folder-job.ts';
import type { FolderVerdict } from '../casefolder/folder-verdict.ts';
import { buildGemmFolder, type GemmFolderJob } from '../casefolder/gemm-folder.ts';
import { MANIFEST, type Manifest } from '../casefolder/manifest.ts';
import { Fp4Error } from '../error.ts';
import { InputFile } from './input-file.ts';
import { checkFolderFree, writeFolder } from './output-folder.ts';
import { attempt } from './system-error.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Writes a case folder.
 * @throws Fp4Error for a place that is taken, and for what `buildFolder` refuses
 */
export async function exportFolder(
  path: string,
  job: FolderJob & { readonly generator: FolderGenerator },
): Promise<Manifest> {
  checkFolderFree(path);
  const { manifest, files } = buildFolder(job, sha256);
  await writeFolder(path, files);
  return manifest;
}

/** Writes a case folder of a product. @throws Fp4Error likewise */
export async function exportGemmFolder(path: string, job: GemmFolderJob): Promise<Manifest> {
  checkFolderFree(path);
  const { manifest, files } = buildGemmFolder(job, sha256, PRODUCER);
  await writeFolder(path, files);
  return manifest;
}

/** Larger than any file that `export` writes. */
const LARGEST = 2 ** 30;

/** FOL-20. A file of the folder; a link that leads out of it is refused. */
function readWithin(folder: string, name: string): Uint8Array | undefined {
  const path = join(folder, name);
  if (attempt(path, () => lstatSync(path, { throwIfNoEntry: false })) === undefined) return undefined;
  const real = attempt(path, () => realpathSync(path));
  if (dirname(real) !== attempt(folder, () => realpathSync(folder))) {
    throw new Fp4Error('E_FOLDER', `${path}: a link that leads out of the folder`);
  }
  const file = InputFile.open(path);
  try {
    if (file.size > LARGEST)
      throw new Fp4Error('E_FOLDER', `${path}: ${file.size} bytes; expected at most ${LARGEST}`);
    return file.read(0, file.size);
  } finally {
    file.close();
  }
}

/**
 * Judges a case folder.
 * @throws Fp4Error for a folder that cannot be judged
 */
export function verifyCaseFolder(
  folder: string,
  tell: (difference: FolderDifference) => void,
): FolderVerdict {
  const status = attempt(folder, () => statSync(folder));
  if (!status.isDirectory()) throw new Fp4Error('E_FILE', `${folder}: it is no folder`);
  const manifest = readWithin(folder, MANIFEST);
  if (manifest === undefined) throw new Fp4Error('E_FOLDER', `${join(folder, MANIFEST)}: missing`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(manifest);
  } catch {
    throw new Fp4Error('E_FOLDER', `${join(folder, MANIFEST)}: not valid UTF-8`);
  }
  return verifyFolder(text, (name) => readWithin(folder, name), sha256, tell);
}
