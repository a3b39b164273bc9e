/** `fp4 verify`: cases on stdin, or a quantized tensor, judged bit by bit. */
import type { Command } from 'commander';
import { Fp4Error } from '../error.ts';
import { functionByName } from '../functions/registry.ts';
import { Output } from '../node/output.ts';
import { standardInput } from '../node/standard-streams.ts';
import { type ReportedDifference, type VerifySummary, verify } from '../node/stream.ts';
import { type StreamOptions, streamJob, withStream } from './options.ts';
import { quantizedInput, withForeign } from './quantized-options.ts';
import { type VerifyTensorOptions, verifyTensor } from './verify-tensor.ts';

/** Differences that a JSON report spells out; the rest is counted. */
const SHOWN = 100;

type VerifyOptions = StreamOptions & VerifyTensorOptions & { json?: boolean };
type Tell = (difference: ReportedDifference) => void | Promise<void>;

/** The judgement of one kind of input: what it told of, and how many it compared. */
interface Judgement {
  readonly summary: VerifySummary;
  readonly parameters: Readonly<Record<string, string>>;
  /** What was counted: cases, blocks. */
  readonly unit: string;
}

async function judgeStream(
  name: string,
  extra: unknown,
  options: VerifyOptions,
  tell: Tell,
): Promise<Judgement> {
  if (extra !== undefined)
    throw new Fp4Error('E_USAGE', `${name} reads its cases from stdin; "${extra}" is one argument too many`);
  quantizedInput('-', options); // foreign data belongs to verify quantize
  const job = streamJob(functionByName(name), options);
  const summary = await verify(job, standardInput(), tell);
  // A kernel that died before its first line must not pass.
  if (summary.lines === 0) throw new Fp4Error('E_WORD_COUNT', `stdin: no cases; expected lines of ${name}`);
  return { summary, parameters: job.policy, unit: 'cases' };
}

async function judgeTensor(
  input: string | undefined,
  quantized: string | undefined,
  options: VerifyOptions,
  tell: Tell,
): Promise<Judgement> {
  if (input === undefined)
    throw new Fp4Error('E_USAGE', 'verify quantize needs the tensor that was quantized');
  return { ...(await verifyTensor(input, quantized, options, tell)), unit: 'blocks' };
}

export function addVerify(program: Command): void {
  const command = program
    .command('verify <function> [input] [quantized]')
    .description(
      'judge inputs and outputs on stdin: each difference as line, field[index], expected, found; or, as ' +
        'verify quantize X.npy Q.safetensors, what someone made of a tensor: block, field[index], expected, found',
    )
    .option('--bf16', 'the u2 words of a .npy file are BF16')
    .option('--json', 'one JSON report on stdout');
  withForeign(withStream(command)).action(
    async (
      name: string,
      input: string | undefined,
      quantized: string | undefined,
      options: VerifyOptions,
    ) => {
      const output = new Output(process.stdout);
      const shown: ReportedDifference[] = [];
      const tell: Tell = (d) => {
        process.exitCode = 1; // at once, since whoever reads may stop here
        if (options.json) {
          if (shown.length < SHOWN) shown.push(d);
          return;
        }
        output.line([d.line, d.field, d.expected, d.found].join('\t'));
        if (output.full) return output.flush();
      };
      try {
        const { summary, parameters, unit } =
          name === 'quantize'
            ? await judgeTensor(input, quantized, options, tell)
            : await judgeStream(name, input, options, tell);
        const { lines, differences } = summary;
        if (options.json) {
          output.line(JSON.stringify({ function: name, parameters, lines, differences, first: shown }));
        } else {
          process.stderr.write(`${name}: ${lines} ${unit}, ${differences} differ\n`);
        }
      } finally {
        await output.flush();
      }
    },
  );
}
