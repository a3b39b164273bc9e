/** Runs one command line in this process, with what it wrote and its exit code. */
import { vi } from 'vitest';
import { run } from '../../src/cli/program.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function fp4(...args: string[]): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text;
      return true;
    }),
  );
  const before = process.stdout.listeners('error');
  const exitCode = process.exitCode;
  process.exitCode = 0;
  try {
    await run(args);
    return { code: Number(process.exitCode), ...written };
  } finally {
    process.exitCode = exitCode;
    for (const spy of spies) spy.mockRestore();
    for (const listener of process.stdout.listeners('error')) {
      if (!before.includes(listener)) process.stdout.off('error', listener as () => void);
    }
  }
}
