/** What a person is shown of a block: every fact in it worked out by hand. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fp4 } from './fp4.ts';

const folder = mkdtempSync(join(tmpdir(), 'fp4-inspect-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** 0.5 (3f00) and a value that underflows (3a00 = 2^-11), then zeros. */
const UNIT = ['3f00', 'ba00', ...Array.from({ length: 62 }, () => '0000')].join(' ');

test('a line of the stream: fields, stages, elements, what was lost [HIF4-02, HIF4-05]', async () => {
  const { code, out } = await fp4(['inspect', '-'], `${UNIT}\n`);
  expect(code).toBe(0);
  expect(out).toContain('scale word 000101b1');
  expect(out).toMatch(/^E6M2 +b1 +10110001 +bits 7:0 +level 1, all 64 elements: 0\.078125$/m);
  expect(out).toMatch(/^E1_8 +01 +00000001 +bits 15:8 /m);
  expect(out).toMatch(/^ +0-3 +\[0\]=1 +\[0\]=1 +0\.3125 +6 8 0 0 +0\.46875 +-0 +0 +0$/m);
  expect(out).toMatch(/^sf +3d92 = 0\.0712890625$/m);
  expect(out).toMatch(/^ +0 +3f00 +0\.5 +1\.6015625 +6 +0\.46875 +-0\.03125$/m);
  expect(out).toMatch(
    /^ +1 +ba00 +-0\.00048828125 +-0\.0015640258789\d+ +8 +-0 +0\.00048828125 +underflow$/m,
  );
  expect(out).toContain('underflow: 1 of 2 nonzero (elements 1)\nsaturated: 0 of 64\n');
});

test('a line with outputs: whether they agree, and where they first do not [STR-08]', async () => {
  const right = `000101b1 68${'0'.repeat(62)}`;
  expect((await fp4(['inspect', '-'], `${UNIT} ${right}\n`)).out).toContain('the outputs on the line agree');
  const { out } = await fp4(['inspect', '-'], `${UNIT} ${right.replace(/68/, '78')}\n`);
  expect(out).toContain('differ, first at codes[0]: expected 6, found 7');
});

test('scale and codes alone; MXFP4 fe with code 7 is beyond FP32 but has a value [MX-02]', async () => {
  const { out } = await fp4(['inspect', '-'], `fe 7${'0'.repeat(31)}\n`);
  expect(out).toContain(`scale E8M0 fe 11111110: 2^127 = ${2 ** 127}`);
  expect(out).toContain(String(6 * 2 ** 127));
});

test('blocks of a file: place, padding, numbers counted row by row [TEN-06]', async () => {
  const [npy, file] = [join(folder, 'x.npy'), join(folder, 'x.safetensors')];
  expect((await fp4(['tensor', '3x100', '-o', npy, '--family', 'gauss'])).code).toBe(0);
  expect((await fp4(['quantize', npy, '-o', file, '--format', 'hif4'])).code).toBe(0);
  const { code, out } = await fp4(['inspect', file, '--block', '0,5']);
  expect(code).toBe(0);
  expect(out).toContain('block 0 of 6, hif4, profile authors: elements [0, 0:64]\n');
  expect(out).toContain('block 5 of 6, hif4, profile authors: elements [2, 64:100], then 28 of padding\n');
});

test.each([
  [['inspect', '-'], 'abcd 1234\n', /line 1, word 1: "abcd" has 4 hex digits; scale has 8/],
  [['inspect', '-', '--block', '1'], '', /--block is for a file/],
  [['inspect', 'missing.safetensors'], '', /missing\.safetensors/],
  [['inspect', 'x.txt'], '', /x\.txt/],
])('%j %j is refused with exit 2 [STR-07]', async (args, stdin, message) => {
  const { code, err } = await fp4(args, stdin);
  expect(code).toBe(2);
  expect(err).toMatch(message);
});
