/** `fp4 gen`: cases that a kernel can be fed with, boundary cases first. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Fp4Error } from '../error.ts';
import { functionByName } from '../functions/registry.ts';
import type { Generation } from '../functions/session.ts';
import { generateTo } from '../node/stream.ts';
import { FAMILIES, familyByName } from '../random/families.ts';
import { integer, type StreamOptions, seedOption, streamJob, withStream } from './options.ts';

const SHARD = /^([1-9]\d*)\/([1-9]\d*)$/;
const RANGE = /^(-?\d+):(-?\d+)$/;
/** Beyond these a family's values are all zero or infinite. */
const RANGE_LIMIT = 200;

function shard(text: string): { shard: number; of: number } {
  const [, i, n] = SHARD.exec(text) ?? [];
  if (i === undefined || Number(i) > Number(n) || !Number.isSafeInteger(Number(n))) {
    throw new InvalidArgumentError('It has the form i/n with i from 1 to n.');
  }
  return { shard: Number(i), of: Number(n) };
}

export function exponentRange(text: string): [number, number] {
  const [, low, high] = RANGE.exec(text) ?? [];
  const [from, to] = [Number(low), Number(high)];
  if (low === undefined || from > to || from < -RANGE_LIMIT || to > RANGE_LIMIT) {
    throw new InvalidArgumentError(
      `It has the form low:high, low not above high, both from -${RANGE_LIMIT} to ${RANGE_LIMIT}.`,
    );
  }
  return [from, to];
}

interface GenOptions extends StreamOptions {
  count?: number;
  seed: bigint;
  level: '1' | '2';
  family?: string;
  range?: [number, number];
  inputsOnly?: boolean;
  shard: { shard: number; of: number };
}

export function addGen(program: Command): void {
  withStream(
    program
      .command('gen <function>')
      .description('write cases, inputs and outputs on one line: boundary cases first, then random ones'),
  )
    .option('-n, --count <cases>', 'how many (default: 1000, or all boundary cases)', integer(0, 2 ** 40))
    .addOption(seedOption())
    .addOption(new Option('--level <level>', 'of the boundary cases').choices(['1', '2']).default('1'))
    .option('--family <name>', `one input family alone: ${Object.keys(FAMILIES).join(', ')}`)
    .option('--range <low:high>', 'exponents of the family ladder (default: -20:20)', exponentRange)
    .option('--inputs-only', 'leave the outputs away')
    .option('--shard <i/n>', 'only the i-th of n parts, from 1', shard, { shard: 1, of: 1 })
    .action(async (name: string, options: GenOptions) => {
      const generation: Generation = {
        seed: options.seed,
        level: options.level === '1' ? 1 : 2,
        ...options.shard,
        ...(options.family === undefined ? {} : { family: familyByName(options.family) }),
        ...(options.range === undefined ? {} : { range: options.range }),
        ...(options.count === undefined ? {} : { count: options.count }),
      };
      if (options.range && (options.family ?? 'ladder') !== 'ladder') {
        throw new Fp4Error('E_USAGE', `--range is for the family ladder, not ${options.family}`);
      }
      const job = streamJob(functionByName(name), options);
      await generateTo(job, generation, options.inputsOnly === true, process.stdout);
    });
}
