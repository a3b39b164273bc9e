/** 10^4 mutated manifests and truncated files. */
import { expect, test } from 'vitest';
import { fuzzFolders } from '../casefolder/folder-fuzz.ts';

test('10,000 damaged folders: no pass of wrong data, nothing but verdicts and messages [FOL-18, FOL-20]', () => {
  const { passed, differed, refused, wrong } = fuzzFolders(10_000, 12);
  expect(wrong).toEqual([]);
  expect(passed + differed + refused).toBe(10_000);
  expect(refused).toBeGreaterThan(8000);
});
