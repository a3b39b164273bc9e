/** `fp4 export`: a case folder for a device that has no Node (spec/folders.md). */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultFamily } from '../casefolder/folder-inputs.ts';
import {
  ENCODINGS,
  type FolderEncoding,
  type FolderGenerator,
  type FolderJob,
  NAMINGS,
  type Naming,
  QUANTIZE,
  subjectOf,
} from '../casefolder/folder-job.ts';
import { Fp4Error } from '../error.ts';
import { exportFolder } from '../node/case-folder.ts';
import { FAMILIES, familyByName } from '../random/families.ts';
import { exponentRange } from './gen.ts';
import { integer, type PolicyOptions, seedOption, withPolicy } from './options.ts';

interface ExportOptions extends PolicyOptions {
  output: string;
  format?: string;
  dtype?: string;
  shape?: [number, number];
  layout: string;
  stages?: boolean;
  encoding: FolderEncoding;
  names: Naming;
  family?: string;
  seed: bigint;
  range?: [number, number];
  count?: number;
  level: '1' | '2';
  boundary: boolean;
}

function rowsAndElements(text: string): [number, number] {
  const [, rows, k] = /^(\d{1,9})x(\d{1,9})$/.exec(text) ?? [];
  if (rows === undefined) throw new InvalidArgumentError('It has the form MxK, such as 16x256.');
  return [Number(rows), Number(k)];
}

function jobOf(subject: string, options: ExportOptions): FolderJob & { generator: FolderGenerator } {
  const { format, dtype, profile, shape, count, range } = options;
  if (shape && count !== undefined)
    throw new Fp4Error('E_USAGE', '-n and --shape both say how many; expected one of them');
  const about = subjectOf({
    subject,
    ...(format !== undefined && { format }),
    ...(dtype !== undefined && { dtype }),
    ...(profile !== undefined && { profile }),
    overrides: options.set,
  });
  const family = options.family === undefined ? defaultFamily(about.function) : familyByName(options.family);
  if (range && family !== 'ladder') {
    throw new Fp4Error('E_USAGE', `--range is for the family ladder, not ${family}`);
  }
  return {
    ...about,
    ...(shape && { shape }),
    ...(count !== undefined && { cases: count }),
    generator: {
      family,
      seed: options.seed,
      ...(range && { range }),
      ...(options.boundary && { boundary: options.level === '1' ? 1 : 2 }),
    },
    layout: options.layout,
    encoding: options.encoding,
    names: options.names,
    stages: options.stages === true && about.function.stages(about.policy).length > 0,
  };
}

export function addExport(program: Command): void {
  withPolicy(
    program
      .command('export <function>')
      .description(
        `write a case folder: inputs, expected outputs, manifest, check.py; <function> or "${QUANTIZE}"`,
      )
      .requiredOption('-o, --output <dir>', 'the folder to write, new or empty'),
  )
    .option('-f, --format <name>', `of the tensor that "${QUANTIZE}" quantizes: hif4 or mxfp4`)
    .option('--dtype <type>', `of that tensor, bf16 or f32 (default: what the profile takes)`)
    .option(
      '--shape <MxK>',
      'rows of whole blocks (any K for a tensor), in place of single cases',
      rowsAndElements,
    )
    .option(
      '-n, --count <cases>',
      'how many (default: all boundary cases and 64 more, at least 256)',
      integer(1, 2 ** 26),
    )
    .option('--layout <name>', 'of the quantized tensor', 'linear')
    .option('--stages', 'every intermediate as well')
    .addOption(new Option('--encoding <form>', 'of the files').choices([...ENCODINGS]).default('raw'))
    .addOption(new Option('--names <scheme>', 'of the files').choices([...NAMINGS]).default('plain'))
    .option(
      '--family <name>',
      `of the inputs: ${Object.keys(FAMILIES).join(', ')} (default: ladder, or bits for inputs that are no floats)`,
    )
    .addOption(seedOption())
    .option('--range <low:high>', 'exponents of the family ladder (default: -20:20)', exponentRange)
    .addOption(new Option('--level <level>', 'of the boundary cases').choices(['1', '2']).default('1'))
    .option('--no-boundary', 'the family alone')
    .action(async (subject: string, options: ExportOptions) => {
      const { cases, files, generator } = await exportFolder(options.output, jobOf(subject, options));
      const boundary = generator?.boundary;
      const blocks = boundary ? boundary.rows * boundary.perRow : 0;
      process.stderr.write(
        `${options.output}: ${subject}, ${cases} cases (${blocks} boundary), ${files.length} arrays\n`,
      );
    });
}
