/** Reads the pages of spec/: their requirements, tables and worked examples. */
import { readdirSync, readFileSync } from 'node:fs';

export const SPEC = new URL('../../spec/', import.meta.url);

export const pageNames = (): string[] => readdirSync(SPEC).filter((name) => name.endsWith('.md'));

export const page = (name: string): string => readFileSync(new URL(name, SPEC), 'utf8');

export const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** The ids that open a paragraph in bold, in the order of the page. */
export const definedIds = (text: string): string[] =>
  [...text.matchAll(/(?:^|\n)\*\*([A-Z][A-Z0-9]*-\d\d)\.\*\*/g)].map((match) => match[1]!);

/** The tables of a page: a header and its rows, cells without the marks for code and bold. */
export function tables(text: string): { header: string[]; rows: string[][] }[] {
  const cells = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replace(/[`*]/g, '').trim());
  return [...text.matchAll(/(?:^\|.*\|\n)+/gm)].map(([table]) => {
    const [header, , ...rows] = table.trimEnd().split('\n').map(cells);
    return { header: header!, rows };
  });
}

export interface Example {
  /** `hif4` or `mxfp4`. */
  readonly format: string;
  readonly profile: string;
  readonly overrides: Readonly<Record<string, string>>;
  /** The words of each line by its name; a line goes on where the next one is indented. */
  readonly lines: ReadonlyMap<string, readonly string[]>;
}

/** The fenced blocks of a page that open with a format's name and its policy. */
export function examples(text: string): Example[] {
  return [...text.matchAll(/^```(hif4|mxfp4) (.*)\n([\s\S]*?)^```$/gm)].map(
    ([, format, settings, body]): Example => {
      const policy = Object.fromEntries(settings!.split(' ').map((setting) => setting.split('=')));
      const { profile, ...overrides } = policy as Record<string, string>;
      const lines = new Map<string, string[]>();
      for (const [, name, words] of body!.matchAll(/^(\w+):((?:.*\n(?: .*\n)*))/gm)) {
        lines.set(name!, words!.trim().split(/\s+/));
      }
      return { format: format!, profile: profile!, overrides, lines };
    },
  );
}
