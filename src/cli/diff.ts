/** `fp4 diff`: two tensor files, bit for bit (spec/tensors.md TEN-17, TEN-21). */
import type { Command } from 'commander';
import { printable } from '../error.ts';
import { bothQuantized, diffFiles, metadataDifferences, SHOWN } from '../node/diff-files.ts';
import { diffQuantized } from '../node/diff-quantized.ts';
import type { OnProgress } from '../node/pace.ts';
import { withQuantized } from '../node/quantized-source.ts';
import { withProgress } from './tensor-options.ts';

/** What both ways of comparing come to. */
interface Comparison {
  readonly differences: number;
  readonly first: readonly object[];
  /** The first differences as columns. */
  readonly rows: readonly (readonly (string | number)[])[];
  readonly structure: readonly string[];
  readonly notes: readonly string[];
  /** What was compared. */
  readonly compared: string;
}

/** Element by element. */
async function byElement(a: string, b: string, onProgress?: OnProgress): Promise<Comparison> {
  const { tensors, count, first, structure, notes } = await diffFiles(a, b, onProgress);
  const rows = first.map((d) => [`${printable(d.tensor)}[${d.index.join(',')}]`, d.a, d.b]);
  const compared = `${tensors} tensors compared, ${count} elements differ`;
  return { differences: count, first, rows, structure, notes, compared };
}

/** Block by block, with the field and the elements of the original tensor, whatever the layouts. */
async function byBlock(a: string, b: string, onProgress?: OnProgress): Promise<Comparison> {
  const { notes } = await metadataDifferences(a, b);
  const { count, first, structure } = await withQuantized(a, (left) =>
    withQuantized(b, (right) => diffQuantized(left, right, SHOWN, onProgress)),
  );
  const rows = first.map((d) => [d.block, d.field, d.elements, d.a, d.b]);
  const compared = `quantized tensors compared, ${count} fields of blocks differ`;
  return { differences: count, first, rows, structure, notes, compared };
}

export function addDiff(program: Command): void {
  program
    .command('diff <a> <b>')
    .description('compare two tensor files (X.npy, FILE.safetensors or FILE.safetensors:NAME) bit for bit')
    .option('--json', 'one JSON report on stdout')
    .action(async (a: string, b: string, options: { json?: boolean }) => {
      const compare = (await bothQuantized(a, b)) ? byBlock : byElement;
      const found = await withProgress((onProgress) => compare(a, b, onProgress));
      const { differences, first, rows, structure, notes, compared } = found;
      const equal = differences === 0 && structure.length === 0;
      if (options.json) {
        process.stdout.write(`${JSON.stringify({ equal, differences, first, structure, notes })}\n`);
      } else {
        process.stdout.write(rows.map((row) => `${row.join('\t')}\n`).join(''));
        for (const line of [...structure, ...notes.map((note) => `${note} (does not count)`)]) {
          process.stderr.write(`${printable(line)}\n`);
        }
        const shown = differences > first.length ? `; the first ${first.length} are shown` : '';
        process.stderr.write(`${compared}${shown}\n`);
      }
      if (!equal) process.exitCode = 1;
    });
}
