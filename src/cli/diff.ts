/** `fp4 diff`: two tensor files, bit for bit (spec/tensors.md TEN-17). */
import type { Command } from 'commander';
import { diffFiles } from '../node/diff-files.ts';
import { withProgress } from './tensor-options.ts';

export function addDiff(program: Command): void {
  program
    .command('diff <a> <b>')
    .description('compare two tensor files (X.npy, FILE.safetensors or FILE.safetensors:NAME) bit for bit')
    .option('--json', 'one JSON report on stdout')
    .action(async (a: string, b: string, options: { json?: boolean }) => {
      const found = await withProgress((onProgress) => diffFiles(a, b, onProgress));
      const { tensors, count, first, structure, notes } = found;
      const equal = count === 0 && structure.length === 0;
      const lines = first.map((d) => `${d.tensor}[${d.index.join(',')}]\t${d.a}\t${d.b}\n`);
      process.stdout.write(
        options.json
          ? `${JSON.stringify({ equal, tensors, differences: count, first, structure, notes })}\n`
          : lines.join(''),
      );
      if (!options.json) {
        for (const line of [...structure, ...notes.map((note) => `${note} (does not count)`)]) {
          process.stderr.write(`${line}\n`);
        }
        const shown = count > first.length ? `; the first ${first.length} are shown` : '';
        process.stderr.write(`${tensors} tensors compared, ${count} elements differ${shown}\n`);
      }
      if (!equal) process.exitCode = 1;
    });
}
