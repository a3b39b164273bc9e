/** The one-file bundle: the command under plain Node, and a module where there is no Node at all. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { fp4 } from '../cli/fp4.ts';
import { bundle } from './build.ts';

let file: string;
beforeAll(async () => {
  file = await bundle();
});

const run = (args: readonly string[], input = '') =>
  spawnSync(process.execPath, [file, ...args], {
    input,
    cwd: dirname(file),
    encoding: 'latin1',
    maxBuffer: 2 ** 28,
  });

test('nothing is imported from outside the file [STR-10]', () => {
  // check.py is text in it, with imports of Python's, which have no quotes.
  const declaration = /^\s*(import\s[^('"]*from\s*['"]|import\s+['"]|export\s[^'"]*from\s*['"])/m;
  expect(readFileSync(file, 'utf8')).not.toMatch(declaration);
});

describe('as the command [STR-06, STR-09]', () => {
  test('gen gives the bytes of the unbundled command', async () => {
    const args = ['gen', 'hif4_quantize_f32', '-n', '1500', '--stages', '--profile', 'ascend'];
    expect(run(args).stdout).toBe((await fp4(args)).out);
  });

  test('export gives the files of the unbundled command, check.py included [FOL-01]', async () => {
    const folders = ['bundled', 'unbundled'].map((name) => join(dirname(file), name));
    const args = ['export', 'quantize', '--format', 'hif4', '--shape', '4x100', '--layout', 'hif4-a-zz'];
    expect(run([...args, '-o', folders[0]!]).status).toBe(0);
    expect((await fp4([...args, '-o', folders[1]!])).code).toBe(0);
    const [bundled, unbundled] = folders.map((folder) =>
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')]),
    );
    expect(bundled!.length).toBe(7);
    expect(bundled).toEqual(unbundled);
  });

  test('worker threads are the file itself [TEN-23]', async () => {
    const at = (name: string): string => join(dirname(file), name);
    expect(run(['tensor', '4x524288', '-o', 'x.npy', '--family', 'gauss']).status).toBe(0);
    const quantize = (output: string, threads: string): string[] => [
      ...['quantize', at('x.npy'), '-o', at(output), '--format', 'mxfp4', '--threads', threads, '--json'],
    ];
    const bundled = run(quantize('two.safetensors', '2'));
    const unbundled = await fp4(quantize('one.safetensors', '1'));
    expect([bundled.status, bundled.stdout]).toEqual([0, unbundled.out]);
    expect(readFileSync(at('two.safetensors')).equals(readFileSync(at('one.safetensors')))).toBe(true);
    const dequantize = (output: string): string[] => ['dequantize', at('two.safetensors'), '-o', at(output)];
    expect(run([...dequantize('two.npy'), '--threads', '2']).status).toBe(0);
    expect((await fp4([...dequantize('one.npy'), '--threads', '1'])).code).toBe(0);
    expect(readFileSync(at('two.npy')).equals(readFileSync(at('one.npy')))).toBe(true);
  });

  test('verify, exit codes and messages', () => {
    const { status, stdout, stderr } = run(['verify', 'e8m0_to_f32'], '7f 3f800000\n00 00000000\n');
    expect([status, stdout, stderr]).toEqual([
      1,
      '2\ty[0]\t00400000\t00000000\n',
      'e8m0_to_f32: 2 cases, 1 differ\n',
    ]);
    expect(run(['eval', 'e8m0_to_f32'], '7\n').status).toBe(2);
  });

  test('started through a link, as npm does', () => {
    const link = join(dirname(file), 'fp4');
    symlinkSync(file, link);
    expect(spawnSync(process.execPath, [link, '--version'], { encoding: 'utf8' }).stdout).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
  });
});

describe('as a module', () => {
  /** Runs a script that has the bundle as `m`, in a Node from which `process` was taken away before it was loaded. */
  const withoutNode = (script: string): string =>
    execFileSync(process.execPath, [
      '--input-type=module',
      '-e',
      `const { stdout } = process; delete globalThis.process;
       const m = await import(${JSON.stringify(pathToFileURL(file).href)});
       stdout.write(String(${script}));`,
    ]).toString();

  test('stream functions where there is no Node, the values worked out by hand [STR-06]', () => {
    expect(withoutNode(`m.evaluateText('e8m0_to_f32', '7f\\n00\\nff\\n')`)).toBe(
      '3f800000\n00400000\n7fc00000\n',
    );
    const half = ['3f00', ...Array.from({ length: 63 }, () => '0000')].join(' ');
    expect(withoutNode(`m.evaluateText('hif4_quantize', '${half}')`)).toBe(`000101b1 6${'0'.repeat(63)}\n`);
  });

  test('every function answers there as the command does', async () => {
    const script = `m.FUNCTIONS.map((f) => f.name).join()`;
    for (const name of withoutNode(script).split(',').slice(-8)) {
      const inputs = (await fp4(['gen', name, '-n', '40', '--inputs-only'])).out;
      const answers = (await fp4(['eval', name], inputs)).out;
      expect(withoutNode(`m.evaluateText('${name}', ${JSON.stringify(inputs)})`)).toBe(answers);
    }
  });

  test('a malformed line is an error with its number [STR-03]', () => {
    const script = `(() => { try { return m.evaluateText('e8m0_to_f32', '# x\\n7'); } catch (e) { return e.code + ' ' + e.message; } })()`;
    expect(withoutNode(script)).toMatch(/^E_WORD_WIDTH line 2, word 1: "7" has 1 hex digit/);
  });

  test('the library is in it', () => {
    // 7 everywhere: SF is a tie of BF16 that goes to 1.0, so the scale is 1 and every element 1.75 x 4.
    const script = `[...m.hif4.dequantize(m.hif4.quantize(new Float32Array(64).fill(7)))].join()`;
    expect(withoutNode(script)).toBe(Array.from({ length: 64 }, () => '7').join());
  });
});
