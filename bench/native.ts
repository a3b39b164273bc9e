/** The native baseline: bench/native.cpp, compiled when there is a compiler. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Compiled to build/bench; the source stays in bench. */
const SOURCE = fileURLToPath(new URL('../../bench/native.cpp', import.meta.url));

export interface NativeBuild {
  readonly name: string;
  readonly flags: readonly string[];
}

/** No contraction: a fused multiply-add would give other bits. */
export const NATIVE_BUILDS: readonly NativeBuild[] = [
  { name: 'native -O2', flags: ['-O2', '-ffp-contract=off'] },
  { name: 'native -O3 -march=native', flags: ['-O3', '-march=native', '-ffp-contract=off'] },
];

/** Million elements a second, the best of five, as the program itself measures. */
export type NativeRun = (format: string, elements: number) => number;

export interface Native {
  /** For each build its program, or undefined where it could not be compiled. */
  readonly runs: readonly (NativeRun | undefined)[];
  remove(): void;
}

export function compileNative(): Native {
  const folder = mkdtempSync(join(tmpdir(), 'fp4-bench-'));
  const runs = NATIVE_BUILDS.map(({ flags }, i): NativeRun | undefined => {
    const program = join(folder, `native${i}`);
    try {
      execFileSync('g++', [...flags, SOURCE, '-o', program], { stdio: 'ignore' });
    } catch {
      return undefined;
    }
    return (format, elements) =>
      Number(execFileSync(program, [format, String(elements)], { stdio: ['ignore', 'pipe', 'ignore'] }));
  });
  return { runs, remove: () => rmSync(folder, { recursive: true }) };
}
