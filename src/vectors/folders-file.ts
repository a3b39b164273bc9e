/**
 * Vectors of case folders: what an export holds, file by file, and how what a device wrote into it is judged.
 * Clauses: spec/folders.md FOL-01 to FOL-20.
 * @module
 */
import { verifyFolder } from '../casefolder/check-folder.ts';
import { buildFolder, PRODUCER } from '../casefolder/folder.ts';
import {
  type FolderEncoding,
  type FolderGenerator,
  type FolderJob,
  type Naming,
  subjectOf,
} from '../casefolder/folder-job.ts';
import { buildGemmFolder, type GemmFolderJob } from '../casefolder/gemm-folder.ts';
import { MANIFEST } from '../casefolder/manifest.ts';
import { Fp4Error } from '../error.ts';
import type { AnyPolicy } from '../functions/oracle-function.ts';
import type { Family } from '../random/families.ts';
import { codec } from '../tensor/codec.ts';
import type { PackContext } from './block-cases.ts';
import { hexOf } from './file-bytes.ts';
import { idOf } from './hash.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

/** The arguments of one `fp4 export`; what is absent has the command's default. */
interface Export {
  readonly comment: string;
  readonly clauses: readonly string[];
  readonly subject: string;
  readonly format?: string;
  readonly profile?: string;
  readonly set?: AnyPolicy;
  readonly shape?: readonly [number, number];
  readonly n?: number;
  readonly layout?: string;
  readonly stages?: boolean;
  readonly encoding?: FolderEncoding;
  readonly names?: Naming;
  readonly family?: Family;
  readonly boundary?: boolean;
}

const EXPORTS: readonly Export[] = [
  {
    comment: 'a decoder: a scale and codes in, words out',
    clauses: ['FOL-02', 'FOL-03', 'FOL-04', 'FOL-16'],
    subject: 'mxfp4_dequantize',
    n: 2,
    family: 'bits',
  },
  {
    comment: 'stages, boundary cases and their flags',
    clauses: ['FOL-05', 'FOL-06', 'FOL-07', 'FOL-10'],
    subject: 'mxfp4_quantize',
    n: 3,
    stages: true,
    boundary: true,
  },
  {
    comment: 'a tensor whose rows have a tail, scales in cells with padding',
    clauses: ['FOL-08', 'FOL-09'],
    subject: 'quantize',
    format: 'mxfp4',
    shape: [3, 40],
    layout: 'mx-a-zz',
  },
  {
    comment: 'the names and widths of the tests of PTO ISA',
    clauses: ['FOL-11'],
    subject: 'hif4_quantize',
    profile: 'pto-isa-tmatmul',
    n: 1,
    stages: true,
    names: 'pto',
  },
  {
    comment: 'lines of the stream',
    clauses: ['FOL-12', 'FOL-13'],
    subject: 'mxfp4_quantize',
    n: 2,
    encoding: 'text',
  },
  {
    comment: 'files for $readmemh',
    clauses: ['FOL-12', 'FOL-14'],
    subject: 'mxfp4_quantize',
    n: 2,
    encoding: 'readmemh',
  },
  { comment: 'a C header', clauses: ['FOL-12', 'FOL-15'], subject: 'mxfp4_quantize', n: 2, encoding: 'c' },
];

const jobOf = (e: Export, seed: bigint): FolderJob & { readonly generator: FolderGenerator } => ({
  ...subjectOf({
    subject: e.subject,
    overrides: e.set ?? {},
    ...(e.format !== undefined && { format: e.format }),
    ...(e.profile !== undefined && { profile: e.profile }),
  }),
  ...(e.shape !== undefined && { shape: e.shape }),
  ...(e.n !== undefined && { cases: e.n }),
  generator: { family: e.family ?? 'gauss', seed, ...(e.boundary && { boundary: 1 as const }) },
  layout: e.layout ?? 'linear',
  encoding: e.encoding ?? 'raw',
  names: e.names ?? 'plain',
  stages: e.stages === true,
});

/** The same as words on a command line, without the place that is written to. */
const commandOf = (e: Export, { generator }: FolderJob): string[] => [
  'export',
  e.subject,
  ...(e.format === undefined ? [] : ['--format', e.format]),
  ...(e.profile === undefined ? [] : ['--profile', e.profile]),
  ...(e.shape === undefined ? [] : ['--shape', e.shape.join('x')]),
  ...(e.n === undefined ? [] : ['-n', `${e.n}`]),
  ...(e.layout === undefined ? [] : ['--layout', e.layout]),
  ...(e.stages === true ? ['--stages'] : []),
  ...(e.encoding === undefined ? [] : ['--encoding', e.encoding]),
  ...(e.names === undefined ? [] : ['--names', e.names]),
  ...['--family', generator!.family, '--seed', `${generator!.seed}`],
  ...(e.boundary === true ? [] : ['--no-boundary']),
];

/** What judges a folder, and is the same in all of them; it may improve without any bit of a case changing. */
const TOOLS = ['check.py', 'manifest.schema.json'];

/** A file is spelled out where it is short; its hash says the rest. */
const LONGEST = 4096;

function exportTest(context: PackContext, e: Export) {
  const job = jobOf(e, context.seed);
  const command = commandOf(e, job);
  const { files } = buildFolder(job, context.sha256);
  return {
    id: idOf(context.sha256, ...command),
    comment: e.comment,
    clauses: ['FOL-01', ...e.clauses],
    command,
    files: spelledOut(context, files),
  };
}

const spelledOut = ({ sha256 }: PackContext, files: ReadonlyMap<string, Uint8Array>) =>
  [...files]
    .filter(([name]) => !TOOLS.includes(name))
    .map(([name, bytes]) => ({
      name,
      bytes: bytes.length,
      sha256: sha256(bytes),
      ...(bytes.length <= LONGEST && { content: hexOf(bytes) }),
    }));

/** FOL-21. A small product: K has a tail. */
function gemmTest(context: PackContext) {
  const c = codec('mxfp4');
  const job: GemmFolderJob = {
    format: 'mxfp4',
    profile: c.profile,
    parameters: c.parameters,
    shape: [2, 40, 3],
    encoding: 'raw',
    generator: { family: 'gauss', seed: context.seed },
  };
  const flags = ['--format', 'mxfp4', '--shape', '2x40x3', '--family', 'gauss', '--seed', `${context.seed}`];
  const command = ['export', 'gemm', ...flags];
  const { files } = buildGemmFolder(job, context.sha256, PRODUCER);
  return {
    id: idOf(context.sha256, ...command),
    comment: 'a product: quantized operands, and the ends of what any order of FP32 additions can give',
    clauses: ['FOL-01', 'FOL-21'],
    command,
    files: spelledOut(context, files),
  };
}

/** What a device, or somebody else, did to the folder of the first export. */
interface Judged {
  readonly comment: string;
  readonly clauses: readonly string[];
  /** From the expected file to the device's; undefined where the device wrote none. */
  readonly write: (expected: Uint8Array) => Uint8Array | undefined;
  /** A file of the folder itself that is changed: its last byte. */
  readonly tampered?: string;
}

const JUDGED: readonly Judged[] = [
  { comment: 'every bit right', clauses: ['FOL-17', 'FOL-18', 'FOL-19'], write: (bytes) => bytes },
  {
    comment: 'the lowest bit of element 1 of case 0 is wrong',
    clauses: ['FOL-17', 'FOL-18', 'FOL-19'],
    write: (bytes) => bytes.map((byte, j) => (j === 4 ? byte ^ 1 : byte)),
  },
  { comment: 'the file is missing', clauses: ['FOL-18', 'FOL-19'], write: () => undefined },
  { comment: 'the file is short', clauses: ['FOL-18', 'FOL-19'], write: (bytes) => bytes.subarray(1) },
  {
    comment: 'what is expected was changed',
    clauses: ['FOL-18', 'FOL-20'],
    write: (bytes) => bytes,
    tampered: 'expected_y.bin',
  },
  {
    comment: 'the manifest was changed',
    clauses: ['FOL-16', 'FOL-20'],
    write: (bytes) => bytes,
    tampered: MANIFEST,
  },
];

/** The last byte but one with its lowest bit changed: a digit or a bracket of a manifest, a bit of a word. */
const tamperedBytes = (bytes: Uint8Array): Uint8Array => bytes.with(bytes.length - 2, bytes.at(-2)! ^ 1);

function judgedTest(context: PackContext, { comment, clauses, write, tampered }: Judged) {
  const job = jobOf(EXPORTS[0]!, context.seed);
  const files = new Map(buildFolder(job, context.sha256).files);
  const actual = write(files.get('expected_y.bin')!);
  if (actual !== undefined) files.set('actual_y.bin', actual);
  if (tampered !== undefined) files.set(tampered, tamperedBytes(files.get(tampered)!));
  const stdout: string[] = [];
  const given = {
    command: commandOf(EXPORTS[0]!, job),
    ...(actual !== undefined && { actual: { 'actual_y.bin': hexOf(actual) } }),
    ...(tampered !== undefined && { changed: { [tampered]: hexOf(files.get(tampered)!) } }),
  };
  return {
    id: idOf(context.sha256, JSON.stringify(given)),
    comment,
    clauses,
    ...given,
    exit: exitOf(() => {
      const text = new TextDecoder().decode(files.get(MANIFEST)!);
      const tell = (d: { name: string; place: string; expected: string; found: string }): void => {
        stdout.push([d.name, d.place, d.expected, d.found].join('\t'));
      };
      return verifyFolder(text, (name) => files.get(name), context.sha256, tell).differences;
    }),
    stdout,
  };
}

/** The exit code of `fp4 verify --dir`. */
function exitOf(judge: () => number): number {
  try {
    return judge() > 0 ? 1 : 0;
  } catch (error) {
    if (error instanceof Fp4Error) return 2;
    throw error;
  }
}

export const foldersFile = (context: PackContext): VectorFile => ({
  schema: SCHEMA,
  kind: 'folders',
  generator: context.generator,
  groups: [
    {
      subject: 'export',
      clauses: ['FOL-01'],
      tests: [...EXPORTS.map((e) => exportTest(context, e)), gemmTest(context)],
    },
    { subject: 'judged', clauses: ['FOL-19'], tests: JUDGED.map((j) => judgedTest(context, j)) },
  ],
});
