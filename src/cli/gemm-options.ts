/**
 * Options of `fp4 gemm` for its operands: formats, profiles and foreign data, for both or for one. Clauses: spec/gemm.md GEM-18.
 * @module
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Fp4Error } from '../error.ts';
import type { OperandJob } from '../node/gemm-operand.ts';
import { type Overrides, override } from './options.ts';
import { type ForeignOptions, quantizedInput } from './quantized-options.ts';
import { axisNumber, shapeSizes } from './tensor-options.ts';

export interface OperandOptions {
  format?: string;
  profile?: string;
  set: Overrides;
  bf16?: boolean;
  aOrder: 'mk' | 'km';
  bOrder: 'nk' | 'kn';
  [name: string]: unknown;
}

const withOne = (command: Command, x: 'a' | 'b'): Command => {
  const name = x.toUpperCase();
  return command
    .option(`--${x}-format <name>`, `of ${name}, in place of --format`)
    .option(`--${x}-profile <name>`, `of ${name}, in place of --profile`)
    .option(`--${x}-set <name=value>`, `of ${name}, after those of --set`, override, {})
    .option(`--${x}-codes <file>`, `codes of foreign origin in place of ${name}`)
    .option(`--${x}-scales <file>`, 'their scales')
    .option(`--${x}-shape <MxK>`, 'their original shape', shapeSizes)
    .option(`--${x}-layout <name>`, 'their layout (default: linear)')
    .option(`--${x}-axis <n>`, 'of their blocks (default: that of K)', axisNumber)
    .option(
      `--${x}-pack-axis <n>`,
      'along which two codes share a byte, where it is not that of the blocks',
      axisNumber,
    );
};

/** Everything that says what A and B are. */
export const withOperands = (command: Command): Command =>
  withOne(withOne(command, 'a'), 'b')
    .option('-f, --format <name>', 'of both operands: hif4, mxfp4, or bf16, f16, f32 (not quantized)')
    .option('-p, --profile <name>', 'of both quantizers')
    .option(
      '-s, --set <name=value>',
      'one parameter of both quantizers; may be given several times',
      override,
      {},
    )
    .option('--bf16', 'u2 words of .npy files are BF16')
    .addOption(
      new Option('--a-order <order>', 'of the last dimensions of A').choices(['mk', 'km']).default('mk'),
    )
    .addOption(
      new Option('--b-order <order>', 'of the last dimensions of B').choices(['nk', 'kn']).default('nk'),
    );

function operand(x: 'a' | 'b', input: string | undefined, options: OperandOptions): OperandJob {
  const own = <T>(name: string): T | undefined => options[`${x}${name}`] as T | undefined;
  const format = own<string>('Format') ?? options.format;
  const depthFirst = x === 'a' ? options.aOrder === 'km' : options.bOrder === 'kn';
  const codes = own<string>('Codes');
  const entries = Object.entries({
    codes,
    scales: own<string>('Scales'),
    shape: own<number[]>('Shape'),
    layout: own<string>('Layout'),
    axis: own<number>('Axis') ?? (codes === undefined ? undefined : depthFirst ? -2 : -1),
    packAxis: own<number>('PackAxis'),
  }).filter(([, value]) => value !== undefined);
  const foreign = {
    ...Object.fromEntries(entries),
    ...(codes !== undefined && format !== undefined && { format }),
  };
  if (codes === undefined && input === undefined) {
    throw new Fp4Error('E_USAGE', `name ${x.toUpperCase()}: a file, or --${x}-codes`);
  }
  const profile = own<string>('Profile') ?? options.profile;
  return {
    label: x.toUpperCase(),
    input: named(x, () => quantizedInput(input, foreign as ForeignOptions)),
    ...(format !== undefined && { format }),
    ...(profile !== undefined && { profile }),
    overrides: { ...options.set, ...own<Overrides>('Set') },
    bf16: options.bf16 === true,
    depthFirst,
  };
}

/** Messages about foreign data name the options of this command. */
function named<T>(x: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof Fp4Error)) throw error;
    const text = error.message.replaceAll(/--(codes|scales|shape|layout|axis|pack-axis)/g, `--${x}-$1`);
    throw new Fp4Error(error.code, text);
  }
}

/**
 * What the command line says of both operands. One that is given by foreign codes takes no file.
 * @throws Fp4Error E_USAGE
 */
export function operandJobs(
  files: readonly string[],
  options: OperandOptions,
): readonly [OperandJob, OperandJob] {
  const rest = [...files];
  const a = options['aCodes'] === undefined ? rest.shift() : undefined;
  const b = options['bCodes'] === undefined ? rest.shift() : undefined;
  if (rest.length > 0) throw new Fp4Error('E_USAGE', `"${rest[0]}" is one argument too many`);
  return [operand('a', a, options), operand('b', b, options)];
}

/** A tile such as 128x128. */
export function tileSizes(text: string): [number, number] {
  const [, rows, columns] = /^([1-9]\d{0,8})x([1-9]\d{0,8})$/.exec(text) ?? [];
  if (rows === undefined) throw new InvalidArgumentError('It has the form MxN, such as 128x128.');
  return [Number(rows), Number(columns)];
}

/** A factor: a decimal number, exact as binary64 reads it. */
export function factor(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It is a finite number.');
  return value;
}
