/** A Python with NumPy, for the tests of check.py. */
import { spawnSync } from 'node:child_process';

const CANDIDATES = ['/usr/bin/python3', 'python3', 'python'];

let found: string | undefined;

/** The first interpreter that has NumPy; without one the tests of check.py cannot say anything, and fail. */
export function pythonWithNumPy(): string {
  found ??= CANDIDATES.find((python) => spawnSync(python, ['-c', 'import numpy']).status === 0);
  if (found === undefined) {
    throw new Error(
      `none of ${CANDIDATES.join(', ')} has NumPy, which check.py needs (Debian: python3-numpy)`,
    );
  }
  return found;
}

export interface PythonRun {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export function python(args: readonly string[], cwd?: string): PythonRun {
  const run = spawnSync(pythonWithNumPy(), ['-B', ...args], { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return { code: run.status, out: run.stdout, err: run.stderr };
}
