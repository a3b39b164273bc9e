/** Vectors of pruning and metadata, judged from the text of the files by code of their own. */
import { describe, expect, test } from 'vitest';
import { codes, filesOf, vectorFile } from './vectors.ts';

describe.each(filesOf(/^prune_2_4/).map((file) => [file.name, file] as const))('%s', (_, file) => {
  test('every group: the larger magnitudes, equal ones by index [SPA-05, SPA-08, SPA-09, SPA-15]', () => {
    expect(file.groups.map(({ policy }) => policy['ties'])).toEqual(['lowest-index', 'highest-index']);
    for (const { policy, tests } of file.groups) {
      for (const t of tests) {
        const x = codes(t.inputs['codes']!);
        let [pruned, nibbles] = ['', ''];
        for (let g = 0; g < x.length; g += 4) {
          // A rank without ties: magnitude first, then what the index is worth.
          const worth = (i: number): number =>
            (x[g + i]! % 8) * 4 + (policy['ties'] === 'lowest-index' ? 3 - i : i);
          const kept = [0, 1, 2, 3].filter((i) => [0, 1, 2, 3].filter((j) => worth(j) > worth(i)).length < 2);
          for (let i = 0; i < 4; i++) pruned += kept.includes(i) ? x[g + i]!.toString(16) : '0';
          nibbles += (kept[0]! + 4 * kept[1]!).toString(16);
        }
        expect([t.id, t.expected]).toEqual([t.id, { pruned, metadata: nibbles }]);
      }
    }
  });

  test('{1,1,1,1}, {0,0,0,5}, all -0, mixed signs and a NaN scale are among them [SPA-02, SPA-03]', () => {
    const inputs = file.groups[0]!.tests.map((t) => t.inputs);
    for (const group of ['2222', '0005', '8888', '5d5d']) {
      expect(inputs.some((x) => x['codes']!.startsWith(group.repeat(x['codes']!.length / 4)))).toBe(true);
    }
    expect(inputs.some((x) => x['scale']!.endsWith('ff'))).toBe(true);
  });
});

interface Metadata {
  pattern: string;
  convention: string;
  overfull: string;
  nonzero: string;
  nibble?: string;
  stored?: number[];
}
interface Values {
  pattern: string;
  shape: number[];
  axis: number;
  input: string[];
  kept: string;
  report: Record<string, number>;
}

const groups = vectorFile<object>('sparsity.json').groups;
const testsOf = <T>(subject: string): T[] => groups.find((g) => g.subject === subject)!.tests as T[];

test('metadata: what is stored covers the nonzeros, each once, where none are too many [SPA-09, SPA-10, SPA-12]', () => {
  const all = testsOf<Metadata>('metadata');
  expect(all.length).toBeGreaterThan(100);
  for (const { nonzero, stored, nibble, overfull, convention } of all) {
    if (stored === undefined || overfull !== 'error') continue;
    const ones = [...nonzero].flatMap((digit, i) => (digit === '1' ? [i] : []));
    // Under 4:8 a pair is stored whole.
    expect(ones.every((i) => stored.filter((s) => s === i).length === 1)).toBe(true);
    const [low, high] = [Number.parseInt(nibble!, 16) & 3, Number.parseInt(nibble!, 16) >> 2];
    if (nonzero.length === 4 && convention !== 'ascend') {
      expect(stored.every((s, slot) => s < 0 || s === (slot === 0 ? low : high))).toBe(true);
    }
    if (convention === 'ascend')
      expect(stored.every((s, slot) => s < 0 || s === (slot === 0 ? low : high + 1))).toBe(true);
  }
});

test('values: half of every whole group is kept, and the report counts it [SPA-01, SPA-17]', () => {
  for (const { pattern, kept, report, input } of testsOf<Values>('values')) {
    const ones = [...kept].filter((digit) => digit === '1').length;
    expect([kept.length, report['kept'], report['pruned']]).toEqual([
      input.length,
      ones,
      input.length - ones,
    ]);
    if (report['padding'] === 0 && pattern.includes(':')) expect(ones).toBe(kept.length / 2);
  }
});

test('quantized: a code is as it was, or 0 [SPA-08, SPA-16]', () => {
  for (const { codes: before, pruned } of testsOf<{ codes: string; pruned: string }>('quantized')) {
    expect(pruned.length).toBe(before.length);
    expect([...pruned].every((digit, i) => digit === before[i] || digit === '0')).toBe(true);
    expect(pruned).not.toBe(before);
  }
});

test('words: every nibble is in them, in the order stated where rows are not reordered [SPA-13]', () => {
  type Words = { form: string; rows: number; groups: number; nibbles: string; words: string };
  const sorted = (text: string): string => [...text].sort().join('');
  for (const { form, rows, groups: wide, nibbles, words } of testsOf<Words>('words')) {
    const list = words.split(' ');
    if (form.startsWith('sm80')) {
      expect(sorted(list.join(''))).toBe(sorted(nibbles));
      continue;
    }
    for (let r = 0; r < rows; r++) {
      const row = list.slice((r * list.length) / rows, ((r + 1) * list.length) / rows);
      const read = row.map((w) => [...w].reverse().join('')).join('');
      expect(read.slice(0, wide)).toBe(nibbles.slice(r * wide, (r + 1) * wide));
      expect(read.slice(wide)).toMatch(/^4*$/);
    }
  }
});
