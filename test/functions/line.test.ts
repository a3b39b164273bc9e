/** The text form of a case, and what is said of a malformed one. */
import { describe, expect, test } from 'vitest';
import { codes, floats, word } from '../../src/functions/field.ts';
import { formatFields, formatStages, parseLine } from '../../src/functions/line.ts';
import { BF16 } from '../../src/number/floats.ts';

const FIELDS = [floats('x', 3, BF16), word('scale', 8), codes('codes', 5)];
const VALUES = [[0x3f80, 0x0001, 0xff7f], [0xdeadbeef], [0, 8, 15, 7, 1]];
const LINE = '3f80 0001 ff7f deadbeef 08f71';

test('fields as words, most significant digit first, codes with element 0 first [STR-01]', () => {
  expect(formatFields(FIELDS, VALUES)).toBe(LINE);
});

test('stages by name, separated by commas, codes unseparated [STR-05]', () => {
  expect(formatStages(FIELDS, VALUES)).toBe('x=3f80,0001,ff7f scale=deadbeef codes=08f71');
});

test.each([LINE, LINE.toUpperCase()])('%s is read [STR-01]', (line) => {
  const { values, stages } = parseLine(line, FIELDS, [], 'line 1');
  expect(values.map((v) => Array.from(v))).toEqual(VALUES);
  expect(stages.size).toBe(0);
});

test('stages may follow, any of them [STR-08]', () => {
  const stages = [word('e6m2', 2), floats('max8', 2, BF16), codes('codes', 3)];
  const parsed = parseLine('0001 codes=8f1 max8=3f80,4000', [word('x', 4)], stages, 'line 1');
  expect([...parsed.stages].map(([name, words]) => [name, Array.from(words)])).toEqual([
    ['codes', [8, 15, 1]],
    ['max8', [0x3f80, 0x4000]],
  ]);
});

describe('malformed lines are refused with their place [STR-03]', () => {
  test.each([
    ['', /E_WORD_WIDTH.*line 3, word 1: "" has 0 hex digits; a BF16 word has 4/],
    ['3f80', /E_WORD_COUNT.*line 3: 1 word; expected x \(3 words of 4 digits\), then scale/],
    ['3f80 0001 ff7f deadbeef', /E_WORD_COUNT.*line 3: 4 words; expected/],
    [
      '3f8 0001 ff7f deadbeef 08f71',
      /E_WORD_WIDTH.*line 3, word 1: "3f8" has 3 hex digits; a BF16 word has 4/,
    ],
    ['3f80 0001 ff7f deadbee 08f71', /E_WORD_WIDTH.*word 4: "deadbee" has 7 hex digits; scale has 8/],
    ['3f80 0001 ff7f deadbeef 08f7', /E_WORD_WIDTH.*word 5: "08f7" has 4 hex digits; codes has 5/],
    ['3f80 0001 ff7f deadbeef 08f712', /E_WORD_WIDTH.*word 5: "08f712" has 6 hex digits; codes has 5/],
    ['3f80 0g01 ff7f deadbeef 08f71', /E_WORD_DIGIT.*word 2: "0g01" has "g", which is no hex digit/],
    ['3f80\t0001 ff7f deadbeef 08f71', /E_WORD_DIGIT.*word 1/],
    ['3f80  0001 ff7f deadbeef 08f71', /E_WORD_WIDTH.*word 2: "" has 0 hex digits/],
    [' 3f80 0001 ff7f deadbeef 08f71', /E_WORD_WIDTH.*word 1: ""/],
    ['3f80 0001 ff7f deadbeef 08f71 ', /E_WORD_COUNT.*word 6: a space too many/],
    ['3f80 0001 ff7f deadbeef 08f71 00', /E_WORD_COUNT.*word 6: a word too many, "00"/],
    ['3f80 0001 ff7f deadbeef 08f71 sf=00', /E_WORD_COUNT.*no stage "sf"/],
    ['3f80 ٣001 ff7f deadbeef 08f71', /E_WORD_DIGIT.*word 2/],
    ['0x3f80 0001 ff7f deadbeef 08f71', /E_WORD_DIGIT.*word 1: "0x3f80" has "x"/],
    ['-001 0001 ff7f deadbeef 08f71', /E_WORD_DIGIT.*"-"/],
  ])('%j', (line, message) => {
    expect.assertions(1);
    try {
      parseLine(line, FIELDS, [], 'line 3');
    } catch (error) {
      const { code, message: text } = error as { code: string; message: string };
      expect(`${code} ${text}`).toMatch(message);
    }
  });
});
