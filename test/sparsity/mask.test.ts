/** What each pattern keeps: by hand, and the fast path against the definition. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromBinary64 } from '../../src/number/floats.ts';
import { keptOfFour, nibbleOf, prunePackedCodes } from '../../src/sparsity/codes.ts';
import { choose, definedMask, type PatternOptions } from '../../src/sparsity/definition.ts';
import { comparePairs, maskOf } from '../../src/sparsity/mask.ts';
import { keepCount, PATTERNS, type Pattern, patternByName } from '../../src/sparsity/pattern.ts';
import { precedence } from '../../src/sparsity/ties.ts';

const SETTINGS: PatternOptions = { pattern: '2:4', ties: 'lowest-index', odd: 'ceil' };

/** The mask of rows of numbers by both paths, as digits. */
function masks(rows: readonly (readonly number[])[], settings: Partial<PatternOptions>) {
  const options = { ...SETTINGS, ...settings };
  const depth = rows[0]?.length ?? 0;
  const fast = maskOf(Float64Array.from(rows.flat(), Math.abs), rows.length, depth, options);
  const defined = definedMask(
    rows.map((row) => row.map(fromBinary64)),
    options,
  );
  expect([...fast.kept]).toEqual(defined.kept.flat().map(Number));
  expect(fast.tied).toBe(defined.tied);
  return fast;
}
const kept = (x: readonly number[], settings: Partial<PatternOptions> = {}): string =>
  [...masks([x], settings).kept].join('');

describe('2:4 by hand', () => {
  test.each([
    [[1, 1, 1, 1], '1100', '0011'],
    [[0, 0, 0, 5], '1001', '0011'],
    [[-0, -0, -0, -0], '1100', '0011'],
    [[3, -3, 3, -3], '1100', '0011'],
    [[2, 1, 1, 1], '1100', '1001'],
    [[1, 2, 2, 3], '0101', '0011'],
    [[-0, 0.5, 0, -0], '1100', '0101'],
    [[NaN, Infinity, 1, NaN], '1001', '1001'],
    [[NaN, NaN, NaN, Infinity], '1100', '0110'],
    [[Number.MAX_VALUE, -Infinity, Infinity, 1], '0110', '0110'],
    [[5e-324, 0, -5e-324, 1e-323], '1001', '0011'],
  ])('%j keeps %s, with the highest index %s [SPA-02, SPA-05, SPA-08]', (x, lowest, highest) => {
    expect([kept(x), kept(x, { ties: 'highest-index' })]).toEqual([lowest, highest]);
  });

  test('an explicit order, the winner first [SPA-05]', () => {
    expect(kept([1, 1, 1, 1], { ties: [2, 0, 3, 1] })).toBe('1010');
    expect(kept([1, 1, 2, 1], { ties: [1, 3, 0, 2] })).toBe('0110');
    for (const ties of [
      [0, 1, 2],
      [0, 1, 2, 2],
      [0, 1, 2, 4],
      [0, 1, 2, 0.5],
    ]) {
      expect(() => kept([1, 1, 1, 1], { ties })).toThrow('an order of ties among 4 is each of 0 to 3 once');
    }
    expect(() =>
      precedence(
        Array.from({ length: 20 }, () => 0),
        20,
      ),
    ).toThrow('found 20 numbers');
  });

  test('a short last group is filled with zeros, and only it [SPA-07]', () => {
    const mask = masks([[4, 3, 2, 1, 9, -9, 9]], {});
    expect([...mask.kept].join('')).toBe('1100110');
    expect([mask.padding, mask.rankings, mask.tied]).toEqual([1, 2, 1]);
    // Under highest-index the padding is preferred to an element that is zero.
    expect(kept([0, 0, 0, 0, 0, 7], { ties: 'highest-index' })).toBe('001101');
  });

  test('ties are counted where the last place is at stake and not zero [SPA-17]', () => {
    const tied = (...x: number[]) => masks([x], {}).tied;
    expect([
      tied(1, 1, 0, 0),
      tied(1, 1, 1, 0),
      tied(2, 1, 1, 0),
      tied(5, 0, 0, 0),
      tied(2, 2, 1, 1),
    ]).toEqual([0, 1, 1, 0, 0]);
  });
});

describe('1:2, 4:8, channels and blocks by hand', () => {
  test('1:2 [SPA-01, SPA-05]', () => {
    expect([kept([1, -2, 3, 3, 0, -0, 7], { pattern: '1:2' })]).toEqual(['0110101']);
    expect([kept([1, -2, 3, 3, 0, -0, 7], { pattern: '1:2', ties: [1, 0] })]).toEqual(['0101011']);
  });

  test('4:8 keeps two pairs of largest sum of squares [SPA-04]', () => {
    // 25, 25, 26, 24.5: the pair (3, 4) ties with (5, 0).
    const x = [3, -4, 5, 0, 1, 5, 3.5, 3.5];
    expect(kept(x, { pattern: '4:8' })).toBe('11001100');
    expect(kept(x, { pattern: '4:8', ties: 'highest-index' })).toBe('00111100');
    expect(kept([0, 0, 0, 0, NaN, 0, Infinity, Infinity], { pattern: '4:8' })).toBe('00001111');
    expect(kept([1, 2, 3], { pattern: '4:8' })).toBe('111');
  });

  test('channels: the larger sums of squares down each column [SPA-01, SPA-04]', () => {
    const rows = [
      [3, 0, 5, 1, 4],
      [4, 6, 0, 1, -3],
    ];
    // 25, 36, 25, 2, 25: one above, three tie for two places.
    const columns = (settings: Partial<PatternOptions>) =>
      [...masks(rows, { pattern: 'channel', ...settings }).kept].slice(0, 5).join('');
    expect(columns({})).toBe('11100');
    expect(columns({ ties: 'highest-index' })).toBe('01101');
    expect(columns({ ties: [4, 3, 2, 0, 1] })).toBe('01101');
    expect(columns({ odd: 'floor' })).toBe('11000');
    expect(columns({ odd: 'half-even' })).toBe('11100');
    const mask = masks(rows, { pattern: 'channel' });
    expect([mask.rankings, mask.tied, mask.padding]).toEqual([1, 1, 0]);
  });

  test('a NaN outranks an infinity, an infinity every number, as a channel too [SPA-02]', () => {
    const rows = [[9, Infinity, NaN, 1e300]];
    expect([...masks(rows, { pattern: 'channel' }).kept].join('')).toBe('0110');
    expect([...masks(rows, { pattern: 'channel', ties: 'highest-index' }).kept].join('')).toBe('0110');
  });

  test('squares beyond binary64 are compared exactly [SPA-04]', () => {
    expect(kept([2 ** -600, 2 ** -1074, 2 ** 1000, 2 ** -590], { pattern: 'channel' })).toBe('0011');
    expect(kept([2 ** 1000, 2 ** 999, 2 ** 1000 - 2 ** 947, 2 ** 998], { pattern: 'channel' })).toBe('1010');
    expect(comparePairs(2 ** 600, 1, 2 ** 600, 2)).toBe(-1);
    expect(comparePairs(2 ** -600, 0, 0, 2 ** -600)).toBe(0);
    expect(comparePairs(2 ** 30, 1, 2 ** 30, 0)).toBe(1); // 2^60 + 1 and 2^60 are one number of binary64
    expect(comparePairs(7, 1, 5, 5)).toBe(0);
  });

  test('blocks of 32 rows by 64, the last ones padded [SPA-01, SPA-07]', () => {
    const rows = Array.from({ length: 33 }, (_, r) =>
      Array.from({ length: 130 }, (_, k) => (r === 32 && k === 129 ? 100 : k < 64 && r < 32 ? 1 : 0)),
    );
    const mask = masks(rows, { pattern: 'block' });
    // Six blocks: 2048, 0, 0 above; 0, 0, 10000 below. Three stay: two by rank, then the first of those that are zero.
    const at = (r: number, k: number) => mask.kept[r * 130 + k];
    expect([at(0, 0), at(31, 63), at(0, 64), at(0, 128), at(32, 0), at(32, 64), at(32, 128)]).toEqual([
      1, 1, 1, 0, 0, 0, 1,
    ]);
    expect([mask.padding, mask.rankings, mask.tied]).toEqual([64 * 192 - 33 * 130, 1, 0]);
  });

  test('nothing at all', () => {
    for (const pattern of PATTERNS) {
      expect(maskOf(new Float64Array(0), 0, 0, { ...SETTINGS, pattern }).kept.length).toBe(0);
      expect(maskOf(new Float64Array(0), 3, 0, { ...SETTINGS, pattern }).kept.length).toBe(0);
    }
    expect(() => patternByName('2:5')).toThrow('did you mean "2:4"?');
  });
});

test('how many of an odd number stay: n/2 up, down, or half-even pruned [SPA-06]', () => {
  const counts = (odd: 'ceil' | 'floor' | 'half-even') =>
    [0, 1, 2, 3, 4, 5, 7, 9, 11].map((n) => keepCount(n, odd));
  expect(counts('ceil')).toEqual([0, 1, 1, 2, 2, 3, 4, 5, 6]);
  expect(counts('floor')).toEqual([0, 0, 1, 1, 2, 2, 3, 4, 5]);
  // torch.nn.utils.prune rounds n / 2 half-even for what it prunes: 0, 2, 2, 4, 4, 6 of 1, 3, 5, 7, 9, 11.
  expect(counts('half-even')).toEqual([0, 1, 1, 1, 2, 3, 3, 5, 5]);
});

describe('the fast path is the definition', () => {
  const value = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(0, -0, 1, -1, 2, 3, 4, 5, 7, NaN, Infinity, -Infinity) },
    { weight: 2, arbitrary: fc.double() },
    { weight: 1, arbitrary: fc.double({ min: 0.999999999, max: 1.000000001 }) },
  );
  test('on any values, patterns, rules [SPA-01, SPA-02, SPA-04, SPA-05]', () => {
    const shapes = fc.record({
      rows: fc.integer({ min: 1, max: 5 }),
      depth: fc.integer({ min: 1, max: 21 }),
      values: fc.array(value, { minLength: 105, maxLength: 105 }),
      pattern: fc.constantFrom(...PATTERNS),
      ties: fc.constantFrom('lowest-index' as const, 'highest-index' as const, 'order' as const),
      odd: fc.constantFrom('ceil' as const, 'floor' as const, 'half-even' as const),
      seed: fc.nat(),
    });
    fc.assert(
      fc.property(shapes, ({ rows, depth, values, pattern, ties, odd, seed }) => {
        const matrix = Array.from({ length: rows }, (_, r) => values.slice(r * depth, (r + 1) * depth));
        masks(matrix, {
          pattern,
          odd,
          ties: ties === 'order' ? shuffled(candidates(pattern, rows, depth), seed) : ties,
        });
      }),
      { numRuns: 600 },
    );
  });

  test('on blocks of several rows and columns [SPA-04]', () => {
    const shape = fc.record({
      rows: fc.integer({ min: 30, max: 70 }),
      depth: fc.integer({ min: 60, max: 200 }),
      seed: fc.nat(),
    });
    fc.assert(
      fc.property(shape, ({ rows, depth, seed }) => {
        const matrix = Array.from({ length: rows }, (_, r) =>
          Array.from(
            { length: depth },
            (_, k) => (((r * 31 + k * 17 + seed) % 13) - 6) * ((r >> 5) + (k >> 6)),
          ),
        );
        masks(matrix, { pattern: 'block' });
      }),
      { numRuns: 12 },
    );
  });
});

/** How many candidates an order of ties is about. */
const candidates = (pattern: Pattern, rows: number, depth: number): number =>
  ({ '2:4': 4, '1:2': 2, '4:8': 4, channel: depth, block: Math.ceil(rows / 32) * Math.ceil(depth / 64) })[
    pattern
  ];

/** Some permutation of 0 to n - 1. */
function shuffled(n: number, seed: number): number[] {
  const list = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = (seed * (i + 7) + 3) % (i + 1);
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}

describe('2:4 on packed codes', () => {
  const PERMUTATIONS = [0, 1, 2, 3]
    .flatMap((a) => [0, 1, 2, 3].flatMap((b) => [0, 1, 2, 3].flatMap((c) => [[a, b, c, 6 - a - b - c]])))
    .filter((p) => new Set(p).size === 4);

  test.each([
    ['lowest-index', 'lowest-index'],
    ['highest-index', 'highest-index'],
    ...PERMUTATIONS.map((p) => [p.join(), p]),
  ] as [string, PatternOptions['ties']][])(
    'all groups of four codes, ties %s: the definition, on codes and on exact numbers [SPA-03, SPA-08, SPA-09]',
    (_, ties) => {
      // Every magnitude; the signs go through all their patterns beside them, since they must not matter.
      const groups = Array.from({ length: 4096 }, (_, m) =>
        [0, 1, 2, 3].map((i) => ((m >> (3 * i)) & 7) | (((m * 5) >> i) & 1 ? 8 : 0)),
      );
      const packed = Uint8Array.from(groups.flatMap((g) => [g[0]! | (g[1]! << 4), g[2]! | (g[3]! << 4)]));
      const { codes, nibbles, tied } = prunePackedCodes(packed, ties);
      let wantedTied = 0;
      for (const [g, group] of groups.entries()) {
        const exact = choose(
          group.map((c) => ({
            kind: 'finite' as const,
            value: { significand: BigInt(c & 7), divisor: 1n, exponent: -2 },
          })),
          2,
          ties,
        );
        const places = [0, 1, 2, 3].filter((i) => exact.kept[i]);
        if (exact.tied) wantedTied++;
        const found = [
          codes[2 * g]! & 15,
          codes[2 * g]! >> 4,
          codes[2 * g + 1]! & 15,
          codes[2 * g + 1]! >> 4,
        ];
        const right =
          nibbles[g] === places[0]! + 4 * places[1]! &&
          nibbleOf(keptOfFour(group, ties)) === nibbles[g] &&
          found.every((c, i) => c === (exact.kept[i] ? group[i] : 0));
        if (!right) expect([group, found, nibbles[g]]).toEqual([group, 'kept', places]);
      }
      expect(tied).toBe(wantedTied);
    },
  );

  test('all 65,536 words, signs included, under the default rule [SPA-08]', () => {
    const packed = Uint8Array.from({ length: 131072 }, (_, j) => ((j >> 1) >> (8 * (j & 1))) & 0xff);
    const { codes, nibbles } = prunePackedCodes(packed, 'lowest-index');
    let wrong = 0;
    for (let word = 0; word < 65536; word++) {
      const c = [0, 4, 8, 12].map((shift) => (word >> shift) & 15);
      const m = c.map((code) => code % 8);
      let [a, b] = [0, 1]; // by insertion, unlike both paths: a is the best so far, b the next
      if (m[1]! > m[0]!) [a, b] = [1, 0];
      for (const i of [2, 3]) {
        if (m[i]! > m[a]!) [a, b] = [i, a];
        else if (m[i]! > m[b]!) b = i;
      }
      const kept = c.map((code, i) => (i === a || i === b ? code : 0));
      const found = codes[2 * word]! | (codes[2 * word + 1]! << 8);
      const wanted = kept[0]! | (kept[1]! << 4) | (kept[2]! << 8) | (kept[3]! << 12);
      if (found !== wanted || nibbles[word] !== Math.min(a, b) + 4 * Math.max(a, b)) wrong++;
    }
    expect(wrong).toBe(0);
  });
});
