/** elementary.json judged by midpoints, adamw.json by fractions. */
import { describe, expect, test } from 'vitest';
import { clipCoefficient } from '../../src/grpo/clip.ts';
import { type Element, type Rules, stepOf } from '../independent/adamw-by-fractions.ts';
import {
  from32,
  from64,
  isNearest,
  isNearestFma,
  isNearestRoot,
  type Transcendental,
} from '../independent/elementary-by-bounds.ts';
import { vectorFile } from './vectors.ts';

interface Point {
  readonly id: string;
  readonly comment: string;
  readonly x: string;
  readonly y: string;
}

const number = (word: string): number =>
  word.length === 16 ? from64(BigInt(`0x${word}`)) : from32(Number.parseInt(word, 16));

const groups = vectorFile<Point>('elementary.json').groups as unknown as {
  readonly function: string;
  readonly type: 'binary64' | 'binary32';
  readonly tests: readonly Point[];
}[];

describe.each(groups.map((g) => [g.function, g.type, g] as const))('%s in %s', (name, type, group) => {
  const width = type === 'binary64' ? 64 : 32;

  test('every answer is the nearest number [ELE-01, ELE-02, ELE-06, ELE-07]', () => {
    let judged = 0;
    for (const { x, y } of group.tests) {
      const args = x.split(' ').map(number);
      const answer = number(y);
      // Special values are written out in test/number/elementary.test.ts.
      if (!args.every(Number.isFinite) || Number.isNaN(answer)) continue;
      if (name === 'fma')
        expect([x, isNearestFma(args[0]!, args[1]!, args[2]!, answer, width)]).toEqual([x, true]);
      else if (name === 'sqrt' && args[0]! > 0)
        expect([x, isNearestRoot(args[0]!, answer, width)]).toEqual([x, true]);
      else if (['exp', 'expm1', 'log', 'log1p'].includes(name)) {
        const exact =
          args[0] === 0 || (name === 'log' && args[0] === 1) || (name === 'log1p' && args[0] === -1);
        if (exact) continue;
        expect([x, isNearest(name as Transcendental, args[0]!, answer, width)]).toEqual([x, true]);
      } else continue;
      judged++;
    }
    if (name !== 'power') expect(judged).toBeGreaterThan(5);
  });
});

interface Run {
  readonly kernel: 'fused' | 'single-tensor' | 'no-fma';
  readonly record: {
    readonly config: Partial<Omit<Rules, 'kernel'>>;
    readonly dtype: 'float32' | 'float64';
    readonly param: string[];
    readonly steps: { readonly grad: string[]; readonly sqrt?: string[] }[];
  };
  readonly expected: Readonly<Record<string, string[]>>[];
}

const DEFAULTS = {
  lr: 1e-6,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weight_decay: 0.01,
  amsgrad: false,
  maximize: false,
} as const;

test('runs of AdamW [ADW-04, ADW-05, ADW-06, ADW-11]', () => {
  const runs = vectorFile<Run>('adamw.json').groups.find(({ subject }) => subject === 'adamw')!.tests;
  for (const { kernel, record, expected } of runs) {
    const width = record.dtype === 'float32' ? 32 : 64;
    const tail = record.param.length % (width === 32 ? 8 : 4);
    record.param.forEach((word, i) => {
      let element: Element = { p: number(word), m: 0, v: 0, largest: 0 };
      record.steps.forEach(({ grad, sqrt }, t) => {
        if (sqrt !== undefined) return; // given roots are judged against PyTorch's own records
        const inTail = kernel === 'fused' && i >= record.param.length - tail;
        const rules: Rules = {
          ...DEFAULTS,
          ...record.config,
          kernel: kernel === 'no-fma' ? kernel : inTail ? 'tail' : 'fma',
        };
        element = stepOf(element, number(grad[i]!), t + 1, rules, width);
        const step = expected[t]!;
        expect([
          i,
          number(step['param']![i]!),
          number(step['exp_avg']![i]!),
          number(step['exp_avg_sq']![i]!),
        ]).toEqual([i, element.p, element.m, element.v]);
      });
    });
  }
});

test('clipping: the coefficient of the norm, once for all gradients [ADW-09, ADW-10]', () => {
  const clippings = vectorFile<{
    dtype: 'float32' | 'float64';
    max_norm: number;
    grads: string[][];
    expected: { total_norm: string; coefficient: string; grads: string[][] };
  }>('adamw.json').groups.find(({ subject }) => subject === 'clip')!.tests;
  for (const { dtype, max_norm, grads, expected } of clippings) {
    const coefficient = number(expected.coefficient);
    expect(coefficient).toBe(clipCoefficient(number(expected.total_norm), max_norm, dtype));
    const squares = grads.flat().reduce((sum, word) => sum + number(word) ** 2, 0);
    // Any order of the sum is within 40 roundings of the platform's.
    expect(Math.abs(number(expected.total_norm) / Math.sqrt(squares) - 1)).toBeLessThan(
      dtype === 'float32' ? 2 ** -18 : 2 ** -47,
    );
    grads.flat().forEach((word, i) => {
      const product = number(word) * coefficient;
      expect(number(expected.grads.flat()[i]!)).toBe(dtype === 'float32' ? Math.fround(product) : product);
    });
  }
});
