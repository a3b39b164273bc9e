/**
 * A folder that appears whole or not at all: written under a temporary name beside its place, then renamed.
 * Clauses: spec/folders.md FOL-01.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Fp4Error } from '../error.ts';
import { attempt } from './system-error.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * FOL-01. Refuses a place that is taken, before any work is done.
 * @throws Fp4Error E_FILE for a file, and for a folder that is not empty
 */
export function checkFolderFree(path: string): void {
  if (path === '') throw new Fp4Error('E_USAGE', '-o "": expected the name of a folder');
  const link = attempt(`${path}: cannot be created`, () => lstatSync(path, { throwIfNoEntry: false }));
  if (link?.isSymbolicLink())
    throw new Fp4Error('E_FILE', `${path}: it is a link; expected a new or an empty folder`);
  const status = attempt(`${path}: cannot be created`, () => statSync(path, { throwIfNoEntry: false }));
  if (status === undefined) return;
  if (!status.isDirectory())
    throw new Fp4Error('E_FILE', `${path}: it is no folder; expected a new or an empty one`);
  const count = attempt(path, () => readdirSync(path)).length;
  if (count > 0)
    throw new Fp4Error('E_FILE', `${path}: the folder holds ${count} files; expected a new or an empty one`);
}

/**
 * FOL-01. Writes all files, or nothing.
 * @throws Fp4Error E_FILE
 */
export async function writeFolder(path: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  checkFolderFree(path);
  const target = resolve(path);
  const name = `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`;
  const temporary = join(dirname(target), name);
  const discard = (): void => rmSync(temporary, { recursive: true, force: true });
  const onSignal = (signal: NodeJS.Signals): void => {
    discard();
    for (const each of SIGNALS) process.off(each, onSignal);
    process.kill(process.pid, signal); // with no listener left, the signal does what it always does
  };
  attempt(`${path}: cannot be created`, () => mkdirSync(temporary));
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    for (const [file, bytes] of files) {
      attempt(`${path}/${file}: cannot be written`, () => writeFileSync(join(temporary, file), bytes));
      await setImmediate(); // a signal is heard between two files
    }
    // Over an empty folder a rename is one step as well.
    attempt(`${path}: cannot be created`, () => renameSync(temporary, target));
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    discard();
  }
}
