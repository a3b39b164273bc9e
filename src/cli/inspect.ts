/** `fp4 inspect`: one block for a person, from a quantized file or from a line of the stream. */
import type { Command } from 'commander';
import { describeLine } from '../inspect/line.ts';
import { caseLines } from '../node/input.ts';
import { type PolicyOptions, withPolicy } from './options.ts';

export function addInspect(program: Command): void {
  withPolicy(
    program
      .command('inspect <in>')
      .description('show blocks field by field: FILE.safetensors, or - for lines on stdin'),
  ).action(async (_path: string, options: PolicyOptions) => {
    for await (const batch of caseLines(process.stdin)) {
      for (const { number, text } of batch) {
        const lines = describeLine(text, `line ${number}`, options.profile, options.set);
        process.stdout.write(`${lines.join('\n')}\n\n`);
      }
    }
  });
}
