/** What a shell can do to a command: odd descriptors, readers that leave, signals, links, text meant for a terminal. */
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { COMMAND, fp4 } from './fp4.ts';

const folder = mkdtempSync(join(tmpdir(), 'fp4-robust-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const shell = (script: string) =>
  spawnSync('bash', ['-c', `fp4() { "${process.execPath}" "${COMMAND}" "$@"; }; ${script}`], {
    cwd: folder,
    encoding: 'utf8',
  });

describe('standard input and output', () => {
  test.each(['verify f32_to_e4m3', 'eval f32_to_e4m3', 'inspect -', 'verify f32_to_e4m3 --encoding raw'])(
    'a folder as stdin of %s is refused, not taken for an empty file',
    (command) => {
      const { status, stderr } = shell(`fp4 ${command} < .`);
      expect([status, stderr]).toEqual([2, 'fp4: stdin: it is a folder; expected cases (E_FILE)\n']);
    },
  );

  test.each([[''], ['# a comment\n\n']])(
    'verify of no cases at all does not pass [STR-08]',
    async (input) => {
      const { code, err } = await fp4(['verify', 'f32_to_e4m3'], input);
      expect([code, err]).toEqual([
        2,
        'fp4: stdin: no cases; expected lines of f32_to_e4m3 (E_WORD_COUNT)\n',
      ]);
    },
  );

  test('a full disk behind stdout is told, exit 2', () => {
    const { status, stderr } = shell('fp4 gen f32_to_e4m3 -n 3000 > /dev/full');
    expect(status).toBe(2);
    expect(stderr).toMatch(/^fp4: stdout: cannot be written: ENOSPC/);
  });

  test('a reader that leaves: exit 0 from gen, exit 1 from verify once a difference was told [STR-07]', () => {
    shell(`fp4 gen e8m0_to_f32 -n 20000 | sed 's/.$/1/' > wrong.txt`);
    const { stdout } = shell('set -o pipefail; fp4 gen hif4_quantize -n 5000 | head -1 > /dev/null; echo $?');
    expect(stdout).toBe('0\n');
    const judged = shell(
      'set -o pipefail; fp4 verify e8m0_to_f32 < wrong.txt | head -1 > /dev/null; echo $?',
    );
    expect(judged.stdout).toBe('1\n');
  });
});

describe('lines', () => {
  test('a stage given twice is refused [STR-08]', async () => {
    const unit = ['3f00', ...Array.from({ length: 63 }, () => '0000')].join(' ');
    const line = `${unit} 000101b1 6${'0'.repeat(63)} sf=0000 sf=3d92\n`;
    const { code, err } = await fp4(['verify', 'hif4_quantize'], line);
    expect([code, err]).toEqual([2, 'fp4: line 1: stage sf twice (E_WORD_COUNT)\n']);
  });

  test.each([
    [`${'3f80 '.repeat(63)}3f8`, /line 1, word 64: "3f8" has 3 hex digits/],
    ['abcdefgh 1234', /line 1, word 1: "abcdefgh" has "g"/],
    ['00', /line 1: 1 words, "00"; expected 64 words/],
  ])('inspect names what is wrong with %j', async (line, message) => {
    const { code, err } = await fp4(['inspect', '-'], `${line}\n`);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });

  test('inspect names the line of a NaN under nonfinite=error [CON-05]', async () => {
    const block = `${'3f80 '.repeat(31)}`;
    const { code, err } = await fp4(
      ['inspect', '-', '--set', 'nonfinite=error'],
      `${block}3f80\n${block}7fc0\n`,
    );
    expect([code, err]).toEqual([2, expect.stringContaining('line 2: element 31 is a NaN')]);
  });

  test('--range without ladder is refused', async () => {
    const { code, err } = await fp4(['gen', 'hif4_quantize', '--family', 'gauss', '--range', '1:2']);
    expect([code, err]).toEqual([2, expect.stringContaining('--range is for the family ladder, not gauss')]);
  });
});

describe('files [TEN-10]', () => {
  test('an output that is a link stays one; what it leads to is replaced', async () => {
    writeFileSync(at('target.npy'), 'old');
    symlinkSync('target.npy', at('link.npy'));
    expect((await fp4(['tensor', '2x2', '-o', at('link.npy'), '--family', 'gauss'])).code).toBe(0);
    expect(lstatSync(at('link.npy')).isSymbolicLink()).toBe(true);
    expect(readFileSync(at('target.npy')).subarray(1, 6).toString()).toBe('NUMPY');
  });

  test('a pipe as output is refused', () => {
    const { status, stderr } = shell('mkfifo pipe.npy && fp4 tensor 2x2 -o pipe.npy --family gauss');
    expect([status, stderr]).toEqual([2, expect.stringContaining('pipe.npy: it is not a regular file')]);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    '%s leaves nothing behind',
    async (signal) => {
      const args = [COMMAND, 'tensor', '4096x4096', '-o', at('big.npy'), '--family', 'gauss'];
      const child = spawn(process.execPath, args, { stdio: 'ignore' });
      while (!readdirSync(folder).some((name) => name.endsWith('.tmp')))
        await new Promise((r) => setTimeout(r, 20));
      child.kill(signal);
      await new Promise((resolve) => child.on('close', resolve));
      expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      expect(existsSync(at('big.npy'))).toBe(false);
    },
  );

  test('text of a file reaches the terminal with its control characters escaped, and not whole', async () => {
    const header = (shape: string): string => {
      const metadata = { 'fp4.format': 'hif4', 'fp4.shape': shape, 'fp4.axis': '0' };
      const tensors = {
        codes: { dtype: 'U8', shape: [0], data_offsets: [0, 0] },
        scales: { dtype: 'U32', shape: [0], data_offsets: [0, 0] },
      };
      return JSON.stringify({ __metadata__: metadata, ...tensors });
    };
    for (const shape of ['\u001b[31mred\u0007', '['.repeat(100_000)]) {
      const text = header(shape);
      const size = Buffer.alloc(8);
      size.writeBigUInt64LE(BigInt(text.length));
      writeFileSync(at('odd.safetensors'), Buffer.concat([size, Buffer.from(text)]));
      const { code, err } = await fp4(['inspect', at('odd.safetensors')]);
      expect(code).toBe(2);
      expect(err.length).toBeLessThan(400);
      expect(err.trimEnd()).not.toMatch(/\p{Cc}/u);
    }
  });
});
