/** NaN and infinity in a block, under every rule [CON-05] [HIF4-13] [MX-13]. */
import { describe, expect, test } from 'vitest';
import { encodeUnit } from '../../src/format/hif4.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { encodeBlock } from '../../src/format/mxfp4.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { codesOf, digits, valuesOf } from '../block-of.ts';
import { f32FromBits, hex } from '../independent/platform-floats.ts';

type Elements = Readonly<Record<number, number>>;
type Right = readonly [scale: string, codes: Elements] | 'refused';

function attempt(encoder: () => string): unknown {
  try {
    return encoder();
  } catch (error) {
    return error;
  }
}
const hif4 = (x: Elements, overrides: Record<string, string>): unknown =>
  attempt(() => {
    const { word, codes } = encodeUnit(valuesOf(64, x), hif4Policy('authors', overrides));
    return `${hex(word, 8)} ${digits(codes)}`;
  });
const mxfp4 = (x: Elements, overrides: Record<string, string>): unknown =>
  attempt(() => {
    const { scale, codes } = encodeBlock(valuesOf(32, x), mxfp4Policy('ocp', overrides));
    return `${hex(scale, 2)} ${digits(codes)}`;
  });
const expected = (count: 32 | 64, right: Right, message: RegExp): unknown =>
  right === 'refused'
    ? expect.objectContaining({ code: 'E_NONFINITE', message: expect.stringMatching(message) })
    : `${right[0]} ${codesOf(count, right[1])}`;

describe('MXFP4: 4, -1 and, as element 5, what is not finite', () => {
  // Without it: scale 1, codes 6 and a. Under the scale of an infinity, 4 and -1 become 0 and -0.
  const own: Right = ['7f', { 0: 6, 1: 10 }];
  const nanBlock: Right = ['ff', {}];
  test.each<[rule: string, nan: Right, up: Right, down: Right]>([
    ['nan', nanBlock, nanBlock, nanBlock],
    ['saturate', own, ['fc', { 1: 8, 5: 7 }], ['fc', { 1: 8, 5: 15 }]],
    ['error', 'refused', 'refused', 'refused'],
    ['zero-block', own, ['00', {}], ['00', {}]],
    ['top-scale', 'refused', ['fe', { 1: 8, 5: 7 }], ['fe', { 1: 8, 5: 15 }]],
    ['nan-scale', ['7f', { 0: 6, 1: 10, 5: 7 }], ['ff', { 1: 8, 5: 15 }], ['ff', { 1: 8, 5: 15 }]],
  ])('nonfinite=%s', (nonfinite, nan, up, down) => {
    for (const input of ['f32', 'bf16']) {
      const found = (special: number) => mxfp4({ 0: 4, 1: -1, 5: special }, { nonfinite, input });
      expect(found(Number.NaN)).toEqual(expected(32, nan, /element 5 is a NaN/));
      expect(found(Infinity)).toEqual(expected(32, up, /element 5 is an infinity/));
      expect(found(-Infinity)).toEqual(expected(32, down, /element 5 is an infinity/));
    }
  });

  test('an infinity counts as the largest finite value of the input under each scale rule', () => {
    // 7f7fffff (and 7f7f): floor 125, ceil 126, even 126, rceil 126, nearest 125.
    const scales = { floor: 'fc', ceil: 'fd', even: 'fd', rceil: 'fd', nearest: 'fc' };
    for (const input of ['f32', 'bf16']) {
      for (const [scale, right] of Object.entries(scales)) {
        const found = mxfp4({ 0: Infinity }, { nonfinite: 'saturate', input, scale });
        expect(found).toBe(`${right} ${codesOf(32, { 0: 7 })}`); // 7, though V / scale would round to 4 under fd
      }
    }
  });

  test('a NaN alone is as nothing under saturate: the scale is that of the zeros around it', () => {
    expect(mxfp4({ 3: Number.NaN }, { nonfinite: 'saturate' })).toBe(`00 ${codesOf(32, {})}`);
    expect(mxfp4({ 3: Number.NaN }, { nonfinite: 'saturate', 'zero-scale': '7f' })).toBe(
      `7f ${codesOf(32, {})}`,
    );
  });

  test('the zeros around an infinity under nan-scale keep or drop their signs by zero-sign [CON-06]', () => {
    const x = { 0: Infinity, 1: -4, 2: -0 };
    const found = ['keep', 'drop-input', 'drop'].map((rule) =>
      mxfp4(x, { nonfinite: 'nan-scale', 'zero-sign': rule }),
    );
    const right: Elements[] = [{ 0: 15, 1: 8, 2: 8 }, { 0: 15, 1: 8 }, { 0: 15 }];
    expect(found).toEqual(right.map((codes) => `ff ${codesOf(32, codes)}`));
  });

  test('a NaN beside an infinity', () => {
    const x = { 0: Number.NaN, 1: Infinity };
    expect(mxfp4(x, { nonfinite: 'saturate' })).toBe(`fc ${codesOf(32, { 1: 7 })}`);
    expect(mxfp4(x, { nonfinite: 'zero-block' })).toBe(`00 ${codesOf(32, {})}`);
    expect(mxfp4(x, { nonfinite: 'nan-scale' })).toBe(`ff ${codesOf(32, { 0: 7, 1: 15 })}`);
  });

  test('input rounding comes first: FP32 7f7fffff is infinite in BF16 [CON-04]', () => {
    const x = { 0: f32FromBits(0x7f7fffff) };
    expect(mxfp4(x, { input: 'bf16' })).toBe(`ff ${codesOf(32, {})}`);
    expect(mxfp4(x, { input: 'bf16', nonfinite: 'saturate' })).toBe(`fc ${codesOf(32, { 0: 7 })}`);
    expect(mxfp4(x, { input: 'f32' })).toBe(`fc ${codesOf(32, { 0: 7 })}`);
    expect(mxfp4({ 0: 2 ** 128 }, { input: 'f32' })).toBe(`ff ${codesOf(32, {})}`); // binary64 beyond FP32
  });

  test('a NaN block has no trace', () => {
    expect(encodeBlock(valuesOf(32, { 0: Number.NaN }), mxfp4Policy()).trace).toBeUndefined();
  });
});

describe('HiF4: 7, -1 and, as element 5, what is not finite', () => {
  // Without it: scale 1, bits of octet 0 and quad 0, codes 7 and 9 (-1 is -1/4 under both bits).
  const own: Right = ['000101c0', { 0: 7, 1: 9 }];
  const nanUnit: Right = ['000000ff', {}];
  // The largest finite value: scale fe, bits of octet 0 and quad 1; 7 and -1 become 0 and -0.
  const up: Right = ['000201fe', { 1: 8, 5: 7 }];
  const down: Right = ['000201fe', { 1: 8, 5: 15 }];
  test.each<[rule: string, nan: Right, up: Right, down: Right]>([
    ['nan', nanUnit, nanUnit, nanUnit],
    ['saturate', own, up, down],
    ['error', 'refused', 'refused', 'refused'],
    ['nan-saturate', nanUnit, up, down],
  ])('nonfinite=%s', (nonfinite, nan, ...infinite) => {
    for (const input of ['bf16', 'f32']) {
      const found = (special: number) => hif4({ 0: 7, 1: -1, 5: special }, { nonfinite, input });
      expect(found(Number.NaN)).toEqual(expected(64, nan, /element 5 is a NaN/));
      expect(found(Infinity)).toEqual(expected(64, infinite[0]!, /element 5 is an infinity/));
      expect(found(-Infinity)).toEqual(expected(64, infinite[1]!, /element 5 is an infinity/));
    }
  });

  test('a NaN that comes first in its quad does not hide the maximum behind it (fault H13)', () => {
    expect(hif4({ 4: Number.NaN, 5: 7 }, { nonfinite: 'saturate' })).toBe(
      `000201c0 ${codesOf(64, { 5: 7 })}`,
    );
  });

  test('input rounding comes first: FP32 7f7fffff is infinite in BF16 [CON-04]', () => {
    const x = { 0: f32FromBits(0x7f7fffff) };
    expect(hif4(x, {})).toBe(`000000ff ${codesOf(64, {})}`);
    expect(hif4(x, { nonfinite: 'saturate' })).toBe(`000101fe ${codesOf(64, { 0: 7 })}`);
    expect(hif4(x, { input: 'f32' })).toBe(`000101fe ${codesOf(64, { 0: 7 })}`);
  });

  test('a NaN unit has no trace', () => {
    expect(encodeUnit(valuesOf(64, { 0: Number.NaN }), hif4Policy()).trace).toBeUndefined();
  });
});
