/** `fp4 eval`: inputs on stdin, outputs on stdout. */
import type { Command } from 'commander';
import { functionByName } from '../functions/registry.ts';
import { standardInput } from '../node/standard-streams.ts';
import { evaluate } from '../node/stream.ts';
import { type StreamOptions, streamJob, withStream } from './options.ts';

export function addEval(program: Command): void {
  withStream(
    program.command('eval <function>').description('answer the inputs on stdin, a line (or raw record) each'),
  ).action(async (name: string, options: StreamOptions) => {
    await evaluate(streamJob(functionByName(name), options), standardInput(), process.stdout);
  });
}
