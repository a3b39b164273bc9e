/**
 * The command `fp4`: its subcommands, and how what they throw becomes a message and an exit code.
 * STR-07. Exit codes: 0 fine, 1 differences found, 2 bad usage or input, 3 internal.
 * @module
 */
import { Command, CommanderError } from 'commander';
import { Fp4Error } from '../error.ts';
import { watchStandardOutput } from '../node/standard-streams.ts';
import { VERSION } from '../version.ts';
import { addDequantize } from './dequantize.ts';
import { addDiff } from './diff.ts';
import { addEval } from './eval.ts';
import { addExport } from './export.ts';
import { addFunctions } from './functions.ts';
import { addGemm } from './gemm.ts';
import { addGen } from './gen.ts';
import { addInspect } from './inspect.ts';
import { addQuantize } from './quantize.ts';
import { addTensor } from './tensor.ts';
import { addVerify } from './verify.ts';

const BAD_INPUT = 2;
const INTERNAL = 3;

/** In the order of the help text. */
const COMMANDS = [
  addFunctions,
  addEval,
  addGen,
  addVerify,
  addExport,
  addQuantize,
  addDequantize,
  addInspect,
  addDiff,
  addTensor,
  addGemm,
];

function createProgram(): Command {
  const program = new Command('fp4')
    .description('Bit-exact reference and test oracle for HiF4 and MXFP4.')
    .version(VERSION, '-V, --version')
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  for (const add of COMMANDS) add(program);
  for (const command of program.commands) command.exitOverride();
  return program;
}

/** The exit code of what a command threw, told on stderr. */
function report(error: unknown): number {
  // Commander has told its own errors already; help and version are not errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD_INPUT;
  if (error instanceof Fp4Error) {
    process.stderr.write(`fp4: ${error.message} (${error.code})\n`);
    return BAD_INPUT;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`fp4: internal error, please report it: ${message}\n`);
  return INTERNAL;
}

/** Runs one command line; never throws. */
export async function run(args: readonly string[]): Promise<void> {
  watchStandardOutput(BAD_INPUT);
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = report(error);
  }
}
