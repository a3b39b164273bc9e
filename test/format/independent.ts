/**
 * The definitions against the threshold encoders of test/independent, on random policies and random blocks.
 * @module
 */
import { encodeUnit } from '../../src/format/hif4.ts';
import { type HiF4Policy, hif4Parameters } from '../../src/format/hif4-policy.ts';
import { encodeBlock } from '../../src/format/mxfp4.ts';
import { type Mxfp4Policy, mxfp4Parameters } from '../../src/format/mxfp4-policy.ts';
import type { ParameterTable, Policy } from '../../src/format/policy.ts';
import { fromBinary64 } from '../../src/number/floats.ts';
import { digits } from '../block-of.ts';
import { encodeHiF4 } from '../independent/hif4-by-thresholds.ts';
import { FAMILIES, generator } from '../independent/input-families.ts';
import { encodeMXFP4 } from '../independent/mxfp4-by-thresholds.ts';
import { hex } from '../independent/platform-floats.ts';

function randomPolicy<T extends ParameterTable>(table: T, random: () => number): Policy<T> {
  const entries = Object.entries(table).map(([name, values]) => [name, values[random() % values.length]]);
  return { ...Object.fromEntries(entries), nonfinite: 'nan' };
}

/** Every family in turn, with a new policy a block; what differs, each with its input. */
function differences<P>(
  blocks: number,
  seed: number,
  length: 32 | 64,
  policyOf: (random: () => number) => P,
  encoders: readonly [
    (x: readonly number[], policy: P) => string,
    (x: readonly number[], policy: P) => string,
  ],
): object[] {
  const random = generator(seed);
  const families = Object.entries(FAMILIES);
  const found: object[] = [];
  for (let n = 0; n < blocks; n++) {
    const policy = policyOf(random);
    const [family, make] = families[n % families.length]!;
    const x = make(random, length);
    const [mine, theirs] = encoders.map((encoder) => encoder(x, policy));
    if (mine !== theirs) found.push({ n, family, policy, x, mine, theirs });
  }
  return found;
}

export const hif4AgainstThresholds = (units: number, seed: number): object[] =>
  differences<HiF4Policy>(units, seed, 64, (random) => randomPolicy(hif4Parameters, random), [
    (x, policy) => {
      const { word, codes } = encodeUnit(x.map(fromBinary64), policy);
      return `${hex(word, 8)} ${digits(codes)}`;
    },
    (x, policy) => {
      const { word, codes } = encodeHiF4(x, policy);
      return `${hex(word, 8)} ${digits(codes)}`;
    },
  ]);

export const mxfp4AgainstThresholds = (blocks: number, seed: number): object[] =>
  differences<Mxfp4Policy>(blocks, seed, 32, (random) => randomPolicy(mxfp4Parameters, random), [
    (x, policy) => {
      const { scale, codes } = encodeBlock(x.map(fromBinary64), policy);
      return `${hex(scale, 2)} ${digits(codes)}`;
    },
    (x, policy) => {
      const { scale, codes } = encodeMXFP4(x, policy);
      return `${hex(scale, 2)} ${digits(codes)}`;
    },
  ]);
