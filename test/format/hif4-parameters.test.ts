/**
 * Every value of every HiF4 parameter changes something, on a stated unit, in the way worked out beside it [HIF4-20].
 */
import { describe, expect, test } from 'vitest';
import { encodeUnit } from '../../src/format/hif4.ts';
import { type HiF4Policy, hif4Parameters, hif4Policy } from '../../src/format/hif4-policy.ts';
import { codesOf, digits, valuesOf } from '../block-of.ts';
import { f32FromBits, hex } from '../independent/platform-floats.ts';

type Elements = Readonly<Record<number, number>>;
type Right = readonly [word: string, codes: Elements] | 'refused';

interface Example {
  parameter: keyof HiF4Policy;
  value: string;
  x: Elements;
  /** Word and codes under the value, and under the parameter's default. */
  right: Right;
  byDefault: Right;
}

// An element 7 alone gives scale 1 (c0) with both exponent bits, and code 7.
const ONE = '000101c0';

/** Quarters at scale 1: 1/2, -1/2, 3/2, 1/4, -1/4, 5/4, 1/2 - 2^-9, 3/4, in elements 8 to 15. */
const QUARTERS = [0.5, -0.5, 1.5, 0.25, -0.25, 1.25, 0.498046875, 0.75];
const TIES: Record<string, readonly number[]> = {
  away: [1, 9, 2, 0, 8, 1, 0, 1],
  even: [0, 8, 2, 0, 8, 1, 0, 1],
  zero: [0, 8, 1, 0, 8, 1, 0, 1],
  up: [1, 8, 2, 0, 8, 1, 0, 1],
  truncate: [0, 8, 1, 0, 8, 1, 0, 0],
  ceil: [1, 8, 2, 1, 8, 2, 1, 1],
  floor: [0, 9, 1, 0, 9, 1, 0, 0],
  odd: [1, 9, 1, 1, 9, 1, 1, 1],
  // 0.498046875 + 0.5 has nine significant bits, a tie in BF16 that goes to 1.
  'away-bf16': [1, 9, 2, 0, 8, 1, 1, 1],
};
const octet = (from: number, values: readonly number[]): Elements =>
  Object.fromEntries(values.map((v, i) => [from + i, v]));
const tiesExample = (value: string): Example => ({
  parameter: 'ties',
  value,
  x: {
    0: 7,
    ...octet(
      8,
      QUARTERS.map((q) => q / 4),
    ),
  },
  right: [ONE, { 0: 7, ...octet(8, TIES[value]!) }],
  byDefault: [ONE, { 0: 7, ...octet(8, TIES['away']!) }],
});

const EXAMPLES: readonly Example[] = [
  {
    // 3fff8001 lies above the BF16 midpoint of 1.9921875 and 2: BF16 makes it 2, which reaches level 3; FP32 does not.
    parameter: 'input',
    value: 'f32',
    x: { 0: 7, 8: f32FromBits(0x3fff8001) },
    right: [ONE, { 0: 7, 8: 7 }],
    byDefault: ['000501c0', { 0: 7, 8: 4 }],
  },
  {
    // 6.5625 x 73/512 = 0.93567, below 0.9375, the midpoint of 0.875 (bf) and 1. BF16 makes it 0.9375: to even, 1.
    // Scale 0.875: REC 3f12 x 2 = 1.140625: 7.485, halved twice 1.871: 7.
    parameter: 'sf',
    value: 'product',
    x: { 0: 6.5625 },
    right: ['000101bf', { 0: 7 }],
    byDefault: [ONE, { 0: 7 }],
  },
  {
    // 7.90625 / 7 = 1.12946, above 1.125: 1.25 (c1). REC 3f4d = 0.80078: 6.331, halved twice 1.583: 6.
    parameter: 'sf',
    value: 'quotient',
    x: { 0: 7.90625 },
    right: ['000101c1', { 0: 6 }],
    byDefault: [ONE, { 0: 7 }],
  },
  // SF of 7.875 is 1.125 in BF16, a tie of 1 and 1.25. 7.875 x 0.80078 = 6.306, halved twice 1.577: 6.
  ...['away', 'up'].map(
    (value): Example => ({
      parameter: 'e6m2-ties',
      value,
      x: { 0: 7.875 },
      right: ['000101c1', { 0: 6 }],
      byDefault: [ONE, { 0: 7 }],
    }),
  ),
  {
    // SF of 6.5625 is 0.9375 in BF16: truncated 0.875.
    parameter: 'e6m2-ties',
    value: 'truncate',
    x: { 0: 6.5625 },
    right: ['000101bf', { 0: 7 }],
    byDefault: [ONE, { 0: 7 }],
  },
  {
    // SF of 2^19 is 1.140625 x 2^16, index 4 (16 + 48) + 1 = 257.
    parameter: 'e6m2-range',
    value: 'wrap',
    x: { 0: 2 ** 19 },
    right: ['00010101', { 0: 7 }],
    byDefault: ['000101fe', { 0: 7 }],
  },
  {
    // 7 / 1.75 = 4 reaches level 2, and 2 level 3; 7 x 0.5703125 = 3.992 only level 3.
    parameter: 'reciprocal',
    value: 'exact',
    x: { 0: 12.25, 8: 7 },
    right: ['000503c3', { 0: 7, 8: 4 }],
    byDefault: ['000501c3', { 0: 7, 8: 7 }],
  },
  {
    // 21/32 x 73/128 = 1533/4096, 1.49707 quarters: 1. In BF16 0.375 (step 2^-9: 191.6 -> 192), 1.5 quarters: 2.
    parameter: 'products',
    value: 'bf16',
    x: { 0: 12.25, 8: 21 / 32 },
    right: ['000101c3', { 0: 7, 8: 2 }],
    byDefault: ['000101c3', { 0: 7, 8: 1 }],
  },
  ...Object.keys(TIES)
    .filter((value) => value !== 'away')
    .map(tiesExample),
  {
    parameter: 'zero-sign',
    value: 'drop-input',
    x: { 0: 7, 8: -0, 9: -0.0625 },
    right: [ONE, { 0: 7, 9: 8 }],
    byDefault: [ONE, { 0: 7, 8: 8, 9: 8 }],
  },
  {
    parameter: 'zero-sign',
    value: 'drop',
    x: { 0: 7, 8: -0, 9: -0.0625 },
    right: [ONE, { 0: 7 }],
    byDefault: [ONE, { 0: 7, 8: 8, 9: 8 }],
  },
  {
    parameter: 'nonfinite',
    value: 'saturate',
    x: { 0: 7, 8: Number.NaN },
    right: [ONE, { 0: 7 }],
    byDefault: ['000000ff', {}],
  },
  {
    parameter: 'nonfinite',
    value: 'error',
    x: { 0: 7, 8: Number.NaN },
    right: 'refused',
    byDefault: ['000000ff', {}],
  },
  {
    // The infinity counts as 7f7f: scale fe, bits of octet 1 and quad 2; 7 x 2^-15 is far below a quarter.
    parameter: 'nonfinite',
    value: 'nan-saturate',
    x: { 0: 7, 8: -Infinity },
    right: ['000402fe', { 8: 15 }],
    byDefault: ['000000ff', {}],
  },
];

function found(x: Elements, overrides: Record<string, string>): unknown {
  try {
    const { word, codes } = encodeUnit(valuesOf(64, x), hif4Policy('authors', overrides));
    return `${hex(word, 8)} ${digits(codes)}`;
  } catch (error) {
    return error;
  }
}

const expected = (right: Right): unknown =>
  right === 'refused'
    ? expect.objectContaining({ name: 'Fp4Error', code: 'E_NONFINITE' })
    : `${right[0]} ${codesOf(64, right[1])}`;

describe('every parameter value has an effect [HIF4-20]', () => {
  test.each(EXAMPLES)('$parameter=$value', ({ parameter, value, x, right, byDefault }) => {
    expect(right).not.toEqual(byDefault);
    expect(found(x, { [parameter]: value })).toEqual(expected(right));
    expect(found(x, {})).toEqual(expected(byDefault));
    expect(found(x, { [parameter]: hif4Parameters[parameter][0] })).toEqual(expected(byDefault));
  });

  test('no value is left out', () => {
    const all = Object.entries(hif4Parameters).flatMap(([name, values]) =>
      values.slice(1).map((value) => `${name}=${value}`),
    );
    expect(EXAMPLES.map((e) => `${e.parameter}=${e.value}`).sort()).toEqual(all.sort());
  });

  test('the rounding rules are told apart from one another, too', () => {
    expect(new Set(Object.values(TIES).map(String)).size).toBe(hif4Parameters.ties.length);
  });

  // A scale factor is never negative, so that up and away are one rule there; both names exist among the sources.
  test('nan-saturate is told apart from saturate by a NaN', () => {
    const x = { 0: 7, 8: Number.NaN };
    expect(found(x, { nonfinite: 'nan-saturate' })).toEqual(expected(['000000ff', {}]));
  });
});
