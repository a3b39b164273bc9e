/** `fp4 grpo adamw`: files in and out, and what is refused. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fp4 } from './run-command.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'adamw-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const cases = (name: string): string =>
  fileURLToPath(new URL(`../cases/frameworks/${name}.jsonl`, import.meta.url));

const lines = (path: string): { id: string; kernel: string; steps: Record<string, string[]>[] }[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test.each([
  ['adamw', 'single-tensor'],
  ['adamw_fused', 'fused'],
])('%s with kernel %s: a line for a line, 0 differences [ADW-11, ADW-12]', async (name, kernel) => {
  const out = join(folder, 'out.jsonl');
  const { code, stderr } = await fp4('grpo', 'adamw', cases(name), '-o', out, '--kernel', kernel);
  expect([code, stderr]).toEqual([0, expect.stringContaining('runs of AdamW')]);
  const [given, found] = [lines(cases(name)), lines(out)];
  expect(found.map(({ id, kernel }) => [id, kernel])).toEqual(given.map(({ id }) => [id, kernel]));
  found.forEach(({ steps }, i) => {
    steps.forEach((step, t) => {
      for (const [field, words] of Object.entries(step)) expect(words).toEqual(given[i]!.steps[t]![field]);
    });
  });
});

const GOOD = { dtype: 'float32', param: ['3f800000'], steps: [{ grad: ['3f800000'] }] };

test('empty lines, CRLF, upper case, null, no config; NaN is canonical [ADW-02, ADW-11, ADW-12]', async () => {
  const [input, out] = [join(folder, 'in.jsonl'), join(folder, 'out.jsonl')];
  const odd = {
    ...GOOD,
    param: ['3F800000'],
    config: { lr: null },
    steps: [{ grad: ['FFC00001'], note: 1 }],
  };
  writeFileSync(input, `\n${JSON.stringify(GOOD)}\r\n\n${JSON.stringify(odd)}`);
  expect((await fp4('grpo', 'adamw', input, '-o', out)).code).toBe(0);
  const [first, second] = lines(out);
  expect(first!.kernel).toBe('fused');
  expect(second!.steps[0]!['param']).toEqual(['7fc00000']);
});

describe('refused, with line and path, nothing written [ADW-02, ADW-12]', () => {
  const step = (members: object): object => ({ ...GOOD, steps: [members] });
  test.each([
    [
      'line 2: config.weight_decya: not known; did you mean "weight_decay"?',
      { ...GOOD, config: { weight_decya: 0 } },
    ],
    ['line 2: config.lr: found -1', { ...GOOD, config: { lr: -1 } }],
    ['line 2: config.lr: found "1"', { ...GOOD, config: { lr: '1' } }],
    ['line 2: config.betas[1]: found 1;', { ...GOOD, config: { betas: [0.9, 1] } }],
    ['line 2: config.betas: found [0.9]', { ...GOOD, config: { betas: [0.9] } }],
    ['line 2: config.amsgrad: found 1;', { ...GOOD, config: { amsgrad: 1 } }],
    ['line 2: config.capturable: found true;', { ...GOOD, config: { capturable: true } }],
    ['line 2: config: found [];', { ...GOOD, config: [] }],
    ['line 2: dtype: found "bf16"', { ...GOOD, dtype: 'bf16' }],
    ['line 2: param: it is missing', { dtype: 'float32', steps: [] }],
    ['line 2: param[0]: found "3f80";', { ...GOOD, param: ['3f80'] }],
    ['line 2: param[0]: found 1;', { ...GOOD, param: [1] }],
    ['line 2: param[0]: found "3f80000x";', { ...GOOD, param: ['3f80000x'] }],
    ['line 2: steps: found {}', { ...GOOD, steps: {} }],
    ['line 2: steps[0]: found 1;', { ...GOOD, steps: [1] }],
    ['line 2: steps[0].grad: it is missing', step({})],
    ['line 2: steps[0].grad: 0 numbers; param has 1', step({ grad: [] })],
    [
      'line 2: steps[0].sqrt: 2 numbers; param has 1',
      step({ grad: ['3f800000'], sqrt: ['3f800000', '3f800000'] }),
    ],
    ['line 2: $: found 1;', 1],
    ['line 2: character', '{"dtype": "float32",}'],
    ['line 2: "dtype" occurs twice', '{"dtype": "float32", "dtype": "float64"}'],
  ])('%s', async (message, bad) => {
    const [input, out] = [join(folder, 'in.jsonl'), join(folder, 'out.jsonl')];
    writeFileSync(input, `${JSON.stringify(GOOD)}\n${typeof bad === 'string' ? bad : JSON.stringify(bad)}\n`);
    const { code, stderr } = await fp4('grpo', 'adamw', input, '-o', out);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(readdirSync(folder)).toEqual(['in.jsonl']);
  });

  test('a file that is not there, not UTF-8, a kernel that is not known', async () => {
    const [input, out] = [join(folder, 'in.jsonl'), join(folder, 'out.jsonl')];
    expect((await fp4('grpo', 'adamw', input, '-o', out)).stderr).toContain('no such file');
    writeFileSync(input, Uint8Array.of(0x7b, 0xff, 0x7d));
    expect((await fp4('grpo', 'adamw', input, '-o', out)).stderr).toContain('line 1: it is not UTF-8');
    expect((await fp4('grpo', 'adamw', input, '-o', out, '--kernel', 'fuse')).code).toBe(2);
    expect(readdirSync(folder)).toEqual(['in.jsonl']);
  });
});
