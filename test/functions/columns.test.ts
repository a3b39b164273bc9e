/** Columns against lines and records one by one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  columnsFor,
  formatRaw,
  formatText,
  lineLength,
  parseRaw,
  parseText,
} from '../../src/functions/columns.ts';
import { codes, type Field, largestElement, word } from '../../src/functions/field.ts';
import { formatFields, parseLine } from '../../src/functions/line.ts';
import { formatRecord, parseRecord, recordLength } from '../../src/functions/record.ts';

const field: fc.Arbitrary<Field> = fc.oneof(
  fc.integer({ min: 1, max: 9 }).map((count) => codes('c', count)),
  fc
    .record({ count: fc.integer({ min: 1, max: 5 }), digits: fc.constantFrom(1, 2, 3, 4, 5, 8) })
    .map(({ count, digits }): Field => ({ ...word('w', digits), count })),
);

/** Fields, and some cases of them. */
const sessions = fc.array(field, { minLength: 1, maxLength: 3 }).chain((fields) =>
  fc.record({
    fields: fc.constant(fields),
    cases: fc.array(
      fc.tuple(
        ...fields.map((f) => fc.array(fc.nat(largestElement(f)), { minLength: f.count, maxLength: f.count })),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  }),
);

const columnsOf = (fields: readonly Field[], cases: readonly number[][][]) => {
  const columns = columnsFor(fields, cases.length);
  cases.forEach((values, j) => {
    for (const [k, f] of fields.entries()) columns[k]!.set(values[k]!, j * f.count);
  });
  return columns;
};

describe('columns of cases', () => {
  test('text is that of lines one by one, and is read back in either case of letters [STR-01]', () => {
    fc.assert(
      fc.property(sessions, fc.boolean(), ({ fields, cases }, upper) => {
        const columns = columnsOf(fields, cases);
        const lines = cases.map((values) => `${formatFields(fields, values)}\n`);
        const bytes = Buffer.from(formatText(fields, columns, cases.length));
        expect(bytes.toString('latin1')).toBe(lines.join(''));
        const text = Buffer.from(upper ? bytes.toString('latin1').toUpperCase() : bytes);
        const found = columnsFor(fields, cases.length);
        for (const j of cases.keys()) {
          expect(parseText(text, j * (lineLength(fields) + 1), fields, found, j)).toBe(true);
        }
        expect(found).toEqual(columns);
      }),
    );
  });

  test('a line with any one character changed is read as line.ts reads it, or left to it [STR-03]', () => {
    fc.assert(
      fc.property(sessions, fc.nat(), fc.nat(255), ({ fields, cases }, place, character) => {
        const line = Buffer.from(formatFields(fields, cases[0]!));
        line[place % line.length] = character;
        const found = columnsFor(fields, 1);
        let expected: number[][] | undefined;
        try {
          expected = parseLine(line.toString('latin1'), fields, [], 'x').values.map((v) => Array.from(v));
        } catch {}
        expect(parseText(line, 0, fields, found, 0)).toBe(expected !== undefined);
        if (expected) expect(found.map((v) => Array.from(v))).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  test('raw is that of records one by one, and is read as they are, any bytes [STR-04]', () => {
    fc.assert(
      fc.property(sessions, fc.infiniteStream(fc.nat(255)), ({ fields, cases }, noise) => {
        const columns = columnsOf(fields, cases);
        const length = recordLength(fields);
        const records = cases.map((values) => formatRecord(fields, values));
        const bytes = formatRaw(fields, columns, cases.length, length);
        expect(Buffer.from(bytes)).toEqual(Buffer.concat(records));
        const any = Uint8Array.from({ length }, () => noise.next().value);
        for (const record of [...records, any]) {
          const found = columnsFor(fields, 1);
          let expected: number[][] | undefined;
          try {
            expected = parseRecord(record, fields, 'x').map((v) => Array.from(v));
          } catch {}
          expect(parseRaw(record, 0, fields, found, 0)).toBe(expected !== undefined);
          if (expected) expect(found.map((v) => Array.from(v))).toEqual(expected);
        }
      }),
      { numRuns: 500 },
    );
  });
});
