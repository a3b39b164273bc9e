/** A short form of test/exhaustive/folders.test.ts. */
import { expect, test } from 'vitest';
import { fuzzFolders } from './folder-fuzz.ts';

test('2,000 damaged folders: no pass of wrong data, nothing but verdicts and messages [FOL-18, FOL-20]', () => {
  const { passed, differed, refused, wrong } = fuzzFolders(2000, 11);
  expect(wrong).toEqual([]);
  expect(passed + differed + refused).toBe(2000);
  // Most damage is seen as such; a changed output is a difference; some manifests say the same in other words.
  expect(refused).toBeGreaterThan(1500);
  expect(differed).toBeGreaterThan(20);
});
