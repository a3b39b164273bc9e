/**
 * Encoding twice is not idempotent [HIF4-15]: the two counter-examples, and how often it happens.
 * @module
 */
import { describe, expect, test } from 'vitest';
import { decodeUnit, encodeUnit } from '../../src/format/hif4.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { fromBinary64 } from '../../src/number/floats.ts';
import { codesOf, digits, numberOf } from '../block-of.ts';
import { decodeHiF4, encodeHiF4 } from '../independent/hif4-by-thresholds.ts';
import { FAMILIES, generator } from '../independent/input-families.ts';
import { f32FromBits, hex } from '../independent/platform-floats.ts';

const authors = hif4Policy('authors');

const again = (word: number, codes: readonly number[]) => encodeUnit(decodeUnit(word, codes), authors);
const valuesByCode = (word: number, codes: readonly number[]): number[] =>
  decodeUnit(word, codes).map(numberOf);

interface Unit {
  word: number;
  codes: readonly number[];
}

/** Units that decode to other values, or have other bits, once encoded a second time. */
function changes(
  units: readonly Unit[],
  decode: (word: number, codes: readonly number[]) => number[],
  encode: (x: readonly number[]) => Unit,
): { values: number; bits: number } {
  let values = 0;
  let bits = 0;
  for (const { word, codes } of units) {
    const x = decode(word, codes);
    const second = encode(x);
    const y = decode(second.word, second.codes);
    if (x.some((v, i) => v !== y[i])) values++;
    if (second.word !== word || digits(second.codes) !== digits(codes)) bits++;
  }
  return { values, bits };
}

/** The counts below are what the independent encoder and decoder alone give with these seeds. */
const UNITS = 4000;

describe('encoding a decoded unit again [HIF4-15]', () => {
  test('word 000000c0 with one code 2 (0.5) encodes to 000101b1, code 6 (0.46875)', () => {
    // 0.5 x 73/512 = 1.140625 x 2^-4 -> 1.25 x 2^-4 = b1; REC = 3f4d x 2^4 = 12.8125: 6.40625, halved twice 1.6015625.
    const { word, codes } = again(0x000000c0, [2, ...Array(63).fill(0)]);
    expect(hex(word, 8)).toBe('000101b1');
    expect(digits(codes)).toBe(codesOf(64, { 0: 6 }));
    expect(valuesByCode(word, codes)[0]).toBe(0.46875);
  });

  test('a code is not always the nearest value of the unit: 3e60 and FP32 3e600001 at scale 1.75', () => {
    // The unit has 0 and 1/4 x 1.75 = 0.4375. 0.21875 is midway, and half-away of the exact quotient 1/8 would be 1/4;
    // x 0.5703125 it is 0.12476, below 1/8. The next FP32 number is nearer to 0.4375 and still gives 0.
    for (const [word, input] of [
      [0x3e600000, 'bf16'],
      [0x3e600001, 'f32'],
    ] as const) {
      const x = [12.25, ...Array(7).fill(0), f32FromBits(word), ...Array(55).fill(0)];
      const found = encodeUnit(x.map(fromBinary64), { ...authors, input });
      expect(`${hex(found.word, 8)} ${digits(found.codes)}`).toBe(`000101c3 ${codesOf(64, { 0: 7, 8: 0 })}`);
    }
  });

  test('random scale words and codes: 29% decode to other values', () => {
    const random = generator(64);
    const units = Array.from({ length: UNITS }, () => {
      let word = random();
      while (word % 256 === 255) word = random();
      return { word, codes: Array.from({ length: 64 }, () => random() % 16) };
    });
    const right = changes(units, decodeHiF4, (x) => encodeHiF4(x, authors));
    expect(right).toEqual({ values: 1177, bits: 3425 });
    expect(changes(units, valuesByCode, (x) => encodeUnit(x.map(fromBinary64), authors))).toEqual(right);
  });

  test('Gaussian units: 19% decode to other values', () => {
    const random = generator(65);
    const units = Array.from({ length: UNITS }, () => encodeHiF4(FAMILIES['unit']!(random, 64), authors));
    const right = changes(units, decodeHiF4, (x) => encodeHiF4(x, authors));
    expect(right).toEqual({ values: 789, bits: 789 });
    expect(changes(units, valuesByCode, (x) => encodeUnit(x.map(fromBinary64), authors))).toEqual(right);
  });
});
