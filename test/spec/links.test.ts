/** Links of the pages: every relative one leads to a file, and to a heading where it names one. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { pageNames, SPEC } from './page.ts';

const ROOT = new URL('../', SPEC);
const PAGES = [new URL('README.md', ROOT), ...pageNames().map((name) => new URL(name, SPEC))];

const nameOf = (url: URL): string => url.pathname.slice(ROOT.pathname.length);

/** A page without its code, in which nothing is a link or a heading. */
const prose = (page: URL): string =>
  readFileSync(page, 'utf8')
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/^ {4,}.*$/gm, '');

/** Targets of [text](target) and of [label]: target. */
const targets = (text: string): string[] =>
  [...text.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^()\s]+)\)|^\[[^\]]+\]:\s*(\S+)/gm)].map(
    (match) => (match[1] ?? match[2])!,
  );

/** The anchors that GitHub gives a page's headings: lower case, no punctuation, hyphens for blanks, -1 for a second one. */
function anchors(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading] of text.matchAll(/^#{1,6} +(.*?)(?: +#+)?$/gm)) {
    const words = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; found.has(anchor); n++) anchor = `${slug}-${n}`;
    found.add(anchor);
  }
  return found;
}

/** The links of a text that lead nowhere. */
const broken = (page: URL, text: string): string[] =>
  targets(text).filter((target) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return false; // another place: not ours to judge
    const url = new URL(target, page);
    const fragment = decodeURIComponent(url.hash.slice(1));
    url.hash = '';
    if (!url.href.startsWith(ROOT.href) || !existsSync(url)) return true;
    return fragment !== '' && !anchors(prose(url)).has(fragment);
  });

describe('links', () => {
  test.each(PAGES.map((page) => [nameOf(page), page] as const))('%s', (_, page) => {
    expect(broken(page, prose(page))).toEqual([]);
  });

  test('spec/README.md leads to every page', () => {
    const listed = targets(prose(new URL('README.md', SPEC)));
    expect(pageNames().filter((name) => name !== 'README.md' && !listed.includes(name))).toEqual([]);
  });

  test('a file or heading that is not there is found', () => {
    const text =
      '[a](hif4.md) [b](hif5.md) [c](profiles.md#defects) [d](profiles.md#defect)\n[e]: ../nowhere\n';
    expect(broken(new URL('README.md', SPEC), text)).toEqual(['hif5.md', 'profiles.md#defect', '../nowhere']);
  });

  test('a page that is named without a link exists', () => {
    const absent = PAGES.flatMap((page) =>
      [...prose(page).matchAll(/(?<![\w/.-])[a-z][a-z0-9-]*\.md\b/g)]
        .map(([name]) => name)
        .filter((name) => !pageNames().includes(name))
        .map((name) => `${nameOf(page)}: ${name}`),
    );
    expect(absent).toEqual([]);
  });
});
