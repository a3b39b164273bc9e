/**
 * A case folder judged: its manifest and its expected values against the oracle, then what the device wrote against them.
 * The files come through a function, so that a folder can be anywhere. Clauses: spec/folders.md FOL-18 to FOL-20.
 * @module
 */

import { Fp4Error } from '../error.ts';
import type { Sha256 } from '../files/sha256.ts';
import { compareArray, type FolderDifference } from './check-compare.ts';
import { verifyGemmFolder } from './check-gemm-folder.ts';
import { type Folder, folderFrom } from './folder.ts';
import { type FolderArray, fieldArray } from './folder-array.ts';
import { type ArrayForm, decodeArray, FILE_FORMS, type FileForm, rawLength } from './folder-encoding.ts';
import { drawInputs, type FolderInputs } from './folder-inputs.ts';
import { checkForm, type FolderGenerator, type FolderJob, gridOf, rowLength } from './folder-job.ts';
import type { FileVerdict, FolderVerdict } from './folder-verdict.ts';
import { GEMM } from './gemm-folder.ts';
import { checkListed, needed, type ReadFile } from './listed-files.ts';
import { actualName, fileName, MANIFEST } from './manifest.ts';
import { folderError, openManifest, readManifest } from './manifest-read.ts';

/** The inputs of a folder: from its files, which must be those that its generator makes. */
function readInputs(job: FolderJob, read: ReadFile): FolderInputs {
  const generated = job.generator && drawnWithinReason({ ...job, generator: job.generator }, read);
  const grid = generated?.grid ?? gridOf(job, 0);
  const operands = job.function.inputs.map((field, k) => {
    const form = inputForm(job, k, grid.rows, rowLength(field, grid));
    const name = fileName(job, form, k);
    const words = decodeArray(form, needed(read, name), FILE_FORMS[job.encoding], name);
    const drawn = generated?.operands[k];
    const other = drawn ? words.findIndex((word, i) => word !== drawn[i]) : -1;
    if (other >= 0)
      throw folderError(`${name}: element ${other} is not what the generator of ${MANIFEST} makes`);
    const tooLarge = words.findIndex((word) => word >= 16 ** field.digits);
    if (tooLarge >= 0)
      throw folderError(`${name}: element ${tooLarge} has more than ${field.digits} hex digits`);
    return words;
  });
  return generated ? { ...generated, operands } : { grid, operands, boundaryRows: 0, notes: [] };
}

const inputForm = (job: FolderJob, k: number, rows: number, length: number): FolderArray => ({
  ...fieldArray(job.function.inputs[k]!, 'input', rows, new Uint32Array(0)),
  shape: [rows, length],
});

/** Before a size that a manifest states is believed, a file must have that size. */
function drawnWithinReason(job: FolderJob & { generator: FolderGenerator }, read: ReadFile): FolderInputs {
  const grid = gridOf(job, 0);
  const [field] = job.function.inputs;
  const form = inputForm(job, 0, grid.rows, rowLength(field!, grid));
  const name = fileName(job, form, 0);
  const { length } = needed(read, name);
  if (length < rawLength(form)) {
    throw folderError(
      `${name}: short: ${length} bytes; ${MANIFEST} states ${form.dtype} [${form.shape.join(', ')}]`,
    );
  }
  return drawInputs(job);
}

/** What the device wrote for an array: in the folder's own form, or headerless. */
function readActual(job: FolderJob, array: FolderArray, read: ReadFile): Uint32Array | undefined {
  const names = [...new Set([actualName(job, array), `actual_${array.name}.bin`])];
  const found = names.flatMap((name): [string, Uint8Array][] => {
    const bytes = read(name);
    return bytes === undefined ? [] : [[name, bytes]];
  });
  if (found.length > 1) throw folderError(`${names.join(' and ')}: only one of them can be meant`);
  const [actual] = found;
  if (actual === undefined) {
    if (array.role === 'stage') return undefined;
    throw folderError(`${names[0]}: missing`);
  }
  const [name, bytes] = actual;
  const form: ArrayForm = array;
  return decodeArray(form, bytes, name.slice(name.lastIndexOf('.') + 1) as FileForm, name);
}

/**
 * FOL-18 to FOL-20. Judges a folder.
 * @param text manifest.json
 * @param tell hears the first difference of each block of each file
 * @throws Fp4Error for a folder that is incomplete, contradicts itself or states what the oracle does not
 */
export function verifyFolder(
  text: string,
  read: ReadFile,
  sha256: Sha256,
  tell: (difference: FolderDifference) => void,
): FolderVerdict {
  const open = openManifest(text, sha256);
  if (open.reader.raw('function') === GEMM) return verifyGemmFolder(open, read, sha256, tell);
  const { job, producer, value } = readManifest(open);
  checkForm(job);
  const inputs = readInputs(job, read);
  const folder = rebuilt(job, inputs, sha256, producer);
  checkListed(folder, value, read, sha256);
  const { manifest, content } = folder;
  let first: FolderDifference | undefined;
  const expected = content.arrays.filter(({ role }) => role !== 'input');
  const actual = expected.map((array) => readActual(job, array, read));
  const files = expected.map((array, k): FileVerdict => {
    const { name, role } = array as { name: string; role: 'stage' | 'expected' };
    const found = actual[k];
    if (found === undefined) return { name, role, wrong: undefined, elements: array.words.length };
    const note = (difference: FolderDifference): void => {
      first ??= difference;
      tell(difference);
    };
    return {
      name,
      role,
      ...compareArray(array, found, job.shape !== undefined, manifest.nan === 'any', note),
    };
  });
  const differences = files.reduce((sum, { wrong }) => sum + (wrong ?? 0), 0);
  const { function: name, parameters, cases } = manifest;
  return { function: name, parameters, cases, files, differences, ...(first && { first }) };
}

/** A refusal here is one of the folder's inputs. */
function rebuilt(job: FolderJob, inputs: FolderInputs, sha256: Sha256, producer: string): Folder {
  try {
    return folderFrom(job, inputs, sha256, producer);
  } catch (error) {
    if (error instanceof Fp4Error) throw new Fp4Error(error.code, `${MANIFEST}: ${error.message}`);
    throw error;
  }
}
