/** `fp4 grpo`: the pieces of a GRPO step (spec/adamw.md). */
import { type Command, Option } from 'commander';
import { KERNELS, type Kernel } from '../grpo/adamw.ts';
import { adamwFile } from '../node/adamw-file.ts';

function addAdamW(group: Command): void {
  group
    .command('adamw <input>')
    .description(
      'AdamW: lines {config, dtype, param, steps: [{grad}]} with numbers as the hex of their bits; per step what it leaves',
    )
    .requiredOption('-o, --output <file>', 'the .jsonl file to write')
    .addOption(
      new Option('-k, --kernel <name>', 'which operations share a rounding')
        .choices(KERNELS)
        .default('fused'),
    )
    .action(async (input: string, { output, kernel }: { output: string; kernel: Kernel }) => {
      const lines = await adamwFile(input, output, kernel);
      process.stderr.write(
        `${lines} ${lines === 1 ? 'run' : 'runs'} of AdamW (${kernel}) written to ${output}\n`,
      );
    });
}

export function addGrpo(program: Command): void {
  const group = program.command('grpo').description('the pieces of a GRPO step, every number pinned');
  addAdamW(group);
  for (const command of group.commands) command.exitOverride();
}
