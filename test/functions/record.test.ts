/** The raw form of a case: the bytes, written out by hand. */
import { expect, test } from 'vitest';
import { codes, floats, word } from '../../src/functions/field.ts';
import { formatRecord, parseRecord, recordLength } from '../../src/functions/record.ts';
import { BF16 } from '../../src/number/floats.ts';

const FIELDS = [floats('x', 2, BF16), word('scale', 8), codes('codes', 5), word('code', 1)];
const VALUES = [[0x3f80, 0x0102], [0xdeadbeef], [1, 2, 3, 4, 5], [9]];
const BYTES = [0x80, 0x3f, 0x02, 0x01, 0xef, 0xbe, 0xad, 0xde, 0x21, 0x43, 0x05, 0x09];

test('words little-endian, codes low nibble first, an odd count ends with a zero nibble [STR-04]', () => {
  expect(recordLength(FIELDS)).toBe(BYTES.length);
  expect([...formatRecord(FIELDS, VALUES)]).toEqual(BYTES);
  expect(parseRecord(Uint8Array.from(BYTES), FIELDS, 'record 1').map((v) => Array.from(v))).toEqual(VALUES);
});

test('bits beyond a word of one digit are refused [STR-04]', () => {
  const bytes = Uint8Array.from(BYTES.with(11, 0x19));
  expect(() => parseRecord(bytes, FIELDS, 'record 4')).toThrow(
    'record 4: code[0] is 0x19; it has 1 hex digits',
  );
});

test('a set nibble after an odd count of codes is refused [STR-04]', () => {
  const bytes = Uint8Array.from(BYTES.with(10, 0x15));
  expect(() => parseRecord(bytes, FIELDS, 'record 4')).toThrow(/record 4: .*codes/);
});
