/**
 * Every value of every MXFP4 parameter changes something, on a stated block, in the way worked out beside it [MX-20].
 */
import { describe, expect, test } from 'vitest';
import { encodeBlock } from '../../src/format/mxfp4.ts';
import { type Mxfp4Policy, mxfp4Parameters, mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { codesOf, digits, valuesOf } from '../block-of.ts';
import { f32FromBits, hex } from '../independent/platform-floats.ts';

type Elements = Readonly<Record<number, number>>;
type Right = readonly [scale: string, codes: Elements] | 'refused';

interface Example {
  parameter: keyof Mxfp4Policy;
  value: string;
  x: Elements;
  right: Right;
  byDefault: Right;
  /** What must hold besides for the parameter to matter; the default is judged with it, too. */
  with?: Record<string, string>;
}

/** At scale 1 (amax 4): 0.25, -0.25, 0.75, 0.125, -0.125, 0.625, 0.375, 3.5, 5.75 in elements 1 to 9. */
const ELEMENTS = [0.25, -0.25, 0.75, 0.125, -0.125, 0.625, 0.375, 3.5, 5.75];
const TIES: Record<string, readonly number[]> = {
  even: [0, 8, 2, 0, 8, 1, 1, 6, 7],
  away: [1, 9, 2, 0, 8, 1, 1, 6, 7],
  zero: [0, 8, 1, 0, 8, 1, 1, 5, 7],
  up: [1, 8, 2, 0, 8, 1, 1, 6, 7],
  truncate: [0, 8, 1, 0, 8, 1, 0, 5, 6],
  ceil: [1, 8, 2, 1, 8, 2, 1, 6, 7],
  floor: [0, 9, 1, 0, 9, 1, 0, 5, 6],
  odd: [1, 9, 1, 1, 9, 1, 1, 5, 7], // the odd codes are 0.5, 1.5, 3, 6
};
const from = (first: number, values: readonly number[]): Elements =>
  Object.fromEntries(values.map((v, i) => [first + i, v]));

const EXAMPLES: readonly Example[] = [
  {
    // 40ffffff is 7.9999995, which BF16 makes 8: exponent 1, 8 / 2 = 4.
    parameter: 'input',
    value: 'bf16',
    x: { 0: f32FromBits(0x40ffffff) },
    right: ['80', { 0: 6 }],
    byDefault: ['7f', { 0: 7 }],
  },
  {
    // log2 5 = 2.3: 3 - 2 = 1, and 5 / 2 = 2.5 is a tie of 2 and 3. Under floor 5 is a tie of 4 and 6.
    parameter: 'scale',
    value: 'ceil',
    x: { 0: 5 },
    right: ['80', { 0: 4 }],
    byDefault: ['7f', { 0: 6 }],
  },
  {
    // 7 = 1.75 x 4: one more; 3.5 is a tie of 3 and 4.
    parameter: 'scale',
    value: 'even',
    x: { 0: 7 },
    right: ['80', { 0: 6 }],
    byDefault: ['7f', { 0: 7 }],
  },
  {
    // log2(6.5 / 6) is above 0: 1; 3.25 goes to 3.
    parameter: 'scale',
    value: 'rceil',
    x: { 0: 6.5 },
    right: ['80', { 0: 5 }],
    byDefault: ['7f', { 0: 7 }],
  },
  {
    // log2(4 / 6) = -0.585: -1; 8 saturates.
    parameter: 'scale',
    value: 'nearest',
    x: { 0: 4 },
    right: ['7e', { 0: 7 }],
    byDefault: ['7f', { 0: 6 }],
  },
  ...Object.keys(TIES)
    .filter((value) => value !== 'even')
    .map(
      (value): Example => ({
        parameter: 'ties',
        value,
        x: { 0: 4, ...from(1, ELEMENTS) },
        right: ['7f', { 0: 6, ...from(1, TIES[value]!) }],
        byDefault: ['7f', { 0: 6, ...from(1, TIES['even']!) }],
      }),
    ),
  { parameter: 'zero-scale', value: '7f', x: {}, right: ['7f', {}], byDefault: ['00', {}] },
  {
    // 2^-127 has exponent -129, byte -2.
    parameter: 'scale-range',
    value: 'wrap',
    x: { 0: 2 ** -127 },
    right: ['fe', {}],
    byDefault: ['00', { 0: 2 }],
  },
  {
    // 2^-125 over 2^-126 is 2, over 2^-127 it is 4.
    parameter: 'scale-min',
    value: '01',
    x: { 0: 2 ** -125 },
    right: ['01', { 0: 4 }],
    byDefault: ['00', { 0: 6 }],
  },
  {
    // 1.75 x 2^127 over 2^126 is 3.5, a tie of 3 and 4.
    parameter: 'even-range',
    value: 'f32',
    with: { scale: 'even' },
    x: { 0: 1.75 * 2 ** 127 },
    right: ['ff', {}],
    byDefault: ['fd', { 0: 6 }],
  },
  {
    parameter: 'nan-code',
    value: '3',
    x: { 9: Number.NaN },
    right: ['ff', Object.fromEntries(Array.from({ length: 32 }, (_, i) => [i, 3]))],
    byDefault: ['ff', {}],
  },
  {
    parameter: 'zero-sign',
    value: 'drop-input',
    x: { 0: 4, 1: -0, 2: -0.125 },
    right: ['7f', { 0: 6, 2: 8 }],
    byDefault: ['7f', { 0: 6, 1: 8, 2: 8 }],
  },
  {
    parameter: 'zero-sign',
    value: 'drop',
    x: { 0: 4, 1: -0, 2: -0.125 },
    right: ['7f', { 0: 6 }],
    byDefault: ['7f', { 0: 6, 1: 8, 2: 8 }],
  },
  // An infinity counts as 7f7fffff under saturate: exponent 125. 4 x 2^-125 is nothing.
  {
    parameter: 'nonfinite',
    value: 'saturate',
    x: { 0: 4, 1: -Infinity },
    right: ['fc', { 1: 15 }],
    byDefault: ['ff', {}],
  },
  { parameter: 'nonfinite', value: 'error', x: { 1: Infinity }, right: 'refused', byDefault: ['ff', {}] },
  {
    parameter: 'nonfinite',
    value: 'zero-block',
    x: { 0: 4, 1: -Infinity },
    right: ['00', {}],
    byDefault: ['ff', {}],
  },
  {
    parameter: 'nonfinite',
    value: 'top-scale',
    x: { 0: 4, 1: -Infinity },
    right: ['fe', { 1: 15 }],
    byDefault: ['ff', {}],
  },
  {
    parameter: 'nonfinite',
    value: 'nan-scale',
    x: { 0: 4, 1: Infinity },
    right: ['ff', { 1: 15 }],
    byDefault: ['ff', {}],
  },
];

function found(x: Elements, overrides: Record<string, string>): unknown {
  try {
    const { scale, codes } = encodeBlock(valuesOf(32, x), mxfp4Policy('ocp', overrides));
    return `${hex(scale, 2)} ${digits(codes)}`;
  } catch (error) {
    return error;
  }
}

const expected = (right: Right): unknown =>
  right === 'refused'
    ? expect.objectContaining({ name: 'Fp4Error', code: 'E_NONFINITE' })
    : `${right[0]} ${codesOf(32, right[1])}`;

describe('every parameter value has an effect [MX-20]', () => {
  test.each(EXAMPLES)('$parameter=$value', ({ parameter, value, x, right, byDefault, with: besides }) => {
    expect(right).not.toEqual(byDefault);
    expect(found(x, { ...besides, [parameter]: value })).toEqual(expected(right));
    expect(found(x, { ...besides })).toEqual(expected(byDefault));
    expect(found(x, { ...besides, [parameter]: mxfp4Parameters[parameter][0] })).toEqual(expected(byDefault));
  });

  test('no value is left out', () => {
    const all = Object.entries(mxfp4Parameters).flatMap(([name, values]) =>
      values.slice(1).map((value) => `${name}=${value}`),
    );
    expect(EXAMPLES.map((e) => `${e.parameter}=${e.value}`).sort()).toEqual(all.sort());
  });

  test('the rounding rules are told apart from one another, too', () => {
    expect(new Set(Object.values(TIES).map(String)).size).toBe(mxfp4Parameters.ties.length);
  });
});
