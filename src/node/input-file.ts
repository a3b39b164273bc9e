/**
 * A file that is read at any place, in pieces. Only its size and the bytes asked for are ever in memory.
 * Clauses: spec/tensors.md TEN-10.
 * @module
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Fp4Error } from '../error.ts';
import { attempt } from './system-error.ts';

/** An open file as another thread can be told of it. */
export interface OpenFile {
  /** How messages name it. */
  readonly path: string;
  readonly descriptor: number;
  /** Bytes. */
  readonly size: number;
}

export class InputFile implements OpenFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly descriptor: number;

  private constructor({ path, descriptor, size }: OpenFile) {
    this.path = path;
    this.descriptor = descriptor;
    this.size = size;
  }

  /**
   * Opens a regular file. Not blocking, so that a pipe is refused rather than waited for.
   * @throws Fp4Error E_FILE
   */
  static open(path: string): InputFile {
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
    const descriptor = attempt(path, () => openSync(path, flags));
    const status = fstatSync(descriptor);
    if (status.isFile()) return new InputFile({ path, descriptor, size: status.size });
    closeSync(descriptor);
    const found = status.isDirectory() ? 'it is a folder' : 'it is not a regular file';
    throw new Fp4Error('E_FILE', `${path}: ${found}; expected a file`);
  }

  /** A file that another thread opened, and closes. */
  static opened(file: OpenFile): InputFile {
    return new InputFile(file);
  }

  /** What another thread needs to read it. */
  get handle(): OpenFile {
    return { path: this.path, descriptor: this.descriptor, size: this.size };
  }

  /**
   * @returns the bytes from `offset` on; fewer than `count` only if `short` allows it, at the end of the file
   * @throws Fp4Error E_FILE where the file has become shorter than it was when it was opened
   */
  read(offset: number, count: number, short: 'short' | 'whole' = 'whole'): Uint8Array {
    const bytes = new Uint8Array(short === 'short' ? Math.min(count, this.size - offset) : count);
    this.readInto(bytes, offset);
    return bytes;
  }

  /** Fills `bytes` from `offset` on. */
  readInto(bytes: Uint8Array, offset: number): void {
    for (let done = 0; done < bytes.length; ) {
      const found = attempt(this.path, () =>
        readSync(this.descriptor, bytes, done, bytes.length - done, offset + done),
      );
      if (found === 0)
        throw new Fp4Error('E_FILE', `${this.path}: ends at byte ${offset + done} while it is read`);
      done += found;
    }
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
