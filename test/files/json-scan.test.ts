/** The strict JSON reader against JSON.parse. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonError, type JsonValue, scanJson, sizes } from '../../src/files/json-scan.ts';

const plain = (value: JsonValue): unknown => {
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([k, v]) => [k, plain(v)]));
  }
  return Array.isArray(value) ? value.map(plain) : typeof value === 'bigint' ? Number(value) : value;
};

describe('scanJson [TEN-03]', () => {
  test('equals JSON.parse on valid text', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        expect(plain(scanJson(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('accepts nothing that JSON.parse refuses', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]":,-01.eE\\u tfnrualse\n') }), (text) => {
        let found: JsonValue;
        try {
          found = scanJson(text);
        } catch (error) {
          if (error instanceof JsonError) return;
          throw error;
        }
        expect(plain(found)).toEqual(JSON.parse(text));
      }),
      { numRuns: 20_000 },
    );
  });

  test('integers are exact', () => {
    expect(scanJson('[9007199254740993, 1.0]')).toEqual([9007199254740993n, 1]);
  });

  test('a string of 20 MB', () => {
    const text = 'a'.repeat(20_000_000);
    expect(scanJson(`"${text}"`)).toBe(text);
  });
});

test('-0 is no size, and half of a surrogate pair is no text [TEN-03]', () => {
  expect(sizes(scanJson('[-0, 256]'))).toBeUndefined();
  expect(sizes(scanJson('[0, 256]'))).toEqual([0, 256]);
  expect(() => scanJson('"\\ud800"')).toThrow(JsonError);
  expect(scanJson('"\\ud83d\\ude00"')).toBe('\u{1f600}');
});
