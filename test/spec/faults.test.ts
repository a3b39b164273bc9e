/** The catalogue of faults: it explains every fault id that is cited, and the tests it names are about those faults. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { page, pageNames, tables } from './page.ts';

const ID = /(?<![\w-])[SDRLHGPOJ]\d{1,2}(?![\w-])/g;
const TESTS = new URL('../', import.meta.url);
const CATALOGUE = 'faults.md';

const tablesOfFaults = tables(page(CATALOGUE));
/** Faults with a row of their own: id, and the test files that the row names. */
const rows = tablesOfFaults
  .filter(({ header }) => header[0] === 'id')
  .flatMap((table) => table.rows)
  .map((cells) => ({ id: cells[0]!, clauses: cells[4]!, tests: cells[5]! }));
const later = tablesOfFaults
  .filter(({ header }) => header[0] === 'ids')
  .flatMap((table) => table.rows.flatMap(([ids]) => ids!.split(', ')));
const explained = [...rows.map(({ id }) => id), ...later];

const idsIn = (text: string): string[] => [...text.matchAll(ID)].map(([id]) => id);

/** Tags of sources, [P1] to [P3], look like ids of faults. */
const withoutSources = (text: string): string => text.replace(/\[P\d\]/g, '');

/** The names of tests and groups of tests in a file. */
const namesIn = (text: string): string[] =>
  [
    ...text.matchAll(
      /\b(?:test|describe)(?:\.\w+\([\s\S]*?\)\s*)?\(\s*(?:'((?:\\.|[^'\\])*)'|`([^`]*)`|"([^"]*)")/g,
    ),
  ].map((match) => (match[1] ?? match[2] ?? match[3])!);

const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.test.ts'));
const read = (file: string): string => readFileSync(new URL(file, TESTS), 'utf8');

describe('the catalogue of faults', () => {
  test('kinds S, D, R, L, H and O are complete, P but for residuals, in order', () => {
    const kind = (letter: string, count: number): string[] =>
      Array.from({ length: count }, (_, k) => `${letter}${k + 1}`);
    expect(rows.map(({ id }) => id)).toEqual([
      ...kind('S', 13),
      ...kind('D', 7),
      ...kind('R', 7),
      ...kind('L', 8),
      ...kind('H', 13),
      ...kind('P', 3),
      ...kind('O', 11),
    ]);
  });

  test('every id that a page cites is in it', () => {
    const unknown = pageNames().flatMap((name) =>
      idsIn(withoutSources(page(name)))
        .filter((id) => !explained.includes(id))
        .map((id) => `${name}: ${id}`),
    );
    expect(unknown).toEqual([]);
  });

  test('every id that the name of a test cites is in it', () => {
    const cited = files.flatMap((file) =>
      namesIn(read(file))
        .flatMap(idsIn)
        .map((id) => `${file}: ${id}`),
    );
    expect(cited).toContain('faults/scale.test.ts: S3'); // a name behind a table of values
    expect(cited).toContain('layout/bytes.test.ts: L1');
    expect(cited.filter((entry) => !explained.includes(entry.split(': ')[1]!))).toEqual([]);
  });

  test.each(rows.filter(({ tests }) => tests !== 'none'))('$id stands in $tests', ({ id, tests }) => {
    for (const name of tests.split(', ')) {
      const file = `${name}.test.ts`;
      expect([file, existsSync(new URL(file, TESTS))]).toEqual([file, true]);
      expect(idsIn(read(file))).toContain(id);
    }
  });

  test('only R6 has no test and no clause', () => {
    expect(rows.filter(({ tests }) => tests === 'none').map(({ id }) => id)).toEqual(['R6']);
    expect(rows.filter(({ clauses }) => !/^[A-Z]+\d?-\d\d/.test(clauses)).map(({ id }) => id)).toEqual([
      'R6',
    ]);
  });
});
