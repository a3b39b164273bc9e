/** Files that appear whole or not at all. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { OutputFile, writeWhole } from '../../src/node/output-file.ts';
import { temporaryFolder } from './tensor-bytes.ts';

describe('output files [TEN-10]', () => {
  test('appear only when they are whole, over an older one', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x');
    writeFileSync(path, 'old');
    await writeWhole(path, async (file) => {
      file.write(Buffer.from('cd'), 2);
      file.write(Buffer.from('ab'), 0);
      expect(readFileSync(path, 'utf8')).toBe('old');
    });
    expect(readFileSync(path, 'utf8')).toBe('abcd');
    expect(readdirSync(folder)).toEqual(['x']);
  });

  test('leave nothing behind when writing fails', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x');
    writeFileSync(path, 'old');
    const fails = writeWhole(path, async (file) => {
      file.write(Buffer.from('new'), 0);
      throw new TypeError('in the middle');
    });
    await expect(fails).rejects.toThrow('in the middle');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['x']);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'leave nothing behind on %s, which then takes its course',
    (signal) => {
      const folder = temporaryFolder();
      const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
      const before = process.listenerCount(signal);
      const file = new OutputFile(join(folder, 'x'));
      file.write(Buffer.from('new'), 0);
      expect(readdirSync(folder)).toHaveLength(1);
      process.listeners(signal).at(-1)!(signal);
      expect(readdirSync(folder)).toEqual([]);
      expect(kill).toHaveBeenCalledExactlyOnceWith(process.pid, signal);
      expect(process.listenerCount(signal)).toBe(before);
      kill.mockRestore();
    },
  );

  test('a folder in the way, or no folder to be in, is refused', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'd.npy'));
    expect(() => new OutputFile(join(folder, 'd.npy'))).toThrow('it is a folder');
    expect(() => new OutputFile(join(folder, 'none', 'x.npy'))).toThrow('no such file or folder');
    writeFileSync(join(folder, 'plain'), '');
    expect(() => new OutputFile(join(folder, 'plain', 'x.npy'))).toThrow('a part of the path is no folder');
    expect(existsSync(join(folder, 'none'))).toBe(false);
    expect(readdirSync(folder).sort()).toEqual(['d.npy', 'plain']);
  });
});
