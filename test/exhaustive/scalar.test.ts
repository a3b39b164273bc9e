/** Every BF16 word into every scalar format under every policy. */
import { expect, test } from 'vitest';
import { scalarFunctions } from '../../src/functions/scalar-functions.ts';
import { policies } from '../fast/policies.ts';

const fromBF16 = scalarFunctions.filter((f) => f.inputs[0]!.digits === 4);

test.each(fromBF16)('$name [SCA-09]', (f) => {
  for (const policy of policies(f)) {
    for (let word = 0; word < 0x10000; word++) {
      const defined = f.define([[word]], policy).outputs[0]![0]!;
      const fast = f.fast([[word]], policy)[0]![0]!;
      if (defined !== fast)
        expect.fail(`${word.toString(16)} under ${JSON.stringify(policy)}: ${fast}, not ${defined}`);
    }
  }
});
