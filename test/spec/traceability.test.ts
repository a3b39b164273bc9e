/** Every requirement has an id that is defined once, and cited by code, by a test and by a vector; and no other id is cited. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { definedIds, page, pageNames } from './page.ts';

/** What an id looks like. UTF is the one word of that shape that is none. */
const ID = /\b(?!UTF-)[A-Z][A-Z0-9]{1,5}-\d\d\b/g;

const ROOT = new URL('../../', import.meta.url);

/** The ids that the TypeScript files of a folder cite, with one file each. */
function cited(folder: string): Map<string, string> {
  const files = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' });
  const ids = new Map<string, string>();
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const text = readFileSync(new URL(`${folder}/${file}`, ROOT), 'utf8');
    for (const [id] of text.matchAll(ID)) ids.set(id, `${folder}/${file}`);
  }
  return ids;
}

/** The ids that vectors name as the clause of a group, a table or a test; those of the format itself stand in the index. */
function inVectors(): Set<string> {
  const ids = new Set<string>();
  for (const name of readdirSync(new URL('vectors/v1/', ROOT))) {
    const { clauses, kind, groups } = JSON.parse(readFileSync(new URL(`vectors/v1/${name}`, ROOT), 'utf8'));
    const tested = (groups ?? []).flatMap((g: { tests?: object[]; functions?: object[] }) => [
      g,
      ...(g.tests ?? []),
      ...(g.functions ?? []),
    ]) as { clauses: string[] }[];
    for (const id of tested.flatMap((one) => one.clauses)) ids.add(id);
    if (kind === 'index') for (const id of clauses as string[]) ids.add(id);
  }
  return ids;
}

const pages = pageNames();
const defined = pages.flatMap((name) => definedIds(page(name)));
const code = cited('src');
const tests = cited('test');
const vectors = inVectors();

describe('ids of requirements', () => {
  test('there are some, on pages and in code', () => {
    expect(defined.length).toBeGreaterThan(50);
    expect(code.size).toBeGreaterThan(50);
  });

  test('each is defined once', () => {
    expect(defined.filter((id, i) => defined.indexOf(id) !== i)).toEqual([]);
  });

  test('each stands in code', () => {
    expect(defined.filter((id) => !code.has(id))).toEqual([]);
  });

  test('each stands in a test', () => {
    expect(defined.filter((id) => !tests.has(id))).toEqual([]);
  });

  test('each stands in a vector', () => {
    expect(defined.filter((id) => !vectors.has(id))).toEqual([]);
  });

  test.each([
    ['code', [...code.keys()]],
    ['tests', [...tests.keys()]],
    ['vectors', [...vectors]],
  ])('each that %s cite is defined', (_, ids) => {
    expect(ids.filter((id) => !defined.includes(id))).toEqual([]);
  });

  test('each that a page cites is defined, where its page is there', () => {
    const families = new Set(defined.map((id) => id.split('-')[0]!));
    const unknown = pages.flatMap((name) =>
      [...page(name).matchAll(ID)]
        .map(([id]) => id)
        .filter((id) => families.has(id.split('-')[0]!) && !defined.includes(id))
        .map((id) => `${name}: ${id}`),
    );
    expect(unknown).toEqual([]);
  });
});
