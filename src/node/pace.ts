/**
 * Long loops that let the process breathe: progress is told, and a signal is answered, several times a second.
 * @module
 */
import { setImmediate } from 'node:timers/promises';

/** Told how much of the work is done, from 0 to 1. */
export type OnProgress = (done: number) => void;

const BREATH_MS = 50;

export class Pace {
  readonly #total: number;
  readonly #onProgress: OnProgress | undefined;
  #done = 0;
  #last = performance.now();

  constructor(total: number, onProgress?: OnProgress) {
    this.#total = total;
    this.#onProgress = onProgress;
  }

  /** Counts work as done; waits for one turn of the event loop where the last turn is long ago. */
  async step(work: number): Promise<void> {
    this.#done += work;
    if (performance.now() - this.#last < BREATH_MS) return;
    this.#onProgress?.(this.#done / this.#total);
    await setImmediate();
    this.#last = performance.now();
  }
}
