/** What it costs to load the library, and to start the command: whole processes, beside a bare one. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inTurns } from './measure.ts';
import type { BenchOptions, Section, SectionResult } from './section.ts';

const SRC = new URL('../src/', import.meta.url);

const STARTS = [
  { name: 'bare Node', args: ['--input-type=module', '--eval', ''] },
  {
    name: 'the library imported',
    args: ['--input-type=module', '--eval', `import '${new URL('index.js', SRC).href}'`],
  },
  { name: 'fp4 functions', args: [fileURLToPath(new URL('cli.js', SRC)), 'functions'] },
];

/** Starts are short and vary, so that there are more of them. */
const STARTS_A_ROUND = 4;

async function run({ rounds }: BenchOptions): Promise<SectionResult> {
  const turns = STARTS.map(({ args }) => () => {
    const start = performance.now();
    execFileSync(process.execPath, args, { stdio: 'ignore' });
    return performance.now() - start;
  });
  const times = await inTurns(turns, rounds * STARTS_A_ROUND);
  return {
    figures: STARTS.map(({ name }, i) => ({ start: name, milliseconds: times[i]! })),
    header: ['process', 'ms', 'beyond bare Node'],
    rows: STARTS.map(({ name }, i) => [name, times[i]!.toFixed(0), (times[i]! - times[0]!).toFixed(0)]),
    notes: [`The median of ${rounds * STARTS_A_ROUND} starts in turns.`],
  };
}

export const loading: Section = { name: 'loading', title: 'Start', run };
