/**
 * What the commands on tensor files share: the names they accept for their output, progress, elapsed time.
 * @module
 */

import { availableParallelism } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';
import { Fp4Error } from '../error.ts';
import type { OnProgress } from '../node/pace.ts';
import { integer } from './options.ts';

/**
 * TEN-10. Refuses an output whose name does not end as its content asks.
 * @throws Fp4Error E_USAGE
 */
export function checkOutputName(path: string, ending: '.safetensors' | '.npy'): void {
  if (!path.endsWith(ending))
    throw new Fp4Error('E_USAGE', `-o ${path}: expected a name ending in ${ending}`);
}

/** Jobs shorter than this are done before anyone could read a bar. */
const QUIET_MS = 1000;
const STEPS = 1000;

/** Runs a job with a progress bar on stderr, if someone is there to see it and the job takes long enough. */
export async function withProgress<T>(job: (onProgress?: OnProgress) => Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return job();
  const { SingleBar } = await import('cli-progress');
  const start = performance.now();
  const bar = new SingleBar({ format: '{bar} {percentage}% | {eta_formatted} left', stream: process.stderr });
  let shown = false;
  try {
    return await job((done) => {
      if (!shown && performance.now() - start > QUIET_MS) {
        bar.start(STEPS, 0);
        shown = true;
      }
      if (shown) bar.update(Math.floor(done * STEPS));
    });
  } finally {
    if (shown) bar.stop();
  }
}

/** --threads. More than there are cores help nobody, but are nobody's mistake. */
export const threadsOption = (): Option =>
  new Option('--threads <n>', 'threads to work in; the output does not depend on it')
    .argParser(integer(1, 256))
    .default(availableParallelism(), 'one a core');

/** Elapsed time in seconds, for people. */
export const secondsSince = (start: number): string => `${((performance.now() - start) / 1000).toFixed(2)} s`;

/** An axis, negative when it counts from the last. */
export function axisNumber(text: string): number {
  if (!/^(0|-?[1-9]\d{0,2})$/.test(text)) throw new InvalidArgumentError('It is an integer, such as -1.');
  return Number(text);
}

/** A shape such as 256x128. */
export function shapeSizes(text: string): number[] {
  const sizes = text.split('x').map(Number);
  if (!/^(0|[1-9]\d*)(x(0|[1-9]\d*))*$/.test(text) || !sizes.every(Number.isSafeInteger)) {
    throw new InvalidArgumentError('It has the form MxKx..., such as 256x128.');
  }
  return sizes;
}
