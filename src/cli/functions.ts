/** `fp4 functions`: what can be evaluated, generated and verified. */
import type { Command } from 'commander';
import { describe, FUNCTIONS } from '../functions/registry.ts';

type Described = ReturnType<typeof describe>;

const fieldText = ({ name, kind, count, digits }: Described['inputs'][number]): string =>
  kind === 'codes' ? `${name} (${count} digits)` : `${name} (${count} x ${digits} digits)`;

function text(f: Described): string {
  const rows = [
    `${f.name}: ${f.summary}`,
    `  ${f.inputs.map(fieldText).join(', ')} -> ${f.outputs.map(fieldText).join(', ')}`,
  ];
  for (const [name, { values }] of Object.entries(f.parameters))
    rows.push(`  --set ${name}=${values.join('|')}`);
  if (f.profiles.length > 0) rows.push(`  --profile ${f.profiles.join('|')}`);
  if (f.stages.length > 0) rows.push(`  stages ${f.stages.map((s) => s.name).join(' ')}`);
  return rows.join('\n');
}

export function addFunctions(program: Command): void {
  program
    .command('functions')
    .description('every function: widths, parameters with values and defaults (the first), profiles, stages')
    .option('--json', 'one JSON array on stdout')
    .action((options: { json?: boolean }) => {
      const described = FUNCTIONS.map(describe);
      process.stdout.write(
        options.json ? `${JSON.stringify(described)}\n` : `${described.map(text).join('\n\n')}\n`,
      );
    });
}
