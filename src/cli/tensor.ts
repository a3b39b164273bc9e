/** `fp4 tensor`: a tensor of replayable inputs as .npy (spec/random.md, spec/tensors.md TEN-18). */
import { type Command, Option } from 'commander';
import { Fp4Error } from '../error.ts';
import { generateFile } from '../node/generate-file.ts';
import { FAMILIES, familyByName } from '../random/families.ts';
import { exponentRange } from './gen.ts';
import { seedOption } from './options.ts';
import { checkOutputName, secondsSince, shapeSizes, withProgress } from './tensor-options.ts';

interface TensorOptions {
  output: string;
  family: string;
  seed: bigint;
  range?: [number, number];
  dtype: 'f4' | 'bf16';
}

export function addTensor(program: Command): void {
  program
    .command('tensor')
    .description('write inputs that anyone can replay; BF16 words are written as u2')
    .argument('<shape>', 'such as 256x128', shapeSizes)
    .requiredOption('-o, --output <file>', 'the .npy file to write')
    .requiredOption('--family <name>', `one of ${Object.keys(FAMILIES).join(', ')}`)
    .addOption(seedOption())
    .option('--range <low:high>', 'exponents of the family ladder (default: -20:20)', exponentRange)
    .addOption(new Option('--dtype <type>', 'of the elements').choices(['f4', 'bf16']).default('f4'))
    .action(async (sizes: number[], options: TensorOptions) => {
      const start = performance.now();
      checkOutputName(options.output, '.npy');
      if (options.range && options.family !== 'ladder') {
        throw new Fp4Error('E_USAGE', `--range is for the family ladder, not ${options.family}`);
      }
      const draw = {
        family: familyByName(options.family),
        seed: options.seed,
        operand: 0,
        channels: Math.max(1, sizes.at(-1)!),
        type: options.dtype === 'f4' ? ('f32' as const) : ('bf16' as const),
        ...(options.range && { range: options.range }),
      };
      await withProgress((onProgress) => generateFile(options.output, sizes, draw, onProgress));
      process.stderr.write(`${options.output} written in ${secondsSince(start)}\n`);
    });
}
