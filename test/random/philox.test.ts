/** Known answers of Random123 (kat_vectors, philox4x32 10 rounds), by the generator's authors. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { philox, philoxPair } from '../../src/random/philox.ts';

type Six = [number, number, number, number, number, number];

test.each([
  [[0, 0, 0, 0, 0, 0], '6627e8d5 e169c58d bc57ac4c 9b00dbd8'],
  [
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    '408f276d 41c83b0e a20bc7c6 6d5451fd',
  ],
  [
    [0xa4093822, 0x299f31d0, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    'd16cfe09 94fdcceb 5001e420 24126ea1',
  ],
])('key and counter %j [RND-01]', (keyAndCounter, expected) => {
  const out = new Uint32Array(4);
  philox(...(keyAndCounter as Six), out);
  expect(Array.from(out, (w) => w.toString(16).padStart(8, '0')).join(' ')).toBe(expected);
});

test('two blocks side by side are those drawn apart [RND-01]', () => {
  const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(fc.array(word, { minLength: 7, maxLength: 7 }), ([k0, k1, c0, c1, c2, c3, d3]) => {
      const [c, d, first, second] = Array.from({ length: 4 }, () => new Uint32Array(4));
      philox(k0!, k1!, c0!, c1!, c2!, c3!, c!);
      philox(k0!, k1!, c0!, c1!, c2!, d3!, d!);
      philoxPair(k0!, k1!, c0!, c1!, c2!, c3!, d3!, first!, second!);
      expect([first, second]).toEqual([c, d]);
    }),
  );
});
