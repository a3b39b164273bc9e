/**
 * Whole sessions of the stream: what a command reads and what it must write. Clauses: spec/stream.md STR-01 to STR-09.
 * @module
 */
import { formatElement, formatFields, parseLine } from '../functions/line.ts';
import type { AnyPolicy } from '../functions/oracle-function.ts';
import { describe, FUNCTIONS, functionByName, policyOf } from '../functions/registry.ts';
import { firstDifference, generate } from '../functions/session.ts';
import { type Family, familyByName } from '../random/families.ts';
import type { PackContext } from './block-cases.ts';
import { idOf } from './hash.ts';
import { answerLines, answerRecords, outputsOf } from './session-lines.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

const ONES = Array.from({ length: 32 }, () => '3f80').join(' ');

interface Session {
  readonly comment: string;
  readonly clauses: readonly string[];
  readonly command: 'eval' | 'verify' | 'gen';
  readonly function: string;
  readonly set?: AnyPolicy;
  readonly stages?: boolean;
  readonly encoding?: 'raw';
  readonly n?: number;
  readonly seed?: bigint;
  readonly family?: Family;
  readonly shard?: readonly [number, number];
  readonly stdin: readonly string[] | string;
}

const SESSIONS: readonly Session[] = [
  {
    comment: 'words and code strings, lower-case',
    clauses: ['STR-01', 'STR-06', 'STR-10', 'CON-01'],
    command: 'eval',
    function: 'mxfp4_quantize',
    stdin: [ONES, ONES.replace('3f80', 'c0e0')],
  },
  {
    comment: 'upper case and CRLF are read; empty lines and comments are skipped',
    clauses: ['STR-01', 'STR-03'],
    command: 'eval',
    function: 'bf16_to_e4m3',
    stdin: ['# a comment', '', '3F80\r', 'C0E0\r', '7fc0'],
  },
  {
    comment: 'stages by name behind the outputs',
    clauses: ['STR-05', 'MX-16'],
    command: 'eval',
    function: 'mxfp4_quantize',
    stages: true,
    stdin: [ONES],
  },
  {
    comment: 'stages of HiF4',
    clauses: ['STR-05', 'HIF4-16'],
    command: 'eval',
    function: 'hif4_quantize',
    stages: true,
    stdin: [`${ONES} ${ONES.replaceAll('3f80', 'c0e0')}`],
  },
  {
    comment: 'raw records: words little-endian, codes low nibble first',
    clauses: ['STR-04'],
    command: 'eval',
    function: 'mxfp4_dequantize',
    encoding: 'raw',
    stdin: `7f${'1032547698badcfe'.repeat(2)}fe${'21'.repeat(16)}`,
  },
  {
    comment: 'raw records of one digit take a byte',
    clauses: ['STR-04'],
    command: 'eval',
    function: 'e2m1_to_f32',
    encoding: 'raw',
    stdin: '000208',
  },
  {
    comment: 'every case right: nothing on stdout, exit 0',
    clauses: ['STR-07', 'STR-08'],
    command: 'verify',
    function: 'bf16_to_e2m1',
    stdin: ['3f80 2', '# skipped, and counted', '40c0 7'],
  },
  {
    comment: 'the first field that differs, with its place',
    clauses: ['STR-07', 'STR-08'],
    command: 'verify',
    function: 'mxfp4_quantize',
    stdin: [
      `${ONES} 7d 66666666666666666666666666666666`,
      `${ONES} 7d 66666466666666666666666666666666`,
      `${ONES} 7f 22222222222222222222222222222222`,
    ],
  },
  {
    comment: 'a NaN equals every NaN of its type; zeros of another sign do not',
    clauses: ['CON-03', 'STR-08'],
    command: 'verify',
    function: 'bf16_to_f32',
    stdin: ['7fc0 ffc12345', '8000 00000000'],
  },
  {
    comment: 'under nan=payload every bit of a NaN counts',
    clauses: ['CON-03', 'NUM-07', 'STR-08'],
    command: 'verify',
    function: 'bf16_to_f32',
    set: { nan: 'payload' },
    stdin: ['7f81 7fc10000', '7f81 7fc00000'],
  },
  {
    comment: 'boundary cases, then family bits for inputs that are no floats',
    clauses: ['STR-09', 'RND-04'],
    command: 'gen',
    function: 'mxfp4_dequantize',
    n: 274,
    shard: [91, 91],
    stdin: [],
  },
  {
    comment: 'one family alone, with a seed',
    clauses: ['STR-09', 'RND-02', 'RND-06'],
    command: 'gen',
    function: 'mxfp4_quantize',
    family: 'ladder',
    seed: 7n,
    n: 3,
    stdin: [],
  },
  {
    comment: 'the second of two shards of the same',
    clauses: ['STR-09'],
    command: 'gen',
    function: 'mxfp4_quantize',
    family: 'ladder',
    seed: 7n,
    n: 3,
    shard: [2, 2],
    stdin: [],
  },
];

/** STR-08. The line that tells of a difference; undefined where there is none. */
function verified(s: Session, policy: AnyPolicy, text: string, number: number): string | undefined {
  const f = functionByName(s.function);
  const fields = f.outputs(policy);
  const { values } = parseLine(text, [...f.inputs, ...fields], [], `line ${number}`);
  const expected = outputsOf(f, policy, values.slice(0, f.inputs.length)).outputs;
  const found = firstDifference(fields, expected, values.slice(f.inputs.length), policy);
  if (found === undefined) return undefined;
  const shown = [found.expected, found.found].map((word) => formatElement(found.field, word));
  return [number, `${found.field.name}[${found.index}]`, ...shown].join('\t');
}

function generated(s: Session, policy: AnyPolicy): string[] {
  const f = functionByName(s.function);
  const [shard, of] = s.shard ?? [1, 1];
  const family = s.family === undefined ? {} : { family: familyByName(s.family) };
  const cases = generate(f, { ...family, seed: s.seed ?? 0n, level: 1, count: s.n!, shard, of });
  return [...cases].map((inputs) =>
    formatFields([...f.inputs, ...f.outputs(policy)], [...inputs, ...outputsOf(f, policy, inputs).outputs]),
  );
}

/** What the session writes on stdout, and its exit code. */
function outcome(s: Session): { stdout: readonly string[] | string; exit: number } {
  const f = functionByName(s.function);
  const policy = policyOf(f, undefined, s.set);
  if (typeof s.stdin === 'string') return { stdout: answerRecords(f, policy, s.stdin).answered, exit: 0 };
  if (s.command === 'gen') return { stdout: generated(s, policy), exit: 0 };
  if (s.command === 'eval') return { stdout: answerLines(f, policy, s.stdin, s.stages).answered, exit: 0 };
  const told = s.stdin.flatMap((text, j) => (text.startsWith('#') ? [] : [verified(s, policy, text, j + 1)]));
  const stdout = told.filter((line) => line !== undefined);
  return { stdout, exit: stdout.length > 0 ? 1 : 0 };
}

/** The options of a session, as the command line has them. */
function optionsOf({ set, stages, encoding, n, seed, family, shard }: Session): string[] {
  return [
    ...Object.entries(set ?? {}).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
    ...(stages ? ['--stages'] : []),
    ...(encoding ? ['--encoding', encoding] : []),
    ...(n === undefined ? [] : ['-n', `${n}`]),
    ...(family === undefined ? [] : ['--family', family]),
    ...(seed === undefined ? [] : ['--seed', `${seed}`]),
    ...(shard === undefined ? [] : ['--shard', shard.join('/')]),
  ];
}

function sessionTest(context: PackContext, s: Session) {
  const args = [s.command, s.function, ...optionsOf(s)];
  return {
    id: idOf(context.sha256, ...args, JSON.stringify(s.stdin)),
    comment: s.comment,
    clauses: s.clauses,
    args,
    encoding: s.encoding ?? 'text',
    stdin: s.stdin,
    result: 'valid',
    ...outcome(s),
  };
}

/** Sessions, and every function as `fp4 functions --json` lists it. */
export function streamFile(context: PackContext) {
  const functions = FUNCTIONS.map((f) => ({
    id: idOf(context.sha256, 'functions', f.name),
    clauses: ['STR-02'],
    description: describe(f),
  }));
  return {
    schema: SCHEMA,
    kind: 'stream' as const,
    generator: context.generator,
    groups: [
      {
        subject: 'sessions',
        clauses: ['STR-01', 'STR-07'],
        tests: SESSIONS.map((s) => sessionTest(context, s)),
      },
      { subject: 'functions', clauses: ['STR-02'], functions },
    ],
  } satisfies VectorFile & Record<string, unknown>;
}
