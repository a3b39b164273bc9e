/**
 * What a job of the worker pool is, and what passes between the threads.
 * Clauses: spec/tensors.md TEN-23.
 * @module
 */

/** A value for another thread; the buffers listed move there instead of being copied, and are empty here afterwards. */
export interface Message<T> {
  readonly value: T;
  readonly transfer?: readonly ArrayBuffer[];
}

/**
 * A job: from what all its inputs have in common, the function that answers one input. It is set up once in each thread.
 * Setup, inputs and outputs are plain data. An answer must not depend on the inputs before it, which other threads may have had.
 */
export type Job<S, I, O> = (setup: S) => (input: I) => Message<O> | Promise<Message<O>>;

/** How the pool marks its threads, so that a file that is also a command knows what it was started for. */
export const WORKER_MARK = 'fp4-worker';

/** To a thread: a job to set up or to forget under the number of its series, or an input for it. */
export type Order =
  | { readonly kind: 'open'; readonly series: number; readonly job: string; readonly setup: unknown }
  | { readonly kind: 'run'; readonly series: number; readonly id: number; readonly input: unknown }
  | { readonly kind: 'close'; readonly series: number };

/** From a thread: the output for an input, or what was thrown; `code` is that of an Fp4Error. */
export type Reply =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly message: string; readonly code?: string };
