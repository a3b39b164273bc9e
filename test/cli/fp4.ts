/** Runs the built command as a user would, in a process of its own. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const COMMAND = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export interface Run {
  code: number | null;
  stdout: Buffer;
  /** stdout as text. */
  out: string;
  err: string;
}

export function fp4(args: readonly string[], stdin: string | Uint8Array = '', cwd?: string): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [COMMAND, ...args], { cwd });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => out.push(piece));
    child.stderr.on('data', (piece: Buffer) => err.push(piece));
    child.on('error', reject);
    child.stdin.on('error', () => {}); // the command may stop before it has read everything
    child.on('close', (code) => {
      const stdout = Buffer.concat(out);
      resolve({ code, stdout, out: stdout.toString('latin1'), err: Buffer.concat(err).toString() });
    });
    child.stdin.end(stdin);
  });
}
