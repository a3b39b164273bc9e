/**
 * Standard input and output, with their failures told as what they are.
 * @module
 */
import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Fp4Error } from '../error.ts';
import { attempt } from './system-error.ts';

/**
 * Standard input. A folder, or a descriptor that is closed, would otherwise look like an empty file.
 * @throws Fp4Error E_FILE
 */
export function standardInput(): Readable {
  const status = attempt('stdin', () => fstatSync(0));
  if (status.isDirectory()) throw new Fp4Error('E_FILE', 'stdin: it is a folder; expected cases');
  return process.stdin;
}

/**
 * Ends the process when nobody takes its output: quietly where the reader has had enough, as `head` does, and then with the
 * exit code that was due so far; with a message where the output cannot be written.
 * @param badInput the exit code of a failed write
 */
export function watchStandardOutput(badInput: number): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`fp4: stdout: cannot be written: ${error.message} (E_FILE)\n`);
    process.exit(badInput);
  });
}
