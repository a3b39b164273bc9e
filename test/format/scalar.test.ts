/** The scalar formats: every code, every rule at the ends, and the nearest value by distance. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { convert, e6m2_to_bf16_reciprocal, SCALARS, type ScalarName } from '../../src/format/scalar.ts';
import { decode, encode, type Overflow } from '../../src/number/binary-format.ts';
import { BF16, FP16, FP32, fromBinary64 } from '../../src/number/floats.ts';
import type { Ties } from '../../src/number/round.ts';
import { numberOf } from '../block-of.ts';
import { nearestCode } from '../independent/nearest.ts';
import { bf16FromBits, f32FromBits, hex, power } from '../independent/platform-floats.ts';
import { SCALAR_TABLES } from '../independent/scalar-tables.ts';

const names = Object.keys(SCALARS) as ScalarName[];
const to = (name: ScalarName, x: number, ties: Ties = 'even', overflow: Overflow = 'saturate'): string =>
  hex(encode(SCALARS[name], fromBinary64(x), ties, overflow), 2);

describe('codes and values [NUM-03] [NUM-04]', () => {
  test.each(names)('%s: every code has the value of the standard', (name) => {
    const { values } = SCALAR_TABLES[name]!;
    const found = values.map((_, code) => numberOf(decode(SCALARS[name], code)));
    expect(found).toEqual(values.map((v) => v)); // toEqual tells -0 from +0
  });

  test('stated values of the standards [SCA-01] [SCA-02] [SCA-03] [SCA-05] [SCA-06] [SCA-07] [SCA-08]', () => {
    const value = (name: ScalarName, code: number): number => numberOf(decode(SCALARS[name], code));
    expect([value('e6m2', 0x00), value('e6m2', 0xc0), value('e6m2', 0xfe)]).toEqual([2 ** -48, 1, 49152]);
    expect([value('e8m0', 0x00), value('e8m0', 0x7f), value('e8m0', 0xfe)]).toEqual([2 ** -127, 1, 2 ** 127]);
    expect([value('e4m3', 0x01), value('e4m3', 0x7e), value('e4m3', 0xff)]).toEqual([
      2 ** -9,
      448,
      Number.NaN,
    ]);
    expect([value('e5m2', 0x01), value('e5m2', 0x7b), value('e5m2', 0xfc)]).toEqual([
      2 ** -16,
      57344,
      -Infinity,
    ]);
    expect([value('e4m3fnuz', 0x7f), value('e4m3fnuz', 0x80)]).toEqual([240, Number.NaN]);
    expect([value('e5m2fnuz', 0x7f), value('e5m2fnuz', 0x80)]).toEqual([57344, Number.NaN]);
    expect([value('e2m1', 0x8), value('e2m1', 0xf), value('e1m2', 0x8), value('e1m2', 0xf)]).toEqual([
      -0, -6, -0, -1.75,
    ]);
  });

  test.each(names)('%s: encode(decode(code)) = code; a NaN gives the canonical one [NUM-05]', (name) => {
    const { values, nan } = SCALAR_TABLES[name]!;
    const f = SCALARS[name];
    const found = values.map((_, code) => encode(f, decode(f, code), 'even', 'nonfinite'));
    expect(found).toEqual(values.map((v, code) => (Number.isNaN(v) ? nan : code)));
    const saturated = values.map((_, code) => encode(f, decode(f, code)));
    expect(saturated).toEqual(
      values.map((v, code) => (Number.isNaN(v) ? nan : Number.isFinite(v) ? code : v > 0 ? 0x7b : 0xfb)),
    );
  });
});

describe('nearest value, ties to the even code [NUM-05] [NUM-06]', () => {
  test.each(names)('%s: every BF16 word', (name) => {
    const table = SCALAR_TABLES[name]!;
    const wrong: string[] = [];
    for (let w = 0; w < 65536; w++) {
      const x = bf16FromBits(w);
      if (!Number.isFinite(x)) continue;
      const found = convert(BF16, SCALARS[name], w, { ties: 'even', overflow: 'saturate', nan: 'canonical' });
      const right = nearestCode(table, x);
      if (found !== right) wrong.push(`${hex(w, 4)}: ${hex(found, 2)}, not ${hex(right, 2)}`);
    }
    expect(wrong).toEqual([]);
  });

  test.each(names)('%s: random FP32 words, and those next to midpoints', (name) => {
    const table = SCALAR_TABLES[name]!;
    const middles = table.magnitudes.slice(1).map((m, k) => (m + table.magnitudes[k]!) / 2);
    const nearMiddle = fc
      .tuple(fc.constantFrom(...middles, ...table.magnitudes), fc.integer({ min: -1, max: 1 }))
      .map(([m, ulps]) => Math.fround(m + ulps * m * 2 ** -23));
    const anyWord = fc.integer({ min: 0, max: 0x7f7fffff }).map(f32FromBits);
    fc.assert(
      fc.property(fc.oneof(nearMiddle, anyWord), fc.boolean(), (magnitude, negative) => {
        const x = negative ? -magnitude : magnitude;
        expect(encode(SCALARS[name], fromBinary64(x))).toBe(nearestCode(table, x));
      }),
      { numRuns: 4000 },
    );
  });
});

describe('beyond the largest finite value, judged after rounding [NUM-05]', () => {
  test.each([
    // format, x, ties, saturate, nonfinite
    ['e4m3', 448, 'even', '7e', '7e'],
    ['e4m3', 464, 'even', '7e', '7e'], // a tie between 448 and 480, and 448 is even
    ['e4m3', 464, 'zero', '7e', '7e'],
    ['e4m3', 464, 'away', '7e', '7f'],
    ['e4m3', 464, 'up', '7e', '7f'],
    ['e4m3', -464, 'up', 'fe', 'fe'], // towards +infinity is -448
    ['e4m3', -464, 'away', 'fe', '7f'],
    ['e4m3', 464.00003, 'even', '7e', '7f'],
    ['e4m3', 479, 'truncate', '7e', '7e'],
    ['e4m3', 480, 'truncate', '7e', '7f'],
    ['e4m3', 449, 'ceil', '7e', '7f'],
    ['e4m3', -449, 'ceil', 'fe', 'fe'],
    ['e4m3', -449, 'floor', 'fe', '7f'],
    ['e4m3', 449, 'odd', '7e', '7f'], // the even 7e would be inexact, so its odd neighbour
    ['e5m2', 61440, 'even', '7b', '7c'], // a tie between 57344 and 65536, and 65536 is even
    ['e5m2', 61440, 'zero', '7b', '7b'],
    ['e5m2', 61439, 'even', '7b', '7b'],
    ['e5m2', -61440, 'even', 'fb', 'fc'],
    ['e4m3fnuz', 248, 'even', '7f', '80'], // a tie between 240 and 256, and 240 is odd
    ['e4m3fnuz', 247.9, 'even', '7f', '7f'],
    ['e4m3fnuz', -248, 'even', 'ff', '80'],
    ['e5m2fnuz', 61440, 'even', '7f', '80'],
    ['e5m2fnuz', 61440, 'zero', '7f', '7f'],
    ['e2m1', 7, 'even', '07', '07'], // these have nothing but numbers
    ['e2m1', -1e30, 'even', '0f', '0f'],
    ['e1m2', 1e30, 'even', '07', '07'],
    ['e1m2', -1.875, 'away', '0f', '0f'],
    ['e6m2', 53248, 'even', 'fe', 'fe'], // a tie between 49152 and 57344, and fe is even
    ['e6m2', 53248, 'away', 'fe', 'fe'],
    ['e6m2', 57344, 'even', 'fe', 'fe'],
    ['e6m2', 2 ** 100, 'even', 'fe', 'fe'],
    ['e8m0', 1.5 * 2 ** 127, 'even', 'fe', 'fe'], // a tie between fe and what would be ff
    ['e8m0', 1.5 * 2 ** 127, 'away', 'fe', 'fe'],
    ['e8m0', 1.75 * 2 ** 127, 'even', 'fe', 'fe'],
  ] as const)('%s of %d, %s: %s, nonfinite %s', (name, x, ties, saturate, nonfinite) => {
    expect(to(name, x, ties, 'saturate')).toBe(saturate);
    expect(to(name, x, ties, 'nonfinite')).toBe(nonfinite);
  });

  test.each([
    // format; +infinity saturate and nonfinite; -infinity likewise; NaN
    ['e2m1', '07', '07', '0f', '0f', '00'],
    ['e1m2', '07', '07', '0f', '0f', '00'],
    ['e6m2', 'ff', 'ff', 'ff', 'ff', 'ff'],
    ['e8m0', 'ff', 'ff', 'ff', 'ff', 'ff'],
    ['e4m3', '7e', '7f', 'fe', '7f', '7f'],
    ['e5m2', '7b', '7c', 'fb', 'fc', '7f'],
    ['e4m3fnuz', '7f', '80', 'ff', '80', '80'],
    ['e5m2fnuz', '7f', '80', 'ff', '80', '80'],
  ] as const)('%s: infinities and NaN', (name, up, upNonfinite, down, downNonfinite, nan) => {
    expect(to(name, Infinity, 'even', 'saturate')).toBe(up);
    expect(to(name, Infinity, 'even', 'nonfinite')).toBe(upNonfinite);
    expect(to(name, -Infinity, 'even', 'saturate')).toBe(down);
    expect(to(name, -Infinity, 'even', 'nonfinite')).toBe(downNonfinite);
    expect([to(name, Number.NaN), to(name, Number.NaN, 'even', 'nonfinite')]).toEqual([nan, nan]);
  });
});

describe('scale formats have no zero and no sign [NUM-06] [SCA-03] [SCA-05]', () => {
  const tiny = 2 ** -149;
  test.each(['e6m2', 'e8m0'] as const)('%s', (name) => {
    for (const ties of ['even', 'away', 'zero', 'up', 'truncate', 'ceil', 'floor', 'odd'] as const) {
      const found = [0, -0, tiny, power(-140), -tiny, -1].map((x) => to(name, x, ties));
      expect(found).toEqual(['00', '00', '00', '00', 'ff', 'ff']);
    }
  });

  test('E6M2 below and at its ends', () => {
    const found = [2 ** -48, 2 ** -49, 1.125 * 2 ** -48, 1.126 * 2 ** -48, 49152, 49153].map((x) =>
      to('e6m2', x),
    );
    expect(found).toEqual(['00', '00', '00', '01', 'fe', 'fe']);
  });

  // S9: 3 lies midway between 2 (80) and 4 (81), 0.75 between 0.5 (7e) and 1 (7f).
  test.each([
    ['even', '80', '7e'],
    ['away', '81', '7f'],
    ['up', '81', '7f'],
    ['zero', '80', '7e'],
    ['truncate', '80', '7e'],
    ['floor', '80', '7e'],
    ['ceil', '81', '7f'],
    ['odd', '81', '7f'],
  ] as const)('E8M0 of 3 and 0.75, %s: %s and %s', (ties, three, threeQuarters) => {
    expect([to('e8m0', 3, ties), to('e8m0', 0.75, ties)]).toEqual([three, threeQuarters]);
  });
});

describe('fnuz forms have no -0 [SCA-08]', () => {
  test.each([
    ['e4m3fnuz', 2 ** -11], // half of the smallest, 2^-10: a tie with zero
    ['e5m2fnuz', 2 ** -18],
  ] as const)('%s', (name, halfOfSmallest) => {
    expect([to(name, -0), to(name, -halfOfSmallest), to(name, -(2 ** -140))]).toEqual(['00', '00', '00']);
    expect([to(name, -halfOfSmallest, 'away'), to(name, -(2 ** -140), 'floor')]).toEqual(['81', '81']);
    expect([to(name, -(2 ** -140), 'ceil'), to(name, -(2 ** -140), 'odd')]).toEqual(['00', '81']);
  });

  test('the other signed forms keep the sign of what underflows', () => {
    const signed = ['e2m1', 'e1m2', 'e4m3', 'e5m2'] as const;
    expect(signed.map((name) => to(name, -0))).toEqual(['08', '08', '80', '80']);
    expect(signed.map((name) => to(name, -(2 ** -140)))).toEqual(['08', '08', '80', '80']);
  });
});

describe('NaN between BF16 and FP32 [NUM-07] [SCA-09]', () => {
  const policy = { ties: 'even', overflow: 'nonfinite' } as const;
  test.each([
    // FP32 word, canonical BF16, payload kept: the upper half with the quiet bit 0040 set
    [0x7fc00000, '7fc0', '7fc0'],
    [0x7f800001, '7fc0', '7fc0'], // the payload lies in the lower half and is lost
    [0xff800001, '7fc0', 'ffc0'],
    [0xffc12345, '7fc0', 'ffc1'],
    [0x7fb5ffff, '7fc0', '7ff5'], // a signaling NaN, quieted: 7fb5 | 0040
  ])('FP32 %i to BF16', (word, canonical, payload) => {
    expect(hex(convert(FP32, BF16, word, { ...policy, nan: 'canonical' }), 4)).toBe(canonical);
    expect(hex(convert(FP32, BF16, word, { ...policy, nan: 'payload' }), 4)).toBe(payload);
  });

  test.each([
    [0x7f81, '7fc00000', '7fc10000'],
    [0xff81, '7fc00000', 'ffc10000'],
    [0xffd5, '7fc00000', 'ffd50000'],
  ])('BF16 %i to FP32', (word, canonical, payload) => {
    expect(hex(convert(BF16, FP32, word, { ...policy, nan: 'canonical' }), 8)).toBe(canonical);
    expect(hex(convert(BF16, FP32, word, { ...policy, nan: 'payload' }), 8)).toBe(payload);
  });

  test('numbers and infinities are the same under nan=payload', () => {
    for (const word of [0x7f800000, 0xff800000, 0x3f818000, 0x80000000, 0x7f7fffff]) {
      const canonical = convert(FP32, BF16, word, { ...policy, nan: 'canonical' });
      expect(convert(FP32, BF16, word, { ...policy, nan: 'payload' })).toBe(canonical);
    }
    expect(hex(convert(FP32, BF16, 0x7f7fffff, { ...policy, nan: 'payload' }), 4)).toBe('7f80');
  });

  test('a NaN of a small format becomes the canonical one', () => {
    const plain = { ties: 'even', overflow: 'saturate', nan: 'canonical' } as const;
    expect(convert(SCALARS.e4m3, FP32, 0xff, plain)).toBe(0x7fc00000);
    expect(convert(SCALARS.e5m2, FP16, 0xfd, plain)).toBe(0x7e00);
    expect(convert(SCALARS.e6m2, BF16, 0xff, plain)).toBe(0x7fc0);
  });
});

describe('BF16 reciprocal of E6M2 [SCA-04]', () => {
  test('all 256 codes: a table by the two fraction bits, exponent 48 - e', () => {
    const MANTISSAS = [0x3f80, 0x3f4d, 0x3f2b, 0x3f12]; // bf16 of 1, 1/1.25, 1/1.5, 1/1.75
    for (let code = 0; code < 255; code++) {
      // A BF16 word's exponent field starts at bit 7.
      const right = MANTISSAS[code & 3]! + ((48 - (code >> 2)) << 7);
      expect(hex(e6m2_to_bf16_reciprocal(code), 4)).toBe(hex(right, 4));
    }
    expect(hex(e6m2_to_bf16_reciprocal(0xff), 4)).toBe('7fc0');
  });

  test('the table is the nearest BF16: the quotient lies within half a step', () => {
    for (const [f, word] of [0x3f80, 0x3f4d, 0x3f2b, 0x3f12].entries()) {
      const [below, at, above] = [word - 1, word, word + 1].map((w) => bf16FromBits(w) * (4 + f));
      expect((below! + at!) / 2).toBeLessThan(4);
      expect((above! + at!) / 2).toBeGreaterThan(4);
    }
  });
});
