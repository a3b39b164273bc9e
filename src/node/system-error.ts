/**
 * The operating system's refusals as this project's error, in words.
 * @module
 */
import { Fp4Error } from '../error.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file system does not hold files that large',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
  EIO: 'the device reports an error',
  ERR_INVALID_ARG_VALUE: 'the name is not valid',
};

/** Runs a file operation; what the system refuses becomes an Fp4Error E_FILE that starts with `what`. */
export function attempt<T>(what: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (typeof code !== 'string') throw error;
    throw new Fp4Error('E_FILE', `${what}: ${REASONS[code] ?? code}`);
  }
}
