/** A folder that is written appears whole or not at all. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { writeFolder } from '../../src/node/output-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'fp4-folder-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Three files; something happens before the third. */
class Interrupted extends Map<string, Uint8Array> {
  readonly #between: () => void;

  constructor(between: () => void) {
    super([...'abc'].map((name) => [name, Uint8Array.of(1)]));
    this.#between = between;
  }

  override *[Symbol.iterator](): MapIterator<[string, Uint8Array]> {
    for (const [name, bytes] of super.entries()) {
      if (name === 'c') this.#between();
      yield [name, bytes];
    }
    return undefined;
  }
}

test('nothing is there before everything is [FOL-01]', async () => {
  const target = join(root, 'case');
  let seen: string[] = [];
  await writeFolder(
    target,
    new Interrupted(() => {
      seen = readdirSync(root);
    }),
  );
  expect(seen.length).toBe(1);
  expect(seen[0]).toMatch(/^\.case\.[0-9a-f]{12}\.tmp$/);
  expect(readdirSync(root)).toEqual(['case']);
  expect(readdirSync(target)).toEqual(['a', 'b', 'c']);
  expect([...readFileSync(join(target, 'c'))]).toEqual([1]);
  rmSync(target, { recursive: true });
});

test('an interrupted one leaves nothing behind, and the signal goes on [FOL-01]', async () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  try {
    const written = writeFolder(
      join(root, 'case'),
      new Interrupted(() => process.emit('SIGTERM', 'SIGTERM')),
    );
    await expect(written).rejects.toThrow(/no such file or folder/); // a real process is gone by then
    expect(kill).toHaveBeenCalledWith(process.pid, 'SIGTERM');
  } finally {
    kill.mockRestore();
  }
  expect(readdirSync(root)).toEqual([]);
  expect(process.listenerCount('SIGTERM')).toBe(0);
});

test('one that fails leaves nothing behind [FOL-01]', async () => {
  const fail = new Interrupted(() => {
    throw new Error('the disk is gone');
  });
  await expect(writeFolder(join(root, 'case'), fail)).rejects.toThrow('the disk is gone');
  expect(readdirSync(root)).toEqual([]);
});
