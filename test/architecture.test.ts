/** The rooms of src: imports go downwards only, the core is free of Node and of dependencies. */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** From the ground up; a room imports from itself and from those before it. */
const ROOMS = [
  '.',
  'number',
  'wasm',
  'random',
  'files',
  'format',
  'layout',
  'fast',
  'tensor',
  'matmul',
  'sparsity',
  'grpo',
  'functions',
  'inspect',
  'casefolder',
  'vectors',
  'node',
  'cli',
];
const FIRST_WITH_NODE = ROOMS.indexOf('node');
/** Files at the top of src that are entries, not ground. */
const ENTRIES = ['index.ts', 'cli.ts', 'bundle.ts'];
/** Those that are part of the library. */
const CORE_ENTRY = 'index.ts';
const isCommand = (file: string): boolean => ENTRIES.includes(file) && file !== CORE_ENTRY;

interface Import {
  from: string;
  to: string;
}

const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((f) =>
  f.endsWith('.ts'),
);
const textOf = (file: string): string => readFileSync(join(ROOT, 'src', file), 'utf8');

const imports: Import[] = SOURCES.flatMap((file) => {
  const targets = [...textOf(file).matchAll(/(?:from|import) '([^']+)'/g)].map((match) => match[1]!);
  return targets.map((to) => ({ from: file, to: to.startsWith('.') ? join(dirname(file), to) : to }));
});

const roomOf = (file: string): number => ROOMS.indexOf(dirname(file));
const local = ({ to }: Import): boolean => to.endsWith('.ts');

test('every file is in a known room', () => {
  expect(imports.filter(({ from }) => roomOf(from) < 0)).toEqual([]);
});

test('imports go downwards', () => {
  const upwards = imports.filter(
    (i) => local(i) && !ENTRIES.includes(i.from) && roomOf(i.to) > roomOf(i.from),
  );
  expect(upwards).toEqual([]);
});

test('the core uses neither Node nor a dependency', () => {
  const outside = imports.filter((i) => !local(i) && roomOf(i.from) < FIRST_WITH_NODE && !isCommand(i.from));
  expect(outside).toEqual([]);
  const globals = /\b(process|Buffer|__dirname|require)\b[.(]/;
  const users = SOURCES.filter((file) => roomOf(file) < FIRST_WITH_NODE && !isCommand(file)).filter((file) =>
    globals.test(textOf(file)),
  );
  expect(users).toEqual([]);
});

test('Node modules are imported by their node: names', () => {
  expect(imports.filter(({ to }) => builtinModules.includes(to))).toEqual([]);
});

test('the library does not load the registry', () => {
  const reached = new Set(['index.ts']);
  for (const file of reached) {
    for (const i of imports) if (i.from === file && local(i)) reached.add(i.to);
  }
  expect([...reached].filter((file) => file.startsWith('functions/'))).toEqual([]);
});

test('Math functions that differ between engines are not used below the display', () => {
  const inexact = /\bMath\.(exp|expm1|log|log2|log10|log1p|pow|sin|cos|tan|sinh|cosh|tanh|cbrt)\(/;
  const uses = SOURCES.filter((file) => inexact.test(textOf(file)));
  expect(uses).toEqual([]);
});
