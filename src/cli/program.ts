/**
 * The command `fp4`: its subcommands, and how what they throw becomes a message and an exit code.
 * STR-07. Exit codes: 0 fine, 1 differences found, 2 bad usage or input, 3 internal.
 * @module
 */
import { Command, CommanderError } from 'commander';
import { Fp4Error } from '../error.ts';
import { watchStandardOutput } from '../node/standard-streams.ts';
import { VERSION } from '../version.ts';

const BAD_INPUT = 2;
const INTERNAL = 3;

type Add = (program: Command) => void;

/** In the order of the help text. Only the command that is run is loaded: all of them take three times as long. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  functions: async () => (await import('./functions.ts')).addFunctions,
  eval: async () => (await import('./eval.ts')).addEval,
  gen: async () => (await import('./gen.ts')).addGen,
  verify: async () => (await import('./verify.ts')).addVerify,
  export: async () => (await import('./export.ts')).addExport,
  quantize: async () => (await import('./quantize.ts')).addQuantize,
  dequantize: async () => (await import('./dequantize.ts')).addDequantize,
  prune: async () => (await import('./prune.ts')).addPrune,
  inspect: async () => (await import('./inspect.ts')).addInspect,
  diff: async () => (await import('./diff.ts')).addDiff,
  tensor: async () => (await import('./tensor.ts')).addTensor,
  grpo: async () => (await import('./grpo.ts')).addGrpo,
  gemm: async () => (await import('./gemm.ts')).addGemm,
};

/** @param name what the command line begins with; where that is no command, all are there for the help and for suggestions */
async function createProgram(name: string | undefined): Promise<Command> {
  const program = new Command('fp4')
    .description('Bit-exact reference and test oracle for HiF4 and MXFP4.')
    .version(VERSION, '-V, --version')
    .showSuggestionAfterError()
    .exitOverride()
    .enablePositionalOptions() // an option belongs to the command it stands behind
    .configureHelp({ showGlobalOptions: true });
  const named =
    name !== undefined && Object.hasOwn(COMMANDS, name) ? [COMMANDS[name]!] : Object.values(COMMANDS);
  for (const load of named) (await load())(program);
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
    const program = await createProgram(args[0]);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = report(error);
  }
}
