/** Values as read, and rounded once, against hex worked out by hand and against the definition. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readValues, roundedWords } from '../../src/fast/input-words.ts';
import { decode, encode } from '../../src/number/binary-format.ts';
import { BF16, FP16, FP32, fromBinary64, toNumber } from '../../src/number/floats.ts';

const double = (hex: string): number => {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${hex}`));
  return view.getFloat64(0);
};
const hex = (word: number): string => word.toString(16).padStart(8, '0');

function rounded(x: number, input: 'bf16' | 'f32'): string {
  const out = new Uint32Array(1);
  roundedWords(Float64Array.of(x), input, out);
  return hex(out[0]!);
}

describe('binary64 to BF16 in one step [TEN-04] [CON-04]', () => {
  test.each([
    // 1 + 2^-8 is the tie between 3f80 and 3f81; 2^-52 above it FP32 sees the tie itself and would go to even.
    ['3ff0100000000001', '3f810000'],
    ['3ff0100000000000', '3f800000'],
    ['3ff00fffffffffff', '3f800000'],
    // 1 + 3 x 2^-8, tie between 3f81 and 3f82; just below it FP32 would round up to the tie, and then to even.
    ['3ff02fffffffffff', '3f810000'],
    ['3ff0300000000000', '3f820000'],
    ['bff02fffffffffff', 'bf810000'],
    // Overflow: the tie between 7f7f and infinity is 2^128 - 2^119, binary64 47eff00000000000.
    ['47efefffffffffff', '7f7f0000'],
    ['47eff00000000000', '7f800000'],
    ['c7eff00000000000', 'ff800000'],
    ['47f0000000000000', '7f800000'],
    ['7fefffffffffffff', '7f800000'],
    // Subnormals: the smallest BF16 is 2^-133, binary64 37a0000000000000; half of it, 3790..., is a tie to zero.
    ['37a0000000000000', '00010000'],
    ['3790000000000000', '00000000'],
    ['3790000000000001', '00010000'],
    ['b790000000000001', '80010000'],
    ['b790000000000000', '80000000'],
    ['0000000000000001', '00000000'],
    ['8000000000000001', '80000000'],
    ['8000000000000000', '80000000'],
    ['7ff0000000000000', '7f800000'],
    ['fff0000000000000', 'ff800000'],
    ['fff4000000000001', '7fc00000'],
  ])('%s gives %s', (from, to) => {
    expect(rounded(double(from), 'bf16')).toBe(to);
  });

  const nearTies = fc
    .tuple(
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: -3, max: 3 }),
      fc.constantFrom(0, 15, 16, 31, 44),
    )
    .map(([word, offset, shift]) => {
      const tie = toTie(word);
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, tie);
      view.setBigUint64(0, BigInt.asUintN(64, view.getBigUint64(0) + (BigInt(offset) << BigInt(shift))));
      return view.getFloat64(0);
    });

  test.each([
    ['any', fc.double()],
    ['near a tie', nearTies],
    ['small', fc.double({ min: -1e-36, max: 1e-36, noNaN: true })],
  ])('equals the definition, %s values', (_, values) => {
    fc.assert(
      fc.property(values, (x) => {
        const value = fromBinary64(x);
        const expected = encode(BF16, value, 'even', 'nonfinite') * 0x10000;
        expect(rounded(x, 'bf16')).toBe(hex(expected));
        expect(rounded(x, 'f32')).toBe(hex(encode(FP32, value, 'even', 'nonfinite')));
      }),
      { numRuns: 20_000 },
    );
  });
});

/** The midpoint between a BF16 word's value and the next larger magnitude. */
function toTie(word: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, ((word << 16) | 0x8000) >>> 0);
  return view.getFloat32(0);
}

describe('values as read [TEN-01] [TEN-04]', () => {
  const read = (bytes: number[], type: 'F16' | 'BF16' | 'F32' | 'F64', little: boolean): number => {
    const out = new Float64Array(1);
    readValues(Uint8Array.from(bytes), type, little, out);
    return out[0]!;
  };

  test('byte order of every type', () => {
    expect(read([0x00, 0xc0], 'F16', true)).toBe(-2);
    expect(read([0xc0, 0x00], 'F16', false)).toBe(-2);
    expect(read([0x80, 0x3f], 'BF16', true)).toBe(1);
    expect(read([0x3f, 0x80], 'BF16', false)).toBe(1);
    expect(read([0, 0, 0x20, 0x41], 'F32', true)).toBe(10);
    expect(read([0x41, 0x20, 0, 0], 'F32', false)).toBe(10);
    expect(read([0, 0, 0, 0, 0, 0, 0xf8, 0x3f], 'F64', true)).toBe(1.5);
    expect(read([0x3f, 0xf8, 0, 0, 0, 0, 0, 0], 'F64', false)).toBe(1.5);
  });

  test.each([
    ['F16', FP16],
    ['BF16', BF16],
  ] as const)('all 65536 words of %s', (type, format) => {
    for (let word = 0; word < 0x10000; word++) {
      const found = read([word & 0xff, word >> 8], type, true);
      const value = decode(format, word);
      const magnitude =
        value.kind === 'nan'
          ? Number.NaN
          : value.kind === 'infinite'
            ? Number.POSITIVE_INFINITY
            : toNumber(value.magnitude);
      const expected = value.kind !== 'nan' && value.negative ? -magnitude : magnitude;
      if (!Object.is(found, expected)) expect([word, found]).toEqual([word, expected]);
    }
  });
});
