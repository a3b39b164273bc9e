/** Sessions, refusals, tensor files and families of the vectors, by the built command and by a twin. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { evaluateText } from '../../src/functions/text.ts';
import { dequantizeFile } from '../../src/node/dequantize-file.ts';
import { quantizeFile } from '../../src/node/quantize-file.ts';
import { codec } from '../../src/tensor/codec.ts';
import { fp4 as command } from '../cli/fp4.ts';
import { fp4 } from '../cli/run-command.ts';
import { temporaryFolder } from '../node/tensor-bytes.ts';
import { twinElement, twinPhilox } from '../random/twin.ts';
import { vectorFile } from './vectors.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const hexOf = (buffer: Uint8Array): string => Buffer.from(buffer).toString('hex');
/** Lines as bytes, or bytes given in hex. */
const inputBytes = (input: string[] | string): Uint8Array =>
  typeof input === 'string' ? bytes(input) : Buffer.from(input.map((line) => `${line}\n`).join(''));
const settings = (set: Record<string, string>): string[] =>
  Object.entries(set).flatMap(([name, value]) => ['--set', `${name}=${value}`]);

interface Common {
  id: string;
  comment: string;
  error: string;
  exit: number;
}
const group = <T>(name: string, subject: string): readonly (T & Common)[] =>
  vectorFile<T & Common>(name).groups.find((g) => g.subject === subject)!.tests;

interface SessionTest {
  args: string[];
  stdin: string[] | string;
  stdout: string[] | string;
}

describe('stream.json [VEC-09]', () => {
  test('text sessions answered in memory, as in a browser [STR-10]', () => {
    const evals = group<SessionTest>('stream.json', 'sessions').filter(
      ({ args, stdin }) => args[0] === 'eval' && typeof stdin !== 'string',
    );
    expect(evals.length).toBeGreaterThan(2);
    for (const { args, stdin, stdout } of evals) {
      const stages = args.includes('--stages');
      const text = evaluateText(args[1]!, Buffer.from(inputBytes(stdin)).toString(), { stages });
      expect(text).toBe(Buffer.from(inputBytes(stdout)).toString());
    }
  });

  test.concurrent.each(
    group<SessionTest>('stream.json', 'sessions').map((t) => [t.args.join(' '), t] as const),
  )('%s [STR-01, STR-07]', async (_, { args, stdin, stdout, exit }) => {
    const run = await command(args, inputBytes(stdin));
    expect([hexOf(run.stdout), run.code]).toEqual([hexOf(inputBytes(stdout)), exit]);
  });

  test('the functions, as the command lists them [STR-02]', async () => {
    const file = vectorFile('stream.json').groups.find((g) => g.subject === 'functions') as unknown as {
      functions: { description: object }[];
    };
    const run = await fp4('functions', '--json');
    expect(file.functions.map(({ description }) => description)).toEqual(JSON.parse(run.stdout));
  });
});

interface Refused {
  function: string;
  profile?: string;
  set: Record<string, string>;
  encoding: 'text' | 'raw';
  input: string[] | string;
  answered: string[] | string;
  at: number;
  format: 'npy' | 'safetensors' | 'quantized';
  bytes: string;
  shape: number[];
  axis: number;
}

describe('invalid.json [VEC-09]', () => {
  test.concurrent.each(group<Refused>('invalid.json', 'stream').map((t) => [t.comment, t] as const))(
    '%s [STR-03]',
    async (_, t) => {
      const raw = t.encoding === 'raw' ? ['--encoding', 'raw'] : [];
      const run = await command(['eval', t.function, ...settings(t.set), ...raw], inputBytes(t.input));
      expect([hexOf(run.stdout), run.code]).toEqual([hexOf(inputBytes(t.answered)), t.exit]);
      expect(run.err).toContain(`(${t.error})`);
      expect(run.err).toContain(`${t.encoding === 'raw' ? 'record' : 'line'} ${t.at}`);
    },
  );

  test.each(group<Refused>('invalid.json', 'arguments').map((t) => [t.comment, t] as const))(
    '%s [CON-02]',
    async (_, t) => {
      const profile = t.profile === undefined ? [] : ['--profile', t.profile];
      const run = await fp4('eval', t.function, ...profile, ...settings(t.set));
      expect([run.stdout, run.code]).toEqual(['', t.exit]);
      expect(run.stderr).toContain(`(${t.error})`);
    },
  );

  const files = group<Refused>('invalid.json', 'files');
  test.each(files.map((t) => [t.comment, t] as const))('%s [TEN-03, TEN-08, TEN-10]', async (_, t) => {
    const folder = temporaryFolder();
    const name = t.format === 'npy' ? 'in.npy' : 'in.safetensors';
    writeFileSync(join(folder, name), bytes(t.bytes));
    const path = join(folder, name);
    const quantize = [
      'quantize',
      t.format === 'npy' ? path : `${path}:x`,
      '-o',
      join(folder, 'out.safetensors'),
    ];
    const args =
      t.format === 'quantized'
        ? ['dequantize', path, '-o', join(folder, 'out.npy')]
        : [...quantize, '--format', 'mxfp4'];
    const run = await fp4(...args);
    expect([run.code, readdirSync(folder)]).toEqual([t.exit, [name]]);
    expect(run.stderr).toContain(`(${t.error})`);
  });

  const shapes = group<Refused>('invalid.json', 'shapes');
  test.each(shapes.map((t) => [t.comment, t] as const))('%s [TEN-05, TEN-10]', async (_, t) => {
    const folder = temporaryFolder();
    const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${t.shape.map((n) => `${n},`).join('')}), }\n`;
    const header = Buffer.from(`\x93NUMPY\x01\x00${String.fromCharCode(text.length)}\x00${text}`, 'latin1');
    const elements = t.shape.reduce((a, b) => a * b, 1);
    writeFileSync(join(folder, 'in.npy'), Buffer.concat([header, Buffer.alloc(4 * elements)]));
    const axis = ['--axis', `${t.axis}`];
    const [from, to] = [join(folder, 'in.npy'), join(folder, 'out.safetensors')];
    const run = await fp4('quantize', from, '-o', to, '--format', 'mxfp4', ...axis);
    expect([run.code, readdirSync(folder)]).toEqual([t.exit, ['in.npy']]);
    expect(run.stderr).toContain(`(${t.error})`);
  });
});

interface TensorTest {
  clauses: string[];
  format: string;
  profile: string;
  set: Record<string, string>;
  axis: number;
  bf16: boolean;
  layout?: string;
  'pack-axis'?: number;
  input: string;
  quantized: string;
  codes: string;
  scales: string;
  metadata: object;
  output: string;
  report: object;
  back: string;
  a: string;
  b: string;
  stdout: string[];
  family: string;
  dtype: string;
  shape: number[];
  seed: string;
}

describe('tensors.json [VEC-09]', () => {
  test.each(group<TensorTest>('tensors.json', 'quantize').map((t) => [t.comment, t] as const))(
    '%s [TEN-04, TEN-05, TEN-06, TEN-07, TEN-09]',
    async (_, t) => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, 'in.npy'), bytes(t.input));
      const out = join(folder, 'out.safetensors');
      const options = [
        '--format',
        t.format,
        '--profile',
        t.profile,
        '--axis',
        `${t.axis}`,
        ...settings(t.set),
      ];
      if (t.layout !== undefined) options.push('--layout', t.layout);
      if (t['pack-axis'] !== undefined) options.push('--pack-axis', `${t['pack-axis']}`);
      const bf16 = t.bf16 ? ['--bf16'] : [];
      const run = await fp4('quantize', join(folder, 'in.npy'), '-o', out, ...options, ...bf16, '--json');
      expect(run.code).toBe(0);
      expect(hexOf(readFileSync(out))).toBe(t.output);
      expect(JSON.parse(run.stdout)).toMatchObject(t.report);
      await fp4('dequantize', out, '-o', join(folder, 'back.npy'));
      expect(hexOf(readFileSync(join(folder, 'back.npy')))).toBe(t.back);
      if (t.layout === undefined) expect(t.output.endsWith(t.codes + t.scales)).toBe(true);
      expect(bytes(t.output).toString('latin1')).toContain(`"__metadata__":${JSON.stringify(t.metadata)}`);
    },
  );

  const divided = group<TensorTest>('tensors.json', 'quantize').filter((t) => t.clauses.includes('TEN-23'));
  test.each(divided.map((t) => [t.comment, t] as const))('%s [TEN-23]', async (_, t) => {
    const folder = temporaryFolder();
    const [input, output, back] = ['in.npy', 'out.safetensors', 'back.npy'].map((name) => join(folder, name));
    writeFileSync(input!, bytes(t.input));
    for (const tileElements of [64, 128, 500, 2 ** 18]) {
      for (const threads of [1, 2]) {
        const job = {
          input: input!,
          output: output!,
          codec: codec(t.format, t.profile, t.set),
          bf16: t.bf16,
        };
        const { report } = await quantizeFile({ ...job, axis: t.axis, tileElements, threads });
        expect(hexOf(readFileSync(output!))).toBe(t.output);
        expect(report).toMatchObject(t.report);
        await dequantizeFile({ input: output!, output: back!, tileElements, threads });
        expect(hexOf(readFileSync(back!))).toBe(t.back);
      }
    }
  });

  test('foreign bytes, without a file around them [TEN-20]', async () => {
    for (const t of group<TensorTest>('tensors.json', 'foreign')) {
      const folder = temporaryFolder();
      const [codes, scales, back] = ['codes.bin', 'scales.bin', 'back.npy'].map((name) => join(folder, name));
      writeFileSync(codes!, bytes(t.codes));
      writeFileSync(scales!, bytes(t.scales));
      const pair = ['--codes', codes!, '--scales', scales!, '--format', t.format, '--layout', t.layout!];
      const place = ['--shape', t.shape.join('x'), '--axis', `${t.axis}`];
      const run = await fp4('dequantize', ...pair, ...place, '-o', back!);
      expect(run.code).toBe(0);
      expect(hexOf(readFileSync(back!))).toBe(t.back);
    }
  });

  test('a tensor and what another quantizer made of it [TEN-22]', async () => {
    for (const t of group<TensorTest>('tensors.json', 'verify')) {
      const folder = temporaryFolder();
      const [x, q] = ['x.npy', 'q.safetensors'].map((name) => join(folder, name));
      writeFileSync(x!, bytes(t.input));
      writeFileSync(q!, bytes(t.quantized));
      const run = await fp4('verify', 'quantize', x!, q!);
      expect([run.stdout, run.code]).toEqual([t.stdout.map((line) => `${line}\n`).join(''), t.exit]);
    }
  });

  test.each(group<TensorTest>('tensors.json', 'diff').map((t) => [t.comment, t] as const))(
    '%s [TEN-17, TEN-21]',
    async (_, t) => {
      const folder = temporaryFolder();
      const ending = bytes(t.a).toString('latin1').startsWith('\x93NUMPY') ? 'npy' : 'safetensors';
      for (const side of ['a', 'b'] as const)
        writeFileSync(join(folder, `${side}.${ending}`), bytes(t[side]));
      const run = await fp4('diff', join(folder, `a.${ending}`), join(folder, `b.${ending}`));
      expect([run.stdout, run.code]).toEqual([t.stdout.map((line) => `${line}\n`).join(''), t.exit]);
    },
  );

  test.each(group<TensorTest>('tensors.json', 'tensor').map((t) => [t.family, t] as const))(
    '%s [TEN-18]',
    async (family, t) => {
      const folder = temporaryFolder();
      mkdirSync(folder, { recursive: true });
      const options = ['--family', family, '--seed', `${BigInt(`0x${t.seed}`)}`];
      const dtype = ['--dtype', t.dtype === 'f32' ? 'f4' : t.dtype];
      await fp4('tensor', t.shape.join('x'), '-o', join(folder, 'x.npy'), ...options, ...dtype);
      expect(hexOf(readFileSync(join(folder, 'x.npy')))).toBe(t.output);
    },
  );
});

interface FamilyTest {
  key: string;
  counter: string;
  words: string;
  family: string;
  number: number;
  type: string;
  seed: string;
  operand: number;
  first: number;
  channels: number;
  range?: [number, number];
}

describe('families.json [VEC-09]', () => {
  const hex = (word: number | bigint, digits: number): string => word.toString(16).padStart(digits, '0');

  test('known answers of the generator [RND-01]', () => {
    const answers = group<FamilyTest>('families.json', 'philox4x32-10');
    for (const { key, counter, words } of answers) {
      const [low, high] = key.split(' ').map((w) => BigInt(`0x${w}`));
      const [c0, c1, c2, c3] = counter.split(' ').map((w) => BigInt(`0x${w}`));
      const found = twinPhilox((high! << 32n) + low!, [c0!, c1!, c2!, c3!]);
      expect(words).toBe(found.map((w) => hex(w, 8)).join(' '));
    }
    expect(answers[0]!.words).toBe('6627e8d5 e169c58d bc57ac4c 9b00dbd8');
  });

  test('the words of every family, by the twin [RND-02, RND-03, RND-04, RND-05, RND-06, RND-07, RND-08, RND-09, RND-10]', () => {
    const tests = group<FamilyTest>('families.json', 'families');
    for (const t of tests) {
      const float = t.type === 'bf16' || t.type === 'f32';
      const digits = t.type === 'bf16' ? 4 : t.type === 'f32' ? 8 : Number(t.type.slice(1)) / 4;
      const common = { seed: BigInt(`0x${t.seed}`), operand: t.operand, channels: t.channels };
      const range = t.range === undefined ? {} : { low: t.range[0], high: t.range[1] };
      const wanted = t.words.split(' ').map((_, j) => {
        if (float) {
          const draw = {
            family: t.number,
            fraction: t.type === 'bf16' ? 7 : 23,
            ...common,
            ...range,
          } as const;
          return hex(twinElement(draw, t.first + j), digits);
        }
        const counter = [BigInt(t.first + j), 0n, BigInt(t.number), BigInt(16 * t.operand)] as const;
        return hex(twinPhilox(common.seed, counter)[0]! & ((1n << BigInt(4 * digits)) - 1n), digits);
      });
      expect([t.id, t.words]).toEqual([t.id, wanted.join(' ')]);
    }
    expect(new Set(tests.map(({ family, type }) => `${family} ${type}`)).size).toBe(8 * 2 + 3);
  });
});
