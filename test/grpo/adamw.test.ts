/** AdamW against PyTorch's recorded runs, and against fractions for what those leave out. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type AdamWConfig, adamwStep, initialState, KERNELS, type Kernel } from '../../src/grpo/adamw.ts';
import { DEFAULT_CONFIG, parseAdamWRecord, runAdamW } from '../../src/grpo/adamw-record.ts';
import type { Dtype } from '../../src/grpo/float-arithmetic.ts';
import { type Element, stepOf } from '../independent/adamw-by-fractions.ts';
import { randomWords } from '../independent/elementary-by-bounds.ts';

interface Recorded {
  readonly id: string;
  readonly steps: readonly Readonly<Record<string, string[]>>[];
}

const recorded = (name: string): Recorded[] =>
  readFileSync(new URL(`../cases/frameworks/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const RESULTS = ['param', 'exp_avg', 'exp_avg_sq', 'max_exp_avg_sq'];

const resultsOf = (steps: Recorded['steps']): object[] =>
  steps.map((step) =>
    Object.fromEntries(RESULTS.filter((name) => step[name]).map((name) => [name, step[name]])),
  );

/** What the record leaves out: all, or only PyTorch's square roots. */
const run = (record: Recorded, kernel: Kernel): object[] =>
  (runAdamW(parseAdamWRecord(record, ''), kernel) as { steps: object[] }).steps;

describe('PyTorch', () => {
  test.each(recorded('adamw').map((r) => [r.id, r] as const))(
    'single-tensor with its own roots: %s [ADW-04, ADW-05, ADW-07, ADW-08]',
    (_, record) => {
      expect(run(record, 'single-tensor')).toEqual(resultsOf(record.steps));
    },
  );

  test.each(recorded('adamw_fused').map((r) => [r.id, r] as const))(
    'fused: %s [ADW-04, ADW-05, ADW-06]',
    (_, record) => {
      expect(run(record, 'fused')).toEqual(resultsOf(record.steps));
    },
  );

  test('the kernels can be told apart by the records [ADW-05, ADW-08]', () => {
    const equal = (name: string, kernel: Kernel): number =>
      recorded(name).filter((r) => JSON.stringify(run(r, kernel)) === JSON.stringify(resultsOf(r.steps)))
        .length;
    expect(equal('adamw_fused', 'no-fma')).toBeLessThan(8);
    const withoutRoots = recorded('adamw').filter((r) => {
      const steps = r.steps.map(({ grad }) => ({ grad: grad! }));
      return JSON.stringify(run({ ...r, steps }, 'single-tensor')) === JSON.stringify(resultsOf(r.steps));
    });
    expect(withoutRoots.length).toBeLessThan(16);
  });
});

const CONFIGS: readonly Partial<AdamWConfig>[] = [
  {},
  { lr: 0.1, betas: [0.5, 0.9], eps: 1e-6, weight_decay: 0 },
  { lr: 0.01, betas: [0.4, 0.7], amsgrad: true },
  { lr: 0.001, betas: [0, 0.999], maximize: true, weight_decay: 0.5, eps: 1 },
  { lr: 0.003, betas: [0.95, 0.98], amsgrad: true, maximize: true, eps: 0 },
];

describe.each(['float32', 'float64'] as const)('%s against fractions', (dtype: Dtype) => {
  test.each(KERNELS)('%s, every option, lengths with a tail [ADW-01, ADW-03, ADW-05, ADW-06]', (kernel) => {
    const word = randomWords(kernel.length);
    const width = dtype === 'float32' ? 32 : 64;
    const round = dtype === 'float32' ? Math.fround : (x: number) => x;
    const lanes = dtype === 'float32' ? 8 : 4;
    for (const partial of CONFIGS) {
      const config: AdamWConfig = { ...DEFAULT_CONFIG, ...partial };
      const random = (scale: number): number => round((word() / 2 ** 32 - 0.5) * scale);
      const count = 11;
      const state = initialState(
        Float64Array.from({ length: count }, () => random(1)),
        config,
      );
      const elements: Element[] = Array.from(state.param, (p) => ({ p, m: 0, v: 0, largest: 0 }));
      for (let t = 1; t <= 4; t++) {
        const grad = Float64Array.from({ length: count }, () => random(2 ** ((word() % 20) - 14)));
        adamwStep(state, grad, config, dtype, kernel);
        for (let i = 0; i < count; i++) {
          const tail = kernel === 'fused' && i >= count - (count % lanes);
          const rules = {
            ...config,
            kernel: kernel === 'no-fma' ? ('no-fma' as const) : tail ? ('tail' as const) : ('fma' as const),
          };
          elements[i] = stepOf(elements[i]!, grad[i]!, t, rules, width);
          const { p, m, v, largest } = elements[i]!;
          expect([t, i, state.param[i], state.exp_avg[i], state.exp_avg_sq[i]]).toEqual([t, i, p, m, v]);
          if (config.amsgrad) expect(state.max_exp_avg_sq![i]).toBe(largest);
        }
      }
    }
  });
});

test('a step by hand [ADW-04]', () => {
  // m = 1/2 x 4 = 2, v = 1/4 x 16 = 4; corrections 1/2 and sqrt(1/4) = 1/2; 2 / (1/2) = 4 plus eps 4; 1 x (1 - 1/2) - (1/2 / (1/2)) 2 / 8.
  const config = { ...DEFAULT_CONFIG, lr: 0.5, betas: [0.5, 0.75] as const, eps: 4, weight_decay: 1 };
  const state = initialState(Float64Array.of(1), config);
  adamwStep(state, Float64Array.of(4), config, 'float64', 'no-fma');
  expect([...state.param, ...state.exp_avg, ...state.exp_avg_sq]).toEqual([0.25, 2, 4]);
});

test('a NaN gradient spoils its own element for good, and no other [ADW-07]', () => {
  const config = { ...DEFAULT_CONFIG, amsgrad: true };
  const state = initialState(Float64Array.of(1, 1), config);
  adamwStep(state, Float64Array.of(Number.NaN, 1), config, 'float32', 'fused');
  adamwStep(state, Float64Array.of(1, 1), config, 'float32', 'fused');
  expect([state.param[0], state.exp_avg[0], state.max_exp_avg_sq![0]]).toEqual([
    Number.NaN,
    Number.NaN,
    Number.NaN,
  ]);
  expect(state.param[1]).toBeLessThan(1);
});
