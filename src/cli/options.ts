/**
 * Options that several commands share, and how their texts become values.
 * @module
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { OracleFunction } from '../functions/oracle-function.ts';
import { policyOf } from '../functions/registry.ts';
import type { Encoding, StreamJob } from '../node/stream.ts';

export type Overrides = Record<string, string>;

/** One more `k=v` of --set. */
export function override(text: string, previous: Overrides): Overrides {
  const equals = text.indexOf('=');
  if (equals <= 0) throw new InvalidArgumentError('It has the form name=value.');
  return { ...previous, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** A parser of integers within bounds. */
export const integer =
  (low: number, high: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^(0|-?[1-9]\d*)$/.test(text) || value < low || value > high) {
      throw new InvalidArgumentError(`It is an integer from ${low} to ${high}.`);
    }
    return value;
  };

/** A seed: 64 bits, decimal or 0x hexadecimal. */
function seed(text: string): bigint {
  if (!/^(\d+|0x[0-9a-f]+)$/i.test(text) || BigInt(text) >= 1n << 64n) {
    throw new InvalidArgumentError('It is an integer from 0 to 2^64 - 1.');
  }
  return BigInt(text);
}

/** --seed. The default's text is given, since a help page cannot print a bigint. */
export const seedOption = (): Option =>
  new Option('--seed <integer>', 'of the random inputs').argParser(seed).default(0n, '0');

/** --profile and --set. */
export const withPolicy = (command: Command): Command =>
  command
    .option('-p, --profile <name>', 'a known implementation (fp4 functions lists them)')
    .option('-s, --set <name=value>', 'override one parameter; may be given several times', override, {});

export interface PolicyOptions {
  profile?: string;
  set: Overrides;
}

/** --profile, --set, --encoding, --stages. */
export const withStream = (command: Command): Command =>
  withPolicy(command)
    .addOption(new Option('--encoding <form>', 'of the cases').choices(['text', 'raw']).default('text'))
    .option('--stages', 'append every intermediate by name');

export interface StreamOptions extends PolicyOptions {
  encoding: Encoding;
  stages?: boolean;
}

/** The job of a stream command. */
export const streamJob = (f: OracleFunction, options: StreamOptions): StreamJob => ({
  function: f,
  policy: policyOf(f, options.profile, options.set),
  encoding: options.encoding,
  stages: options.stages === true && f.stages(policyOf(f, options.profile, options.set)).length > 0,
});
