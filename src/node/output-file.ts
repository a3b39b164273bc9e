/**
 * A file that appears whole or not at all: written under a temporary name in the same folder, then renamed.
 * The temporary file is removed on failure, and when the process is interrupted. Clauses: spec/tensors.md TEN-10.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Fp4Error } from '../error.ts';
import { attempt } from './system-error.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Writes bytes at a place of an open file; `path` is how messages name it. */
export function writeAt(path: string, descriptor: number, bytes: Uint8Array, offset: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += attempt(`${path}: cannot be written`, () =>
      writeSync(descriptor, bytes, done, bytes.length - done, offset + done),
    );
  }
}

export class OutputFile {
  readonly path: string;
  readonly #target: string;
  readonly #temporary: string;
  /** For `writeAt` in other threads, which must be done before this file is closed. */
  readonly descriptor: number;
  readonly #onSignal: (signal: NodeJS.Signals) => void;
  #open = true;

  /** @throws Fp4Error E_FILE where the folder does not exist or cannot be written, or the path is a folder */
  constructor(path: string) {
    this.path = path;
    const older = attempt(`${path}: cannot be created`, () => statSync(path, { throwIfNoEntry: false }));
    if (older && !older.isFile()) {
      const found = older.isDirectory() ? 'it is a folder' : 'it is not a regular file';
      throw new Fp4Error('E_FILE', `${path}: ${found}; expected a file name`);
    }
    // A link stays one: what it leads to is replaced.
    this.#target = older ? attempt(`${path}: cannot be created`, () => realpathSync(path)) : path;
    const name = `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`;
    this.#temporary = join(dirname(this.#target), name);
    this.#onSignal = (signal) => {
      this.discard();
      process.kill(process.pid, signal); // with no listener left, the signal does what it always does
    };
    // Listening comes first: a signal just after the file was made would leave it behind.
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    try {
      this.descriptor = attempt(`${path}: cannot be created`, () => openSync(this.#temporary, 'wx', 0o666));
    } catch (error) {
      this.#stopListening();
      throw error;
    }
  }

  /** Writes bytes at a place; places not written hold zeros. */
  write(bytes: Uint8Array, offset: number): void {
    writeAt(this.path, this.descriptor, bytes, offset);
  }

  /** Gives the file its name, over one that was there. */
  commit(): void {
    this.#close();
    try {
      attempt(`${this.path}: cannot be created`, () => renameSync(this.#temporary, this.#target));
    } catch (error) {
      rmSync(this.#temporary, { force: true });
      throw error;
    }
  }

  /** Removes what was written; after `commit` it does nothing. */
  discard(): void {
    if (!this.#open) return;
    this.#close();
    rmSync(this.#temporary, { force: true });
  }

  #stopListening(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  #close(): void {
    this.#open = false;
    this.#stopListening();
    closeSync(this.descriptor);
  }
}

/** Writes a file with `fill`; if that fails nothing is left behind. */
export async function writeWhole<T>(path: string, fill: (file: OutputFile) => Promise<T>): Promise<T> {
  const file = new OutputFile(path);
  try {
    const result = await fill(file);
    file.commit();
    return result;
  } finally {
    file.discard();
  }
}
