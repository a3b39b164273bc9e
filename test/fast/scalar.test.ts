/** Scalar conversions: shifts and masks give what the definition gives. */
import { expect, test } from 'vitest';
import type { AnyPolicy, OracleFunction } from '../../src/functions/oracle-function.ts';
import { policyOf } from '../../src/functions/registry.ts';
import { scalarFunctions } from '../../src/functions/scalar-functions.ts';
import { policies } from './policies.ts';

function differences(f: OracleFunction, policy: AnyPolicy, words: Iterable<number>): string[] {
  const found: string[] = [];
  for (const word of words) {
    const defined = f.define([[word]], policy).outputs[0]![0]!;
    const fast = f.fast([[word]], policy)[0]![0]!;
    if (defined !== fast)
      found.push(`${word.toString(16)}: ${fast.toString(16)}, not ${defined.toString(16)}`);
  }
  return found.slice(0, 5);
}

function* every(bits: number): Generator<number> {
  for (let word = 0; word < 2 ** bits; word++) yield word;
}

const bitsOf = (f: OracleFunction): number => f.inputs[0]!.digits * 4;
const fromBF16 = scalarFunctions.filter((f) => bitsOf(f) === 16);
const fromCodes = scalarFunctions.filter((f) => bitsOf(f) <= 8);
const fromFP32 = scalarFunctions.filter((f) => bitsOf(f) === 32);

test.each(fromBF16)('$name over all 65,536 words [SCA-09, NUM-05]', (f) => {
  expect(differences(f, policyOf(f), every(16))).toEqual([]);
});

test.each(fromCodes)('$name over all codes [SCA-09, NUM-04]', (f) => {
  for (const policy of policies(f)) expect(differences(f, policy, every(bitsOf(f)))).toEqual([]);
});

test.each([...fromFP32, ...fromBF16])(
  '$name at its edges under every policy [SCA-09, NUM-02, NUM-05]',
  (f) => {
    const edges = [...f.boundary(1)].map((c) => c.inputs[0]![0]!);
    for (const policy of policies(f)) expect(differences(f, policy, edges)).toEqual([]);
  },
);
