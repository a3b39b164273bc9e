/**
 * Times on a machine that does other things too: all contestants run in turns, so that what disturbs one disturbs the others,
 * and a figure is the median over the turns.
 */

/** Runs a contestant once; what it gives is a time, a rate or whatever the section compares. */
export type Turn = () => number | Promise<number>;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The medians of contestants that take turns. */
export async function inTurns(contestants: readonly Turn[], rounds: number): Promise<number[]> {
  const figures = contestants.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contestant] of contestants.entries()) figures[i]!.push(await contestant());
  }
  return figures.map(median);
}

/** Seconds of the fastest of some runs. */
export function fastest(runs: number, work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return best / 1000;
}

/** Lets the engine compile what is measured: at least one run, and as many as fit in a third of a second. */
export function warmUp(work: () => void): void {
  const start = performance.now();
  do work();
  while (performance.now() - start < 333);
}
