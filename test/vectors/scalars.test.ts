/** Scalar vectors against tables of values and the nearest code by distance, which share no code with the library. */
import { describe, expect, test } from 'vitest';
import { nearestCode } from '../independent/nearest.ts';
import { bf16FromBits, bf16OfF32Bits, bitsOfF32, f32FromBits, hex } from '../independent/platform-floats.ts';
import { SCALAR_TABLES } from '../independent/scalar-tables.ts';
import { filesOf, vectorFile } from './vectors.ts';

interface Cases {
  readonly id: string;
  readonly flags: readonly string[];
  readonly cases: string;
}
interface Pair {
  readonly from: number;
  readonly code: string;
}

const scalar = (name: string) => vectorFile<Cases>(`${name}.any.json`);
const pairs = (text: string): Pair[] =>
  text.split(' ').map((pair) => {
    const [from, code] = pair.split('=');
    return { from: Number.parseInt(from!, 16), code: code! };
  });
const names = Object.keys(SCALAR_TABLES);
const digitsOf = (name: string): number => (name === 'e2m1' || name === 'e1m2' ? 1 : 2);
const defaults = { ties: 'even', overflow: 'saturate' };

/** By the contract: a NaN is the canonical NaN, an infinity saturates, but in a scale it is a NaN. */
function expected(name: string, x: number): string {
  const table = SCALAR_TABLES[name]!;
  const digits = digitsOf(name);
  if (Number.isNaN(x)) return hex(table.nan ?? 0, digits);
  if (Number.isFinite(x)) return hex(nearestCode(table, x), digits);
  if (!table.signed) return 'ff';
  const largest = table.magnitudes.filter(Number.isFinite).length - 1;
  return hex(x < 0 ? table.values.length / 2 + largest : largest, digits);
}

describe.each(names)('%s', (name) => {
  test('the table of its values [VEC-06, SCA-09]', () => {
    const [group] = scalar(`${name}_to_f32`).groups;
    const wanted = SCALAR_TABLES[name]!.values.map((v) =>
      Number.isNaN(v) ? '7fc00000' : hex(bitsOfF32(v), 8),
    );
    expect(group!.table.join('')).toBe(wanted.join(''));
  });

  test('the table of all BF16 words: every 7th, and all about infinity [VEC-06, SCA-09]', () => {
    const [group] = scalar(`bf16_to_${name}`).groups;
    expect([group!.layout, group!.policy, group!.count]).toEqual(['table', defaults, 65536]);
    const codes = group!.table.join('');
    const digits = digitsOf(name);
    expect(codes.length).toBe(65536 * digits);
    for (let word = 0; word < 65536; word += (word & 0x7fff) > 0x7f70 ? 1 : 7) {
      const found = codes.slice(digits * word, digits * (word + 1));
      expect([hex(word, 4), found]).toEqual([hex(word, 4), expected(name, bf16FromBits(word))]);
    }
  });

  test('the steps over all FP32 words, on both sides of each [VEC-06, SCA-09]', () => {
    const group = scalar(`f32_to_${name}`).groups.find(
      ({ layout, policy }) => layout === 'runs' && JSON.stringify(policy) === JSON.stringify(defaults),
    )!;
    const steps = group.runs.flatMap(pairs);
    expect(steps.length).toBe(group.count);
    expect(steps[0]!.from).toBe(0);
    for (const [k, { from, code }] of steps.entries()) {
      const last = (steps[k + 1]?.from ?? 2 ** 32) - 1;
      for (const word of [from, last]) {
        expect([hex(word, 8), code]).toEqual([hex(word, 8), expected(name, f32FromBits(word))]);
      }
    }
  });

  test('half-away differs from half-even at ties with an even code below, and there alone [VEC-06, NUM-02]', () => {
    const runs = scalar(`f32_to_${name}`).groups.filter(({ layout }) => layout === 'runs');
    const of = (ties: string): Pair[] =>
      runs
        .find(({ policy }) => policy['ties'] === ties && policy['overflow'] === 'saturate')!
        .runs.flatMap(pairs);
    const [even, away] = [of('even'), of('away')];
    expect(away.map(({ code }) => code)).toEqual(even.map(({ code }) => code));
    const moved = away.filter(({ from }, k) => from !== even[k]!.from);
    expect(moved.length).toBeGreaterThan(2);
    // A code that half-away reaches one word earlier, at the tie, is odd.
    for (const [k, { from, code }] of away.entries()) {
      const earlier = even[k]!.from - from;
      const odd = Number.parseInt(code, 16) % 2 === 1;
      expect([code, from, earlier === 0 || (earlier === 1 && odd)]).toEqual([code, from, true]);
    }
  });

  test.each(['f32', 'bf16'])('the boundary cases from %s [VEC-06, VEC-07]', (from) => {
    const group = scalar(`${from}_to_${name}`).groups.find(
      ({ layout, policy }) => layout === 'cases' && JSON.stringify(policy) === JSON.stringify(defaults),
    )!;
    const value = from === 'f32' ? f32FromBits : bf16FromBits;
    const infinity = from === 'f32' ? 0x7f800000 : 0x7f80;
    let count = 0;
    for (const { flags, cases } of group.tests) {
      for (const { from: word, code } of pairs(cases)) {
        const x = value(word);
        expect([hex(word, 8), code]).toEqual([hex(word, 8), expected(name, x)]);
        const magnitude = word % (infinity === 0x7f80 ? 2 ** 15 : 2 ** 31);
        expect(flags.includes('NaNInput')).toBe(magnitude > infinity);
        expect(flags.includes('InfInput')).toBe(magnitude === infinity);
        expect(flags.includes('NegZero')).toBe(Object.is(x, -0));
        count++;
      }
    }
    expect(count).toBe(group.count);
  });
});

test('bf16_to_f32: the upper half of the word, but for a NaN [VEC-06, NUM-07]', () => {
  const [group] = scalar('bf16_to_f32').groups;
  const wanted = Array.from({ length: 65536 }, (_, w) =>
    (w & 0x7fff) > 0x7f80 ? '7fc00000' : hex(w * 65536, 8),
  );
  expect(group!.table.join('')).toBe(wanted.join(''));
});

test('f32_to_bf16 by integer addition on the bits [VEC-06, SCA-09]', () => {
  const [group] = scalar('f32_to_bf16').groups;
  expect(group!.policy).toEqual({ ties: 'even', overflow: 'nonfinite', nan: 'canonical' });
  for (const { from, code } of group!.tests.flatMap(({ cases }) => pairs(cases))) {
    const magnitude = from % 2 ** 31;
    const wanted = magnitude > 0x7f800000 ? '7fc0' : hex(bf16OfF32Bits(from), 4);
    expect([hex(from, 8), code]).toEqual([hex(from, 8), wanted]);
  }
});

test('e6m2_to_bf16_reciprocal: the significands of the sources [VEC-06, SCA-04]', () => {
  const codes = scalar('e6m2_to_bf16_reciprocal').groups[0]!.table.join('');
  expect(codes.slice(4 * 0xc0, 4 * 0xc4)).toBe('3f803f4d3f2b3f12');
  expect([codes.slice(0, 4), codes.slice(-4)]).toEqual(['5780', '7fc0']);
});

test('every flag that the notes explain occurs, and no other [VEC-07]', () => {
  for (const file of filesOf<Cases>(/^(f32|bf16)_to_/)) {
    const used = new Set(file.groups.flatMap(({ tests }) => (tests ?? []).flatMap(({ flags }) => flags)));
    expect([file.name, [...used].sort()]).toEqual([file.name, Object.keys(file.notes ?? {}).sort()]);
  }
});
