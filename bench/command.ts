/** The command as a process of its own, its start included: what a user waits for. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../src/cli.js', import.meta.url));

/** The null device where a stream of the command is left away. */
export interface Streams {
  readonly stdin?: string;
  readonly stdout?: string;
}

/** Seconds that a command takes; files stand for its standard streams. */
export function seconds(args: readonly string[], { stdin, stdout }: Streams = {}): number {
  const input = stdin === undefined ? 'ignore' : openSync(stdin, 'r');
  const output = stdout === undefined ? 'ignore' : openSync(stdout, 'w');
  try {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
      stdio: [input, output, 'pipe'],
    });
    if (status !== 0) throw new Error(`fp4 ${args.join(' ')}: ${stderr}`);
    return (performance.now() - start) / 1000;
  } finally {
    for (const stream of [input, output]) if (typeof stream === 'number') closeSync(stream);
  }
}
