/** Faults of layout that show in the HiF4 word itself, L6 and L8: the right value, and the value the fault gives. */
import { expect, test } from 'vitest';
import { decodeUnit, encodeUnit, packScaleWord, unpackScaleWord } from '../../src/format/hif4.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { numberOf, valuesOf } from '../block-of.ts';
import { hex } from '../independent/platform-floats.ts';

test('L6: the upper four level-2 bits are bits 15:12 of the word [HIF4-02]', () => {
  // 7 in octets 4 to 7, each in its first quad: level-2 bits f0, level-3 bits 8, 10, 12, 14.
  const { word } = encodeUnit(valuesOf(64, { 32: 7, 40: 7, 48: 7, 56: 7 }), hif4Policy());
  expect(hex(word, 8)).toBe('5500f0c0');
  expect(hex(packScaleWord(0xc0, 0xf0 & 0x0f, 0x5500), 8)).toBe('550000c0'); // lost
  expect(unpackScaleWord(0x5500f0c0)).toEqual({ e6m2: 0xc0, e1_8: 0xf0, e1_16: 0x5500 });
  // Decoded: code 7 in element 32 is 1.75 x 4; without its level-2 bit 1.75 x 2.
  const codes = Array.from({ length: 64 }, (_, q) => (q === 32 ? 7 : 0));
  expect(numberOf(decodeUnit(word, codes)[32]!)).toBe(7);
  expect(numberOf(decodeUnit(0x550000c0, codes)[32]!)).toBe(3.5);
});

test('L8: exponent bits by floor(q / 8) and floor(q / 4), not q mod 8 and q mod 16 [HIF4-02] [HIF4-03]', () => {
  // Word 000101c0: bits of octet 0 and quad 0. Code 4 is 1.0.
  const values = decodeUnit(0x000101c0, Array(64).fill(4)).map(numberOf);
  expect(values).toEqual([4, 4, 4, 4, 2, 2, 2, 2, ...Array(56).fill(1)]);
  const modulo = Array.from({ length: 64 }, (_, q) => 2 ** (Number(q % 8 === 0) + Number(q % 16 === 0)));
  expect(values.filter((v, q) => v !== modulo[q])).toHaveLength(14);
  // Level 3 alone, quad 5: elements 20 to 23.
  const quad5 = decodeUnit(0x002000c0, Array(64).fill(4)).map(numberOf);
  expect(quad5.flatMap((v, q) => (v === 2 ? [q] : []))).toEqual([20, 21, 22, 23]);
  // Level 2 alone, octet 5: elements 40 to 47.
  const octet5 = decodeUnit(0x000020c0, Array(64).fill(4)).map(numberOf);
  expect(octet5.flatMap((v, q) => (v === 2 ? [q] : []))).toEqual([40, 41, 42, 43, 44, 45, 46, 47]);
  // The encoder sets the bits of element 13 accordingly: octet 1, quad 3.
  expect(hex(encodeUnit(valuesOf(64, { 13: 7 }), hif4Policy()).word, 8)).toBe('000802c0');
});
