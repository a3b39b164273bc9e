/** `fp4 inspect`: blocks for a person, from a quantized file or from lines of the stream. */
import { type Command, InvalidArgumentError } from 'commander';
import { Fp4Error } from '../error.ts';
import { describeLine } from '../inspect/line.ts';
import { caseLines } from '../node/input.ts';
import { inspectFile } from '../node/inspect-file.ts';
import { Output } from '../node/output.ts';
import { standardInput } from '../node/standard-streams.ts';
import { type PolicyOptions, withPolicy } from './options.ts';
import { type ForeignOptions, quantizedInput, withForeign } from './quantized-options.ts';

interface InspectOptions extends PolicyOptions, ForeignOptions {
  block?: number[];
}

function blockNumbers(text: string): number[] {
  const numbers = text.split(',').map(Number);
  if (!/^\d+(,\d+)*$/.test(text) || !numbers.every(Number.isSafeInteger)) {
    throw new InvalidArgumentError('It is one block number or several, such as 0,17.');
  }
  return numbers;
}

async function inspectLines(output: Output, { profile, set }: InspectOptions): Promise<void> {
  for await (const batch of caseLines(standardInput())) {
    for (const { number, text } of batch) {
      for (const line of describeLine(text, `line ${number}`, profile, set)) output.line(line);
      output.line('');
      if (output.full) await output.flush();
    }
  }
}

export function addInspect(program: Command): void {
  const command = program
    .command('inspect [input]')
    .description('show blocks field by field: of quantized data, or - for lines of the stream')
    .option('--block <numbers>', 'which blocks of the file, counted row by row (default: 0)', blockNumbers);
  withForeign(withPolicy(command)).action(async (input: string | undefined, options: InspectOptions) => {
    const output = new Output(process.stdout);
    try {
      if (input === '-') {
        if (options.block) throw new Fp4Error('E_USAGE', '--block is for a file; a line is one block');
        await inspectLines(output, options);
        return;
      }
      if (options.profile !== undefined || Object.keys(options.set).length > 0) {
        throw new Fp4Error(
          'E_USAGE',
          '--profile and --set are for lines on stdin; a file says how it was made',
        );
      }
      const lines = await inspectFile(quantizedInput(input, options), options.block ?? [0]);
      for (const line of lines) output.line(line);
    } finally {
      await output.flush();
    }
  });
}
