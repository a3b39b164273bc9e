/**
 * A few worker threads that run the jobs of worker-jobs.ts, with the outputs in the order of the inputs whatever thread is
 * done first, and only so many inputs taken as there are threads to work on them.
 *
 * File descriptors belong to the process, so a job may read and write, at places of its own, files that the main thread opened.
 * Clauses: spec/tensors.md TEN-23.
 * @module
 */
import { Worker } from 'node:worker_threads';
import { Fp4Error, type Fp4ErrorCode } from '../error.ts';
import { type Message, type Order, type Reply, WORKER_MARK } from './worker-job.ts';
import { type Input, type JobName, loadJob, type Output, type Setup } from './worker-jobs.ts';

/** Inputs given out for each thread: one to work on, and some that wait, so that none idles while the main thread is kept waiting. */
const IN_FLIGHT = 4;

const ENDED = 'a worker thread ended before its work was done';

/**
 * Where the code of a worker is: beside this file when it was compiled; in this file when all is bundled in one. Sources that
 * are run as TypeScript, as by the tests, take the compiled worker, since a thread of plain Node reads no TypeScript.
 */
function workerFile(): URL {
  const here = import.meta.url;
  if (here.endsWith('/src/node/worker-pool.ts')) return new URL(`../../dist/node/worker.js`, here);
  return here.endsWith('/worker-pool.js')
    ? new URL(here.replace('worker-pool.js', 'worker.js'))
    : new URL(here);
}

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

const errorIn = ({ code, message }: { code?: string; message: string }): Error =>
  code === undefined ? new Error(message) : new Fp4Error(code as Fp4ErrorCode, message);

/** One worker, and the inputs it has not answered. */
class Thread {
  // Options of this process's command line, such as a script given by --eval, are not for the worker.
  readonly #worker = new Worker(workerFile(), { workerData: WORKER_MARK, execArgv: [] });
  readonly #waiting = new Map<number, Waiting>();
  #ended: Error | undefined;
  #next = 0;

  constructor() {
    this.#worker.on('message', (reply: Reply) => {
      const waiting = this.#waiting.get(reply.id)!;
      this.#waiting.delete(reply.id);
      if ('output' in reply) waiting.resolve(reply.output);
      else waiting.reject(errorIn(reply));
    });
    this.#worker.on('messageerror', (error) => this.#end(error));
    this.#worker.on('error', (error) => this.#end(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#end(new Error(ENDED)));
  }

  /** Inputs not yet answered. */
  get load(): number {
    return this.#waiting.size;
  }

  order(order: Order, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(order, [...transfer]);
  }

  run<T>(series: number, { value, transfer = [] }: Message<unknown>): Promise<T> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#next++;
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    this.order({ kind: 'run', series, id, input: value }, transfer);
    return answered as Promise<T>;
  }

  /** Stops whatever it does; when this is over, it touches no file any more. */
  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

/** How many threads some pieces of work are worth: each costs some 40 ms to start, what a few million elements cost. */
export const threadsFor = (wanted: number, pieces: number): number =>
  Math.max(1, Math.min(wanted, pieces >> 2));

/** The inputs of a series whose values are copied. */
export function* messages<T>(values: Iterable<T>): Generator<Message<T>> {
  for (const value of values) yield { value };
}

export interface WorkerPool {
  /** 1 where there is no thread beside the main one. */
  readonly threads: number;
  /**
   * Runs a job on each input. Inputs are taken as there is room for them, and the outputs come in their order. What a job
   * throws is thrown here when its turn comes: of several errors that of the first input, whatever thread was faster.
   * @throws Fp4Error with the code and message of the one thrown in the thread
   */
  run<K extends JobName>(
    job: K,
    setup: Setup<K>,
    inputs: Iterable<Message<Input<K>>>,
  ): AsyncGenerator<Output<K>, void, undefined>;
}

/** No thread: each input when its output is asked for. */
const alone: WorkerPool = {
  threads: 1,
  async *run(name, setup, inputs) {
    const answer = (await loadJob(name))(setup);
    for (const { value } of inputs) yield (await answer(value)).value as Output<typeof name>;
  },
};

class Threads implements WorkerPool {
  readonly #threads: readonly Thread[];
  #series = 0;

  constructor(count: number) {
    this.#threads = Array.from({ length: count }, () => new Thread());
  }

  get threads(): number {
    return this.#threads.length;
  }

  async *run<K extends JobName>(
    job: K,
    setup: Setup<K>,
    inputs: Iterable<Message<Input<K>>>,
  ): AsyncGenerator<Output<K>, void, undefined> {
    const series = this.#series++;
    for (const thread of this.#threads) thread.order({ kind: 'open', series, job, setup });
    const pending: Promise<Output<K>>[] = [];
    try {
      for (const input of inputs) {
        const idlest = this.#threads.reduce((a, b) => (b.load < a.load ? b : a));
        const answered = idlest.run<Output<K>>(series, input);
        answered.catch(() => {}); // it is told of when its turn comes, or never if an earlier one failed
        pending.push(answered);
        if (pending.length >= IN_FLIGHT * this.threads) yield await pending.shift()!;
      }
      while (pending.length > 0) yield await pending.shift()!;
    } finally {
      for (const thread of this.#threads) thread.order({ kind: 'close', series });
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }
}

/**
 * A pool for as long as `use` takes. However that ends, no thread is left.
 * @param threads at least 1; 1 starts none, and jobs run in this one
 */
export async function withWorkers<T>(threads: number, use: (pool: WorkerPool) => Promise<T>): Promise<T> {
  if (threads <= 1) return use(alone);
  const pool = new Threads(threads);
  try {
    return await use(pool);
  } finally {
    await pool.stop();
  }
}
