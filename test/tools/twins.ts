/** The input families in other languages (docs/examples/families), run as programs. */
import { execFile, execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Family, fillFamily } from '../../src/random/families.ts';

const source = (name: string): string =>
  fileURLToPath(new URL(`../../docs/examples/families/${name}`, import.meta.url));

/** The arguments of a twin. */
export interface Asked {
  readonly family: Family;
  readonly type: 'bf16' | 'f32';
  readonly seed: bigint;
  readonly operand: number;
  readonly first: number;
  readonly count: number;
  readonly channels: number;
  readonly range?: readonly [number, number];
}

export interface Twin {
  readonly language: string;
  readonly tool: string;
  /** Compiles into the directory, where there is something to compile. */
  readonly prepare: (directory: string) => void;
  readonly command: (directory: string, asked: Asked) => readonly [string, ...string[]];
}

const NAMES = ['FAMILY', 'TYPE', 'SEED', 'OPERAND', 'FIRST', 'COUNT', 'CHANNELS', 'LO', 'HI'];
const words = (a: Asked): string[] =>
  [a.family, a.type, a.seed, a.operand, a.first, a.count, a.channels, ...(a.range ?? [])].map(String);

export const TWINS: readonly Twin[] = [
  {
    language: 'Python',
    tool: 'python3',
    prepare: () => {},
    command: (_, asked) => ['python3', source('families.py'), ...words(asked)],
  },
  {
    language: 'C',
    tool: 'cc',
    prepare: (directory) => {
      const strict = ['-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror', '-O2'];
      execFileSync('cc', [...strict, '-o', join(directory, 'families'), source('families.c')]);
    },
    command: (directory, asked) => [join(directory, 'families'), ...words(asked)],
  },
  {
    language: 'SystemVerilog',
    tool: 'iverilog',
    prepare: (directory) => {
      execFileSync('iverilog', ['-g2012', '-o', join(directory, 'families.vvp'), source('families.sv')]);
    },
    command: (directory, asked) => {
      const plusargs = words(asked).map((word, k) => `+${NAMES[k]}=${word}`);
      return ['vvp', '-n', join(directory, 'families.vvp'), ...plusargs];
    },
  },
];

/** Whether a tool is on PATH. */
export function installed(tool: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The lines that a twin prints. */
export async function twinLines(twin: Twin, directory: string, asked: Asked): Promise<string[]> {
  const [program, ...args] = twin.command(directory, asked);
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 2 ** 28 });
  return stdout.trimEnd().split('\n');
}

/** The same lines from the library. */
export function libraryLines({ first, count, ...draw }: Asked): string[] {
  const out = new Uint32Array(count);
  fillFamily(draw, first, out);
  return Array.from(out, (word) => word.toString(16).padStart(draw.type === 'bf16' ? 4 : 8, '0'));
}
