/**
 * A folder of a product judged: everything in it worked out again from its generator, then what the device wrote against the
 * ends that are admitted. Clauses: spec/folders.md FOL-19 to FOL-21; spec/gemm.md BND-03.
 * @module
 */
import type { Sha256 } from '../files/sha256.ts';
import { distance, isNaNWord } from '../matmul/bound.ts';
import type { FolderDifference } from './check-compare.ts';
import { decodeArray, FILE_FORMS, type FileForm } from './folder-encoding.ts';
import type { FolderVerdict } from './folder-verdict.ts';
import {
  GEMM_ENCODINGS,
  type GemmFolder,
  type GemmFolderJob,
  gemmFolderFrom,
  quantizerParameters,
} from './gemm-folder.ts';
import { checkListed, type ReadFile } from './listed-files.ts';
import { MANIFEST } from './manifest.ts';
import { folderError, generatorOf, type OpenManifest, shapeOf } from './manifest-read.ts';

/** FOL-20. The job that a manifest describes. @throws Fp4Error E_FOLDER */
function jobOf({ reader }: OpenManifest): GemmFolderJob {
  const generator = generatorOf(reader.optional('generator'));
  if (generator === undefined)
    throw folderError(`${MANIFEST}: generator is null; a product's inputs come from one`);
  return {
    format: reader.string('format'),
    profile: reader.string('profile'),
    parameters: quantizerParameters(reader.strings('parameters')),
    shape: shapeOf(reader, 3) as [number, number, number],
    encoding: reader.oneOf('encoding', GEMM_ENCODINGS),
    generator,
  };
}

/** What the device wrote: in the folder's own form, or headerless. */
function readProduct({ form }: GemmFolder, job: GemmFolderJob, read: ReadFile): Uint32Array {
  const names = [...new Set([`actual_c.${FILE_FORMS[job.encoding]}`, 'actual_c.bin'])];
  const there = names.filter((name) => read(name) !== undefined);
  if (there.length > 1) throw folderError(`${names.join(' and ')}: only one of them can be meant`);
  const [name] = there;
  if (name === undefined) throw folderError(`${names[0]}: missing`);
  return decodeArray(form, read(name)!, name.slice(name.lastIndexOf('.') + 1) as FileForm, name);
}

/** FOL-19. Judges a product; tells of the first output outside in each row. */
export function verifyGemmFolder(
  open: OpenManifest,
  read: ReadFile,
  sha256: Sha256,
  tell: (difference: FolderDifference) => void,
): FolderVerdict {
  const job = jobOf(open);
  const folder = gemmFolderFrom(job, sha256, open.producer);
  checkListed(folder, open.value, read, sha256);
  const found = readProduct(folder, job, read);
  const columns = job.shape[2];
  const hex = (word: number): string => word.toString(16).padStart(8, '0');
  let first: FolderDifference | undefined;
  let wrong = 0;
  let told = -1;
  for (const [at, word] of found.entries()) {
    const range = { low: folder.low[at]!, high: folder.high[at]! };
    const wantsNaN = isNaNWord(range.low, 'f32');
    const isNaNFound = isNaNWord(word, 'f32');
    if (wantsNaN || isNaNFound ? wantsNaN && isNaNFound : distance(word, range, 'f32') === 0) continue;
    wrong++;
    const row = Math.floor(at / columns);
    if (row === told) continue;
    told = row;
    const difference = {
      name: 'c',
      place: `row ${row}, block 0, element ${at % columns}`,
      expected: `${hex(range.low)} to ${hex(range.high)}`,
      found: hex(word),
    };
    first ??= difference;
    tell(difference);
  }
  const { function: name, parameters, cases } = folder.manifest;
  const files = [{ name: 'c', role: 'expected' as const, wrong, elements: found.length }];
  return { function: name, parameters, cases, files, differences: wrong, ...(first && { first }) };
}
