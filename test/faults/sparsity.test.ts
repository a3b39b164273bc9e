/** Faults P1 to P3 of spec/faults.md: what each gives, and the right value. */
import { expect, test } from 'vitest';
import { functionByName, policyOf } from '../../src/functions/registry.ts';
import { compress, expand, gather } from '../../src/sparsity/compress.ts';
import { CONVENTIONS } from '../../src/sparsity/slots.ts';

const group = (codes: readonly number[], ties = 'lowest-index') => {
  const f = functionByName('prune_2_4_mxfp4');
  const x = [...codes, ...Array.from({ length: 28 }, () => 0)];
  const { outputs } = f.define([[0x7f], x], policyOf(f, undefined, { ties }));
  return { codes: Array.from(outputs[0]!).slice(0, 4), nibble: outputs[1]![0]!.toString(16) };
};

test('P1: a lone value is held once under every convention [SPA-08, SPA-10, SPA-14]', () => {
  expect(group([0, 0, 0, 5])).toEqual({ codes: [0, 0, 0, 5], nibble: 'c' });
  const x = Uint8Array.of(0, 0, 0, 5);
  for (const convention of CONVENTIONS) {
    const options = { pattern: '2:4', convention } as const;
    const packed = compress(Uint8Array.of(0, 0, 0, 1), 1, 4, options);
    const values = gather(x, packed);
    expect([convention, [...values].sort()]).toEqual([convention, [0, 5]]);
    expect([...expand(values, packed.nibbles, 1, 4, options, 8)]).toEqual([...x]);
  }
  // The fault: both slots hold the value, under a nibble that names one place twice.
  const twice = { values: Uint8Array.of(5, 5), nibble: 0xf };
  expect(twice.values.reduce((sum, v) => sum + v, 0)).toBe(10);
  expect(() => expand(twice.values, Uint8Array.of(twice.nibble), 1, 4, { pattern: '2:4' }, 8)).toThrow(
    'no nibble f',
  );
});

test('P2: -0 is zero [SPA-02, SPA-10]', () => {
  expect(group([8, 8, 1, 1])).toEqual({ codes: [0, 0, 1, 1], nibble: 'e' });
  // The fault: whatever is not the word 0 counts, and the first two are taken.
  const words = [0x8000, 0x8000, 0x3f80, 0x3f80];
  const faulty = words.flatMap((w, i) => (w !== 0 ? [i] : [])).slice(0, 2);
  expect(faulty).toEqual([0, 1]);
  const right = compress(
    Uint8Array.from(words, (w) => Number((w & 0x7fff) !== 0)),
    1,
    4,
    { pattern: '2:4' },
  );
  expect([...right.sources]).toEqual([2, 3]);
});

test('P3: which of equal candidates stays is stated [SPA-05]', () => {
  expect(group([2, 2, 2, 2])).toEqual({ codes: [2, 2, 0, 0], nibble: '4' });
  expect(group([2, 2, 2, 2], 'highest-index')).toEqual({ codes: [0, 0, 2, 2], nibble: 'e' });
  expect(group([4, 2, 2, 2])).toEqual({ codes: [4, 2, 0, 0], nibble: '4' });
  expect(group([4, 2, 2, 2], 'highest-index')).toEqual({ codes: [4, 0, 0, 2], nibble: 'c' });
});
