/** `fp4 gemm`: a product with every rounding named, or a verdict on one (spec/gemm.md). */
import type { Command } from 'commander';
import { Fp4Error } from '../error.ts';
import { batchOf } from '../matmul/batch.ts';
import { outputByName } from '../matmul/output.ts';
import {
  type AcceptanceReport,
  acceptanceByName,
  type CheckReport,
  checkProduct,
} from '../node/gemm-check.ts';
import { gemmFile, readAddend, readResult } from '../node/gemm-file.ts';
import { type OperandJob, readOperand } from '../node/gemm-operand.ts';
import { factor, type OperandOptions, operandJobs, tileSizes, withOperands } from './gemm-options.ts';
import { checkOutputName, secondsSince, threadsOption, withProgress } from './tensor-options.ts';

interface GemmCommandOptions extends OperandOptions {
  out?: string;
  accumulator: string;
  output?: string;
  c?: string;
  alpha?: number;
  beta?: number;
  threads: number;
  check?: string;
  accept: string[];
  tile?: [number, number];
  json?: boolean;
}

const DIFFERENT = 1;
const SHOWN_TERMS = 8;
const SHOWN_TILES = 16;

const several = (text: string, previous: string[]): string[] => [...previous, text];

function describe(
  { acceptance, outside, conditions, worst, tiles }: AcceptanceReport,
  outputs: number,
): string[] {
  const lines = [`${acceptance.padEnd(20)} ${outside} of ${outputs} outside`];
  if (conditions) {
    const { inexact, overflow, subnormal } = conditions;
    if (inexact > 0) lines.push(`  proves nothing for ${inexact}: terms with bits that FP32 does not hold`);
    if (overflow > 0) lines.push(`  proves nothing for ${overflow}: some order could overflow on the way`);
    if (subnormal > 0) lines.push(`  proves nothing for ${subnormal} if the unit flushes subnormal numbers`);
  }
  if (worst) {
    const [batch, row, column] = worst.index;
    const place = batch === 0 ? `[${row}, ${column}]` : `[${batch}: ${row}, ${column}]`;
    const range = worst.low === worst.high ? worst.low : `${worst.low} to ${worst.high}`;
    lines.push(
      `  worst ${place}: found ${worst.found}, admitted ${range}, ${worst.distance} numbers outside`,
    );
    lines.push(`  exact ${worst.value} (${worst.exact}), ${worst.termCount} terms, the largest:`);
    for (const { k, value } of worst.terms.slice(0, SHOWN_TERMS)) lines.push(`    k = ${k}: ${value}`);
  }
  for (const { row, column, outside: count } of (tiles ?? []).slice(0, SHOWN_TILES)) {
    lines.push(`  tile ${row}, ${column}: ${count}`);
  }
  return lines;
}

const text = (report: CheckReport): string =>
  [
    ...report.acceptances.flatMap((one) => describe(one, report.outputs)),
    `explained by         ${report.explainedBy ?? 'none'} (every output, bit for bit)`,
    '',
  ].join('\n');

async function check(jobs: readonly [OperandJob, OperandJob], options: GemmCommandOptions): Promise<void> {
  if (options.out !== undefined)
    throw new Fp4Error('E_USAGE', '-o writes a product, --check judges one; expected one of them');
  if (options.alpha !== undefined || options.beta !== undefined) {
    throw new Fp4Error('E_USAGE', '--check takes a C of factor 1 alone, no --alpha or --beta');
  }
  const names = options.accept.length > 0 ? options.accept : ['bound:fp32'];
  const asked = names.map(acceptanceByName);
  // All that need no file are told of; those asked for decide.
  const others = ['exact', 'bound:fp32'].filter((name) => !names.includes(name)).map(acceptanceByName);
  const [a, b] = [await readOperand(jobs[0]), await readOperand(jobs[1])];
  const { shape } = batchOf(a, b);
  const { words, output } = await readResult(options.check!, shape);
  if (options.output !== undefined && outputByName(options.output) !== output) {
    throw new Fp4Error('E_DTYPE', `${options.check}: holds ${output}, not ${options.output}`);
  }
  const c = options.c === undefined ? undefined : await readAddend(options.c, shape);
  const report = checkProduct({
    ...{ a, b, words, output },
    acceptances: [...asked, ...others],
    ...(c && { c }),
    ...(options.tile && { tile: options.tile }),
  });
  if (report.acceptances.slice(0, asked.length).some(({ outside }) => outside > 0))
    process.exitCode = DIFFERENT;
  if (options.json) process.stdout.write(`${JSON.stringify({ shape, accept: names, ...report })}\n`);
  else process.stderr.write(text(report));
}

async function multiply(jobs: readonly [OperandJob, OperandJob], options: GemmCommandOptions): Promise<void> {
  const start = performance.now();
  const target = options.out;
  if (target === undefined)
    throw new Fp4Error('E_USAGE', 'name the product with -o FILE.npy, or judge one with --check');
  if (options.accept.length > 0 || options.tile) {
    throw new Fp4Error('E_USAGE', `--${options.tile ? 'tile' : 'accept'} belongs to --check`);
  }
  checkOutputName(target, '.npy');
  const output = outputByName(options.output ?? 'f32');
  const { accumulator } = options;
  const [a, b] = [await readOperand(jobs[0]), await readOperand(jobs[1])];
  const { shape: expected } = batchOf(a, b);
  const c = options.c === undefined ? undefined : await readAddend(options.c, expected);
  const shape = await withProgress((onProgress) =>
    gemmFile({
      ...{ a, b, accumulator, output, target, threads: options.threads },
      ...(c && { c }),
      ...(options.alpha !== undefined && { alpha: options.alpha }),
      ...(options.beta !== undefined && { beta: options.beta }),
      ...(onProgress && { onProgress }),
    }),
  );
  const formats = [a.operand.format, b.operand.format] as const;
  if (options.json) {
    process.stdout.write(
      `${JSON.stringify({ shape, depth: a.operand.depth, formats, accumulator, output })}\n`,
    );
  }
  const what = `${output} [${shape.join(', ')}] from ${formats.join(' x ')}, ${accumulator}`;
  process.stderr.write(`${target}: ${what}, written in ${secondsSince(start)}\n`);
}

export function addGemm(program: Command): void {
  const command = program
    .command('gemm [operands...]')
    .description(
      'C = Q(A) Q(B)^T of A [.., M, K] and B [.., N, K]: tensors to be quantized, or quantized .safetensors files',
    )
    .option('-o, --out <file>', 'the .npy file to write')
    .option('--accumulator <name>', 'how sums are rounded', 'exact')
    .option('--output <type>', 'f32, bf16 (written as u2) or f16')
    .option('--c <file>', 'C, added to the product')
    .option('--alpha <number>', 'factor of the product, with exact alone', factor)
    .option('--beta <number>', 'factor of C; 0 or 1 where the accumulator is not exact', factor)
    .addOption(threadsOption())
    .option('--check <file>', 'judge a result that someone else computed')
    .option(
      '--accept <acceptance>',
      'exact, bits:ACCUMULATOR, bound:fp32 (default), bound:@FILE.json; may be given several times',
      several,
      [],
    )
    .option('--tile <MxN>', 'count the outputs outside by tiles of the result too', tileSizes)
    .option('--json', 'one JSON report on stdout');
  withOperands(command).action(async (files: string[], options: GemmCommandOptions) => {
    const jobs = operandJobs(files, options);
    await (options.check === undefined ? multiply(jobs, options) : check(jobs, options));
  });
}
