/** `fp4 verify`: cases on stdin, judged bit by bit. */
import type { Command } from 'commander';
import { functionByName } from '../functions/registry.ts';
import { Output } from '../node/output.ts';
import { type ReportedDifference, verify } from '../node/stream.ts';
import { type StreamOptions, streamJob, withStream } from './options.ts';

/** Differences that a JSON report spells out; the rest is counted. */
const SHOWN = 100;

export function addVerify(program: Command): void {
  withStream(
    program
      .command('verify <function>')
      .description(
        'judge inputs and outputs on stdin: each difference as line, field[index], expected, found',
      ),
  )
    .option('--json', 'one JSON report on stdout')
    .action(async (name: string, options: StreamOptions & { json?: boolean }) => {
      const job = streamJob(functionByName(name), options);
      const output = new Output(process.stdout);
      const shown: ReportedDifference[] = [];
      const tell = (d: ReportedDifference): void | Promise<void> => {
        if (options.json) {
          if (shown.length < SHOWN) shown.push(d);
          return;
        }
        output.line([d.line, d.field, d.expected, d.found].join('\t'));
        if (output.full) return output.flush();
      };
      try {
        const { lines, differences } = await verify(job, process.stdin, tell);
        if (options.json) {
          const report = { function: name, parameters: job.policy, lines, differences, first: shown };
          output.line(JSON.stringify(report));
        } else {
          process.stderr.write(`${name}: ${lines} cases, ${differences} differ\n`);
        }
        if (differences > 0) process.exitCode = 1;
      } finally {
        await output.flush();
      }
    });
}
