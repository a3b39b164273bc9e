/** fp4 grpo on files: JSON, lines, tensors, and what must not be left behind. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fp4 } from './run-command.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fp4-grpo-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);
const ANSWER = {
  reward: 2,
  mask: [1, 0],
  log_prob: [-1, -2],
  old_log_prob: [-1, -2],
  rollout_log_prob: [-1, -3],
};
const STEP = {
  id: 's1',
  config: { norm_adv_by_std_in_grpo: false },
  groups: [{ id: 'q', answers: [ANSWER, { ...ANSWER, reward: 0 }] }],
};

describe('JSON [GRP-18]', () => {
  test('one step', async () => {
    writeFileSync(at('in.json'), JSON.stringify(STEP, null, 2));
    const ran = await fp4('grpo', at('in.json'), '-o', at('out.json'));
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(at('out.json'), 'utf8')).toBe(
      '{"id":"s1","groups":[{"id":"q","answers":[' +
        '{"advantage":1,"ratio":[1,1],"loss":[-1,-0.0],"grad":[-0.5,-0.0]},' +
        '{"advantage":-1,"ratio":[1,1],"loss":[1,0],"grad":[0.5,0]}]}],' +
        '"loss":{"policy":0,"kl":null,"entropy":null,"total":0}}\n',
    );
  });
  test('a step a line, empty lines passed over', async () => {
    writeFileSync(at('in.jsonl'), `${JSON.stringify(STEP)}\n\n${JSON.stringify({ ...STEP, id: 2 })}`);
    expect(await fp4('grpo', at('in.jsonl'), '-o', at('out.jsonl'))).toMatchObject({ code: 0 });
    const lines = readFileSync(at('out.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(['s1', 2]);
  });
  test('nothing is left where a line is bad', async () => {
    const bad = { ...STEP, groups: [{ answers: [{ ...ANSWER, mask: [1, 7] }] }] };
    writeFileSync(at('in.jsonl'), `${JSON.stringify(STEP)}\n${JSON.stringify(bad)}\n`);
    const ran = await fp4('grpo', at('in.jsonl'), '-o', at('out.jsonl'));
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('in.jsonl: line 2: groups[0].answers[0].mask[1]: found 7, expected 0 or 1');
    expect(readdirSync(folder)).toEqual(['in.jsonl']);
  });
  test.each([
    ['{"groups": [', 'in.json'],
    ['', 'it is empty'],
    ['{"groups": [], "groups": []}', 'groups'],
    ['{"groups": []}', 'groups: found none'],
  ])('refuses %s', async (text, message) => {
    writeFileSync(at('in.json'), text);
    const ran = await fp4('grpo', at('in.json'), '-o', at('out.json'));
    expect([ran.code, existsSync(at('out.json'))]).toEqual([2, false]);
    expect(ran.stderr).toContain(message);
  });
  test('names decide the kind, which stays', async () => {
    writeFileSync(at('in.json'), JSON.stringify(STEP));
    expect(await fp4('grpo', at('in.json'), '-o', at('out.jsonl'))).toMatchObject({ code: 2 });
    expect(await fp4('grpo', at('in.txt'), '-o', at('out.json'))).toMatchObject({ code: 2 });
    expect(await fp4('grpo', at('in.json'))).toMatchObject({ code: 2 });
    expect(await fp4('grpo', at('nowhere.json'), '-o', at('out.json'))).toMatchObject({ code: 2 });
  });
});

test('strange data on stderr by path, --strict refuses it [GRP-20]', async () => {
  const answers = [{ ...ANSWER, log_prob: ['NaN', 0.25] }];
  writeFileSync(at('in.json'), JSON.stringify({ ...STEP, groups: [{ answers }] }));
  const told = await fp4('grpo', at('in.json'), '-o', at('out.json'));
  expect(told.code).toBe(0);
  expect(told.stderr).toContain('in.json: groups[0].answers[0].log_prob[0]: NaN\n');
  expect(told.stderr).toContain('log_prob[1]: 0.25 is positive');
  rmSync(at('out.json'));
  const strict = await fp4('grpo', at('in.json'), '-o', at('out.json'), '--strict');
  expect([strict.code, existsSync(at('out.json'))]).toEqual([2, false]);
  expect(strict.stderr).toContain('(E_NONFINITE)');
});

/** A .safetensors file, built here byte by byte. */
function safetensors(
  tensors: Record<string, { dtype: string; shape: number[]; bytes: Buffer }>,
  metadata: object,
): Buffer {
  let end = 0;
  const entries = Object.entries(tensors).map(([name, { dtype, shape, bytes }]) => {
    const begin = end;
    end += bytes.length;
    return [name, { dtype, shape, data_offsets: [begin, end] }];
  });
  const header = Buffer.from(JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(entries) }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, ...Object.values(tensors).map(({ bytes }) => bytes)]);
}
const f32 = (values: number[]): Buffer => Buffer.from(Float32Array.from(values).buffer);
const i64 = (values: number[]): Buffer => Buffer.from(BigInt64Array.from(values.map(BigInt)).buffer);
const grid = (bytes: Buffer, dtype: string) => ({ dtype, shape: [3, 2], bytes });

function read(bytes: Buffer): {
  metadata: Record<string, string>;
  tensors: Record<string, number[]>;
  types: Record<string, string>;
} {
  const length = Number(bytes.readBigUInt64LE(0));
  const { __metadata__: metadata, ...entries } = JSON.parse(bytes.subarray(8, 8 + length).toString());
  const tensors: Record<string, number[]> = {};
  const types: Record<string, string> = {};
  for (const [name, entry] of Object.entries(entries) as [
    string,
    { dtype: string; data_offsets: number[] },
  ][]) {
    const part = bytes.subarray(8 + length + entry.data_offsets[0]!, 8 + length + entry.data_offsets[1]!);
    types[name] = entry.dtype;
    if (entry.dtype === 'U8') tensors[name] = [...part];
    else if (entry.dtype === 'F64')
      tensors[name] = Array.from({ length: part.length / 8 }, (_, i) => part.readDoubleLE(8 * i));
    else tensors[name] = Array.from({ length: part.length / 4 }, (_, i) => part.readFloatLE(4 * i));
  }
  return { metadata, tensors, types };
}

const TENSORS = {
  // Rows 0 and 2 are one group.
  uid: { dtype: 'I64', shape: [3], bytes: i64([5, 8, 5]) },
  response_mask: grid(i64([1, 0, 1, 1, 1, 1]), 'I64'),
  log_probs: grid(f32([-1, -2, -1, -1, -0.5, -0.5]), 'F32'),
  old_log_probs: grid(f32([-1, -2, -1, -1, -0.5, -0.5]), 'F32'),
  rollout_log_probs: grid(f32([-1, -2, -1, -9, -0.5, -0.5]), 'F32'),
  token_level_scores: grid(f32([2, 0, 0, 1, -1, 1]), 'F32'),
  values: grid(f32([1, 2, 3, 4, 5, 6]), 'F32'),
};

describe('tensors [GRP-19]', () => {
  const config = {
    norm_adv_by_std_in_grpo: false,
    rollout_is: 'token',
    rollout_rs: 'token_k2',
    rollout_rs_threshold: 8,
  };
  test('rows keep their places', async () => {
    writeFileSync(at('in.safetensors'), safetensors(TENSORS, { config: JSON.stringify(config) }));
    const ran = await fp4('grpo', at('in.safetensors'), '-o', at('out.safetensors'));
    expect(ran).toMatchObject({ code: 0 });
    const { tensors, metadata, types } = read(readFileSync(at('out.safetensors')));
    expect(tensors).toEqual({
      advantages: [1, 0, 1, 1, -1, -1],
      ratio: [1, 1, 1, 1, 1, 1],
      rollout_is_weights: [1, 0, 1, 2, 1, 1],
      response_mask: [1, 0, 1, 0, 1, 1],
      loss: [-1, -0, -1, -0, 1, 1],
      grad: [-0.25, -0, -0.25, -0, 0.25, 0.25],
    });
    expect(types).toMatchObject({ ratio: 'F64', response_mask: 'U8' });
    expect(JSON.parse(metadata.loss!)).toEqual({ policy: 0, kl: null, entropy: null, total: 0 });
    expect(JSON.parse(metadata.config!)).toEqual(config);
  });
  test('in binary32, one number an answer under TRL', async () => {
    const trl = { preset: 'trl', importance_sampling_level: 'sequence', dtype: 'float32' };
    writeFileSync(at('in.safetensors'), safetensors(TENSORS, { config: JSON.stringify(trl) }));
    await fp4('grpo', at('in.safetensors'), '-o', at('out.safetensors'));
    const { tensors, types } = read(readFileSync(at('out.safetensors')));
    expect(tensors.ratio).toEqual([1, 1, 1]);
    expect(tensors.rollout_is_weights).toEqual([1, 0, 1]);
    expect(types.ratio).toBe('F32');
  });
  test.each<[string, object, object, string]>([
    ['no mask', { response_mask: undefined }, {}, 'no tensor response_mask'],
    ['no uid', { uid: undefined }, {}, 'no tensor uid'],
    [
      'a shape',
      { log_probs: { dtype: 'F32', shape: [2, 3], bytes: f32(new Array(6).fill(0)) } },
      {},
      'log_probs: its shape is [2, 3], expected [3, 2]',
    ],
    ['a type', { log_probs: grid(Buffer.alloc(6), 'F8_E4M3') }, {}, 'is F8_E4M3'],
    [
      'a mask of 3',
      { response_mask: grid(i64([1, 3, 1, 1, 1, 1]), 'I64') },
      {},
      'groups[0].answers[0].mask[1]: found 3',
    ],
    ['a config', {}, { config: '{' }, 'metadata config'],
    ['no scores', { token_level_scores: undefined }, {}, 'reward: it is missing'],
  ])('refuses %s', async (_, changed, metadata, message) => {
    const tensors = Object.fromEntries(
      Object.entries({ ...TENSORS, ...changed }).filter(([, t]) => t !== undefined),
    );
    writeFileSync(at('in.safetensors'), safetensors(tensors as typeof TENSORS, metadata));
    const ran = await fp4('grpo', at('in.safetensors'), '-o', at('out.safetensors'));
    expect([ran.code, existsSync(at('out.safetensors'))]).toEqual([2, false]);
    expect(ran.stderr).toContain(message);
  });
});

test('mismatch: text, JSON, chart [GRP-21]', async () => {
  writeFileSync(at('in.json'), JSON.stringify(STEP));
  const text = await fp4('grpo', 'mismatch', at('in.json'), '--svg', at('c.svg'));
  expect(text.code).toBe(0);
  expect(text.stdout).toContain('rollout_corr/k3_kl');
  expect(readFileSync(at('c.svg'), 'utf8')).toContain('</svg>');
  const json = await fp4('grpo', 'mismatch', at('in.json'), '--json', '--top', '1');
  expect(JSON.parse(json.stdout).steps[0]).toMatchObject({ id: 's1', tokens: 2, worst: [{ log_ratio: 0 }] });
  expect(await fp4('grpo', 'mismatch', at('in.json'), '--top', 'x')).toMatchObject({ code: 2 });
});
