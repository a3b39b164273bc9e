/** `fp4 grpo`: a GRPO step and its pieces (spec/grpo.md, spec/adamw.md). */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { KERNELS, type Kernel } from '../grpo/adamw.ts';
import { type MismatchReport, mismatch } from '../grpo/mismatch.ts';
import { mismatchChart } from '../grpo/mismatch-chart.ts';
import { mismatchJson, mismatchText } from '../grpo/mismatch-text.ts';
import { refuseStrange } from '../grpo/step.ts';
import type { Step } from '../grpo/step-record.ts';
import { adamwFile } from '../node/adamw-file.ts';
import { grpoFile, readSteps } from '../node/grpo-file.ts';
import { writeWhole } from '../node/output-file.ts';

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

const MOST_WARNINGS = 20;

/** GRP-20. What is strange about a step's data, on stderr. */
function tellWarnings({ place, warnings }: Step): void {
  for (const warning of warnings.slice(0, MOST_WARNINGS)) process.stderr.write(`${place}${warning}\n`);
  if (warnings.length > MOST_WARNINGS)
    process.stderr.write(`${place}${warnings.length - MOST_WARNINGS} more such values\n`);
}

/** GRP-18. The step itself is the group's own command: `fp4 grpo STEP -o OUT`. */
function addStep(group: Command): void {
  group
    .argument('[step]', 'log-probs, rewards and config: .json, .jsonl (a step a line) or .safetensors')
    .option('-o, --output <file>', 'the file to write, of the same kind')
    .option('--strict', 'refuse NaN, infinities and positive log-probs instead of reporting them')
    .action(async (input: string | undefined, options: { output?: string; strict?: boolean }) => {
      if (input === undefined) return group.help({ error: true });
      const { output } = options;
      if (output === undefined) group.error("error: required option '-o, --output <file>' not specified");
      const strict = options.strict === true;
      const steps = await grpoFile({ input, output, strict, onWarnings: tellWarnings });
      process.stderr.write(`${steps} ${steps === 1 ? 'step' : 'steps'} written to ${output}\n`);
    });
}

const MOST_TOKENS = 1000;

function tokenCount(value: string): number {
  const n = Number(value);
  if (!/^\d+$/.test(value) || n > MOST_TOKENS)
    throw new InvalidArgumentError(`It is an integer from 0 to ${MOST_TOKENS}.`);
  return n;
}

interface MismatchOptions {
  json?: boolean;
  svg?: string;
  top: number;
  strict?: boolean;
}

async function mismatchReports(input: string, options: MismatchOptions): Promise<MismatchReport[]> {
  const reports: MismatchReport[] = [];
  for await (const step of readSteps(input)) {
    if (options.strict === true) refuseStrange(step);
    tellWarnings(step);
    reports.push(mismatch(step, options.top));
  }
  return reports;
}

function addMismatch(group: Command): void {
  group
    .command('mismatch <step>')
    .description(
      'how far training and rollout log-probs are apart: metrics, worst tokens, what corrections would do',
    )
    .option('--json', 'one JSON object on stdout')
    .option('--svg <file>', 'a chart')
    .option('--top <n>', 'how many of the worst tokens', tokenCount, 10)
    .option('--strict', 'refuse NaN, infinities and positive log-probs instead of reporting them')
    .action(async (input: string, options: MismatchOptions) => {
      const reports = await mismatchReports(input, options);
      const { svg } = options;
      if (svg !== undefined) {
        await writeWhole(svg, async (file) => file.write(Buffer.from(mismatchChart(reports)), 0));
        process.stderr.write(`chart written to ${svg}\n`);
      }
      process.stdout.write(
        options.json
          ? `${mismatchJson(reports)}\n`
          : `${reports.map((report) => mismatchText(report).join('\n')).join('\n\n')}\n`,
      );
    });
}

export function addGrpo(program: Command): void {
  const group = program
    .command('grpo')
    .description('one GRPO step, every number pinned, and its pieces')
    .enablePositionalOptions(); // the group and its commands have an -o each
  addStep(group);
  addMismatch(group);
  addAdamW(group);
  for (const command of group.commands) command.exitOverride();
}
