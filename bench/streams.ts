/** gen, eval and verify over files of cases, in both encodings. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seconds } from './command.ts';
import { inTurns } from './measure.ts';
import type { BenchOptions, Section, SectionResult, Tell } from './section.ts';

const CASES = 200_000;
const FUNCTIONS = [
  'hif4_quantize',
  'hif4_quantize_f32',
  'hif4_dequantize',
  'mxfp4_quantize',
  'mxfp4_quantize_f32',
  'mxfp4_dequantize',
];
const COMMANDS = ['gen', 'eval', 'verify'];

async function rates(name: string, encoding: string, rounds: number, folder: string): Promise<number[]> {
  const [inputs, cases] = [join(folder, 'inputs'), join(folder, 'cases')];
  const form = ['--encoding', encoding];
  const drawn = ['gen', name, '-n', String(CASES), '--family', 'gauss', ...form];
  seconds([...drawn, '--inputs-only'], { stdout: inputs });
  const turns = [
    () => CASES / seconds(drawn, { stdout: cases }),
    () => CASES / seconds(['eval', name, ...form], { stdin: inputs }),
    () => CASES / seconds(['verify', name, ...form], { stdin: cases }),
  ];
  return inTurns(turns, rounds);
}

async function run({ rounds }: BenchOptions, tell: Tell): Promise<SectionResult> {
  const folder = mkdtempSync(join(tmpdir(), 'fp4-bench-'));
  const figures: Record<string, string | number>[] = [];
  const rows: string[][] = [];
  try {
    for (const name of FUNCTIONS) {
      for (const encoding of ['text', 'raw']) {
        tell(`${name}, ${encoding}`);
        const found = await rates(name, encoding, rounds, folder);
        for (const [i, command] of COMMANDS.entries()) {
          figures.push({ function: name, encoding, command, casesPerSecond: found[i]! });
        }
        rows.push([name, encoding, ...found.map((rate) => (rate / 1000).toFixed(0))]);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return {
    figures,
    header: ['function', 'encoding', ...COMMANDS],
    rows,
    notes: [
      `Thousand cases a second, ${CASES} Gaussian ones, start included: the median of ${rounds} turns.`,
    ],
  };
}

export const streams: Section = { name: 'streams', title: 'The stream', run };
