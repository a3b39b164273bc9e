/** Whole tensor files, there and back, with one thread and with two. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seconds } from './command.ts';
import { inTurns } from './measure.ts';
import type { BenchOptions, Section, SectionResult, Tell } from './section.ts';

const ROWS = 2 ** 13;
const COLUMNS = 2 ** 13;
const MILLIONS = (ROWS * COLUMNS) / 1e6;
const THREADS = ['1', '2'];

async function run({ rounds }: BenchOptions, tell: Tell): Promise<SectionResult> {
  const folder = mkdtempSync(join(tmpdir(), 'fp4-bench-'));
  const [x, q, back] = ['x.npy', 'q.safetensors', 'back.npy'].map((name) => join(folder, name));
  const figures: Record<string, string | number>[] = [];
  const rows: string[][] = [];
  try {
    tell(`drawing ${ROWS} x ${COLUMNS} elements`);
    seconds(['tensor', `${ROWS}x${COLUMNS}`, '-o', x!, '--family', 'gauss', '--dtype', 'f4']);
    for (const format of ['hif4', 'mxfp4']) {
      const jobs = {
        quantize: ['quantize', x!, '-o', q!, '--format', format],
        dequantize: ['dequantize', q!, '-o', back!],
      };
      for (const [job, args] of Object.entries(jobs)) {
        tell(`${job} ${format}`);
        const turns = THREADS.map((n) => () => MILLIONS / seconds([...args, '--threads', n]));
        const rates = await inTurns(turns, rounds);
        for (const [i, threads] of THREADS.entries()) {
          figures.push({ job, format, threads: Number(threads), millionsPerSecond: rates[i]! });
        }
        rows.push([job, format, ...rates.map((r) => r.toFixed(0)), (rates[1]! / rates[0]!).toFixed(2)]);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return {
    figures,
    header: ['job', 'format', 'one thread', 'two threads', 'ratio'],
    rows,
    notes: [
      `Million elements a second, ${ROWS} x ${COLUMNS} of FP32, the report and the start included: the median of ${rounds} turns.`,
    ],
  };
}

export const files: Section = { name: 'files', title: 'Whole files', run };
