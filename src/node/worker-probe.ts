/**
 * A job whose answers are known beforehand: what the pool itself is tested with.
 * @module
 */
import { threadId } from 'node:worker_threads';
import { Fp4Error } from '../error.ts';
import type { Job } from './worker-job.ts';

export interface ProbeInput {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How to fail instead: as bad input does, as a defect does, or by ending the thread. */
  readonly fail?: 'input' | 'defect' | 'exit';
  /** Milliseconds to work. */
  readonly busy?: number;
}

export interface ProbeOutput {
  /** Those of the input, the number of the setup added to each. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** 0 in the main thread. */
  readonly thread: number;
}

export const probe: Job<number, ProbeInput, ProbeOutput> =
  (added) =>
  ({ bytes, fail, busy = 0 }) => {
    const end = performance.now() + busy;
    while (performance.now() < end);
    if (fail === 'input') throw new Fp4Error('E_LENGTH', `${bytes[0]} is refused`);
    if (fail === 'defect') throw new TypeError(`${bytes[0]} is a defect`);
    if (fail === 'exit') process.exit(1);
    const sums = bytes.map((b) => b + added);
    return { value: { bytes: sums, thread: threadId }, transfer: [sums.buffer] };
  };
