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
import { GEMM, GEMM_ENCODINGS, type GemmFolderJob } from '../casefolder/gemm-folder.ts';
import { Fp4Error, knownNames } from '../error.ts';
import { exportFolder, exportGemmFolder } from '../node/case-folder.ts';
import { FAMILIES, familyByName } from '../random/families.ts';
import { codec } from '../tensor/codec.ts';
import { exponentRange } from './gen.ts';
import { integer, type PolicyOptions, seedOption, withPolicy } from './options.ts';

interface ExportOptions extends PolicyOptions {
  output: string;
  format?: string;
  dtype?: string;
  shape?: number[];
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

function sizes(text: string): number[] {
  if (!/^\d{1,9}x\d{1,9}(x\d{1,9})?$/.test(text)) {
    throw new InvalidArgumentError('It has the form MxK, such as 16x256, or MxKxN for gemm.');
  }
  return text.split('x').map(Number);
}

/** FOL-21. The job of a product. @throws Fp4Error E_USAGE for what a product does not have */
function gemmJobOf(options: ExportOptions): GemmFolderJob {
  const { format, shape, encoding, names, layout, range, count, dtype } = options;
  if (format === undefined) throw new Fp4Error('E_USAGE', `${GEMM} needs --format, of both operands`);
  if (shape?.length !== 3) throw new Fp4Error('E_USAGE', `${GEMM} needs --shape MxKxN`);
  const form = GEMM_ENCODINGS.find((known) => known === encoding);
  if (form === undefined) {
    throw new Fp4Error(
      'E_USAGE',
      `${GEMM} has no encoding ${encoding}; ${knownNames(encoding, GEMM_ENCODINGS)}`,
    );
  }
  const stray = Object.entries({
    '--names pto': names === 'pto',
    [`--layout ${layout}`]: layout !== 'linear',
    '--stages': options.stages === true,
    '-n': count !== undefined,
    '--dtype': dtype !== undefined,
  }).find(([, given]) => given);
  if (stray) throw new Fp4Error('E_USAGE', `${GEMM} has no ${stray[0]}`);
  const family = options.family === undefined ? 'ladder' : familyByName(options.family);
  if (range && family !== 'ladder') {
    throw new Fp4Error('E_USAGE', `--range is for the family ladder, not ${family}`);
  }
  const c = codec(format, options.profile, options.set);
  return {
    format: c.format,
    profile: c.profile,
    parameters: c.parameters,
    shape: [shape[0]!, shape[1]!, shape[2]!],
    encoding: form,
    generator: { family, seed: options.seed, ...(range && { range }) },
  };
}

function jobOf(subject: string, options: ExportOptions): FolderJob & { generator: FolderGenerator } {
  const { format, dtype, profile, count, range } = options;
  const [rows, k, third] = options.shape ?? [];
  if (third !== undefined) throw new Fp4Error('E_USAGE', `--shape MxKxN is for ${GEMM}; ${subject} has MxK`);
  const shape = rows === undefined ? undefined : ([rows, k!] as const);
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
        `write a case folder: inputs, expected outputs, manifest, check.py; <function>, "${QUANTIZE}" or "${GEMM}"`,
      )
      .requiredOption('-o, --output <dir>', 'the folder to write, new or empty'),
  )
    .option('-f, --format <name>', `of the tensor that "${QUANTIZE}" quantizes: hif4 or mxfp4`)
    .option('--dtype <type>', `of that tensor, bf16 or f32 (default: what the profile takes)`)
    .option(
      '--shape <MxK>',
      'rows of whole blocks (any K for a tensor), in place of single cases; MxKxN for gemm',
      sizes,
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
      if (subject === GEMM) {
        const { files, shape } = await exportGemmFolder(options.output, gemmJobOf(options));
        process.stderr.write(`${options.output}: ${GEMM} ${shape!.join('x')}, ${files.length} arrays\n`);
        return;
      }
      const { cases, files, generator } = await exportFolder(options.output, jobOf(subject, options));
      const boundary = generator?.boundary;
      const blocks = boundary ? boundary.rows * boundary.perRow : 0;
      process.stderr.write(
        `${options.output}: ${subject}, ${cases} cases (${blocks} boundary), ${files.length} arrays\n`,
      );
    });
}
