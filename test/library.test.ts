/** The library's entry: the two codecs with values worked out by hand, and what it refuses. */
import { describe, expect, test } from 'vitest';
import { Fp4Error, hif4, mxfp4 } from '../src/index.ts';

const f32 = (count: number, ...first: number[]): Float32Array => {
  const values = new Float32Array(count);
  values.set(first);
  return values;
};

describe('HiF4', () => {
  test('0.5 alone gives 000101b1 and code 6, which is 0.46875 [HIF4-15]', () => {
    const q = hif4.quantize(f32(64, 0.5));
    expect([...q.scales]).toEqual([0x000101b1]);
    expect([...q.codes]).toEqual([6, ...Array.from({ length: 31 }, () => 0)]);
    expect(q.parameters).toEqual(hif4.policy('authors'));
    expect([...hif4.dequantize(q)]).toEqual([0.46875, ...Array.from({ length: 63 }, () => 0)]);
  });

  test('codes two a byte, the even element low; ties by profile and by parameter [HIF4-12, LAY-01]', () => {
    // Vmax 7 makes the scale 1; 0.125 is a tie between 0 and 0.25, and element 8 is in an octet without bits.
    const x = f32(64, 7, 0, 0, 0, 0, 0, 0, 0, 0.125, -1.75);
    expect(hif4.quantize(x).codes[4]).toBe(0xf1);
    expect(hif4.quantize(x, { profile: 'ascend' }).codes[4]).toBe(0xf0);
    expect(hif4.quantize(x, { parameters: { ties: 'even' } }).codes[4]).toBe(0xf0);
  });

  test('a view into a larger buffer, and no units at all', () => {
    const whole = f32(192, ...Array.from({ length: 64 }, () => 9), 0.5);
    expect([...hif4.quantize(whole.subarray(64, 128)).scales]).toEqual([0x000101b1]);
    const none = hif4.quantize(new Float32Array(0));
    expect([none.scales.length, none.codes.length, hif4.dequantize(none).length]).toEqual([0, 0, 0]);
  });
});

describe('MXFP4', () => {
  test('6, -3 and 0.5 under scale 1; rceil moves 7 to scale 2 [MX-05, MX-08]', () => {
    const q = mxfp4.quantize(f32(32, 6, -3, 0.5));
    expect([...q.scales, ...q.codes.subarray(0, 2)]).toEqual([0x7f, 0xd7, 0x01]);
    expect([...mxfp4.dequantize(q).subarray(0, 4)]).toEqual([6, -3, 0.5, 0]);
    expect(mxfp4.quantize(f32(32, 7)).scales[0]).toBe(0x7f);
    expect(mxfp4.quantize(f32(32, 7), { parameters: { scale: 'rceil' } }).scales[0]).toBe(0x80);
  });
});

describe('what is refused, by code and message', () => {
  const x = new Float32Array(64);
  const any = (value: unknown): never => value as never;
  test.each([
    [
      () => hif4.quantize(any(new Float64Array(64))),
      'E_ARGUMENT',
      /values is Float64Array; expected a Float32Array/,
    ],
    [() => hif4.quantize(any([1, 2])), 'E_ARGUMENT', /values is Array/],
    [() => hif4.quantize(any('x'.repeat(64))), 'E_ARGUMENT', /expected a Float32Array/],
    [() => hif4.quantize(any(null)), 'E_ARGUMENT', /values is null/],
    [() => mxfp4.quantize(any(new ArrayBuffer(128))), 'E_ARGUMENT', /values is ArrayBuffer/],
    [() => hif4.quantize(new Float32Array(63)), 'E_LENGTH', /63 values .* 64/],
    [() => mxfp4.quantize(new Float32Array(33)), 'E_LENGTH', /33 values .* 32/],
    [
      () => hif4.quantize(x, any('ascend')),
      'E_ARGUMENT',
      /options is ascend; expected an object with profile, param/,
    ],
    [
      () => hif4.quantize(x, any({ profle: 'ascend' })),
      'E_ARGUMENT',
      /options has "profle"; did you mean "profile"/,
    ],
    [() => hif4.quantize(x, any({ set: {} })), 'E_ARGUMENT', /options has "set"/],
    [() => hif4.quantize(x, any({ profile: null })), 'E_ARGUMENT', /options\.profile is null/],
    [() => hif4.quantize(x, any({ parameters: null })), 'E_ARGUMENT', /options\.parameters is null/],
    [() => hif4.quantize(x, { profile: 'ascent' }), 'E_PROFILE', /did you mean "ascend"/],
    [() => hif4.quantize(x, { parameters: any({ tie: 'even' }) }), 'E_PARAMETER', /did you mean "ties"/],
    [() => hif4.quantize(x, { parameters: any({ ties: undefined }) }), 'E_PARAMETER', /ties="undefined"/],
    [
      () => hif4.quantize(f32(64, Number.NaN), { parameters: { nonfinite: 'error' } }),
      'E_NONFINITE',
      /element 0 is a NaN/,
    ],
    [
      () => hif4.quantize(f32(128, ...x, 1 / 0), { parameters: { nonfinite: 'error' } }),
      'E_NONFINITE',
      /unit 1: element 0/,
    ],
    [() => hif4.dequantize(any(undefined)), 'E_ARGUMENT', /quantized is undefined/],
    [() => hif4.dequantize(any({})), 'E_ARGUMENT', /scales is undefined/],
    [
      () => hif4.dequantize(any({ scales: new Uint8Array(4), codes: new Uint8Array(32) })),
      'E_ARGUMENT',
      /Uint32Array/,
    ],
    [
      () => hif4.dequantize({ scales: new Uint32Array(1), codes: new Uint8Array(31) }),
      'E_LENGTH',
      /32 code bytes, not 31/,
    ],
  ])('%s', (call, code, message) => {
    expect.assertions(2);
    try {
      call();
    } catch (error) {
      expect(error).toBeInstanceOf(Fp4Error);
      expect(`${(error as Fp4Error).code} ${(error as Fp4Error).message}`).toMatch(
        new RegExp(`^${code} .*${message.source}`),
      );
    }
  });
});
