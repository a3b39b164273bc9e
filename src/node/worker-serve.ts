/**
 * What a worker thread of the pool does: it answers the orders it is sent, one after the other.
 * @module
 */
import type { MessagePort } from 'node:worker_threads';
import { Fp4Error } from '../error.ts';
import type { Message, Order, Reply } from './worker-job.ts';
import { type JobName, loadJob } from './worker-jobs.ts';

type Answer = (input: unknown) => Message<unknown> | Promise<Message<unknown>>;

const failure = (id: number, error: unknown): Reply => {
  if (error instanceof Fp4Error) return { id, code: error.code, message: error.message };
  return { id, message: error instanceof Error ? error.message : String(error) };
};

/** Makes this thread one that answers the orders of the thread that started it. */
export function serve(port: MessagePort): void {
  const opened = new Map<number, Promise<Answer>>();
  let last: Promise<void> = Promise.resolve();

  const run = async (series: number, id: number, input: unknown): Promise<void> => {
    try {
      const answer = await opened.get(series)!;
      const { value, transfer = [] } = await answer(input);
      port.postMessage({ id, output: value } satisfies Reply, [...transfer]);
    } catch (error) {
      port.postMessage(failure(id, error));
    }
  };

  const follow = (order: Order): void | Promise<void> => {
    if (order.kind === 'run') return run(order.series, order.id, order.input);
    if (order.kind === 'close') {
      opened.delete(order.series);
      return;
    }
    const answer = loadJob(order.job as JobName).then((job) => job(order.setup));
    answer.catch(() => {}); // every input of the series is told of it
    opened.set(order.series, answer);
  };

  // One at a time, also where a job waits for something.
  port.on('message', (order: Order) => {
    last = last.then(() => follow(order));
  });
}
