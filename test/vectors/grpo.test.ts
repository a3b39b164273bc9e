/** grpo.json judged from outside: totals and gradients by dual numbers, advantages by plain formulas, logits by Math. */
import { describe, expect, test } from 'vitest';
import { parseHexNumbers } from '../../src/grpo/hex-numbers.ts';
import { parseStep } from '../../src/grpo/step-record.ts';
import { totalByDuals } from '../independent/grpo-by-duals.ts';
import { vectorFile } from './vectors.ts';

type Hex = string | string[];
interface AnswerVector {
  advantage: string;
  ratio: Hex;
  weight?: Hex;
  mask?: number[];
  grad: string[];
}
interface StepVector {
  comment: string;
  clauses: string[];
  step: { groups: { answers: { reward?: unknown }[] }[] };
  expected: { groups: { answers: AnswerVector[] }[]; loss: Record<string, string | null> };
  warnings: string[];
}

const groups = vectorFile<never>('grpo.json').groups as unknown as { subject: string; tests: unknown[] }[];
const testsOf = <T>(subject: string): T[] => groups.find((g) => g.subject === subject)!.tests as T[];
const steps = testsOf<StepVector>('step');

describe('steps', () => {
  test.each(steps.filter(({ warnings }) => warnings.length === 0))(
    '$comment',
    ({ step: value, expected }) => {
      const step = parseStep(value, '');
      const { dtype } = step.config;
      const hex = (words: Hex): number[] => [
        ...parseHexNumbers(typeof words === 'string' ? [words] : words, dtype, ''),
      ];
      const answers = expected.groups.flatMap((g) => g.answers);
      const inputs = step.groups.flatMap((g) => g.answers);
      const total = hex(expected.loss.total!)[0]!;
      const ratios = answers.flatMap((a) => hex(a.ratio));
      const epsilon = dtype === 'float64' ? 2 ** -52 : 2 ** -23;
      const given = {
        advantages: answers.map((a) => hex(a.advantage)[0]!),
        masks: answers.map((a, i) => a.mask ?? [...inputs[i]!.mask]),
        weights: answers.map((a, i) =>
          Array.from(inputs[i]!.mask, (_, j) => {
            const weights = a.weight === undefined ? [1] : hex(a.weight);
            return typeof a.weight === 'string' || a.weight === undefined ? weights[0]! : weights[j]!;
          }),
        ),
      };
      if (!ratios.every(Number.isFinite) || Number.isNaN(total)) return;
      answers.forEach((a, i) => {
        hex(a.grad).forEach((g, j) => {
          const exact = totalByDuals(step, step.config, given, i, j);
          const scale = Math.max(1, ...ratios);
          expect(Math.abs(g - exact.derivative)).toBeLessThan(64 * epsilon * scale);
          expect(Math.abs(total - exact.total)).toBeLessThan(64 * epsilon * scale);
        });
      });
    },
  );

  test('advantages by plain formulas [GRP-02] [GRP-03]', () => {
    let compared = 0;
    for (const { step: value, expected } of steps) {
      const { config, groups: parsed } = parseStep(value, '');
      if (config.dtype === 'float32' || (config.preset === 'trl' && config.scale === 'batch')) continue;
      const divide = config.preset === 'trl' ? config.scale === 'group' : config.divideByStd;
      parsed.forEach(({ answers }, g) => {
        const r = answers.map((a) => a.reward!);
        if (!r.every(Number.isFinite)) return;
        const mean = r.reduce((a, b) => a + b, 0) / r.length;
        const std = Math.sqrt(r.reduce((s, x) => s + (x - mean) ** 2, 0) / Math.max(1, r.length - 1));
        const epsilon = config.preset === 'trl' ? 1e-4 : 1e-6;
        const alone = r.length === 1 && config.preset !== 'trl';
        r.forEach((x, k) => {
          const exact = (x - (alone ? 0 : mean)) / (divide ? (alone ? 1 : std) + epsilon : 1);
          const [found] = parseHexNumbers([expected.groups[g]!.answers[k]!.advantage], 'float64', '');
          // Equal rewards: 1e-16 over epsilon in the plain formula, exactly 0 in the vector.
          expect(Math.abs(found! - exact)).toBeLessThan(std < 1e-12 ? 1e-9 : 1e-14);
          compared++;
        });
      });
    }
    expect(compared).toBeGreaterThan(100);
  });
});

interface LogitsVector {
  dtype: 'float32' | 'float64';
  logits: number[];
  temperature: number;
  expected: Record<string, Hex>;
}

test('logits by Math [GRP-16]', () => {
  for (const { dtype, logits, temperature, expected } of testsOf<LogitsVector>('logits')) {
    const x = logits.map((v) => v / temperature);
    const total = x.reduce((s, v) => s + Math.exp(v), 0);
    const lp = x.map((v) => v - Math.log(total));
    const h = -lp.reduce((s, v) => s + Math.exp(v) * v, 0);
    const exact: Record<string, number[]> = {
      logsumexp: [Math.log(total)],
      log_prob: lp,
      log_softmax: lp,
      entropy_verl: [h],
      entropy_trl: [h],
      grad_log_prob_0: lp.map((v, k) => ((k === 0 ? 1 : 0) - Math.exp(v)) / temperature),
      grad_entropy: lp.map((v) => (-Math.exp(v) * (v + h)) / temperature),
    };
    for (const [name, words] of Object.entries(expected)) {
      const found = parseHexNumbers(typeof words === 'string' ? [words] : words, dtype, '');
      found.forEach((value, k) => {
        expect(Math.abs(value - exact[name]![k]!), name).toBeLessThan(dtype === 'float64' ? 1e-14 : 1e-5);
      });
    }
  }
});

test('every clause of the page is there, and every refusal has a code', () => {
  const clauses = new Set(
    groups.flatMap((g) => (g.tests as { clauses: string[] }[]).flatMap((t) => t.clauses)),
  );
  const ids = Array.from({ length: 21 }, (_, k) => `GRP-${String(k + 1).padStart(2, '0')}`);
  expect(ids.filter((id) => !clauses.has(id))).toEqual([]);
  const refused = testsOf<{ error: string; exit: number }>('refused');
  expect(refused.length).toBeGreaterThan(20);
  expect(new Set(refused.map(({ error, exit }) => `${error} ${exit}`))).toEqual(
    new Set(['E_PARAMETER 2', 'E_LENGTH 2', 'E_JSON 2', 'E_NONFINITE 2']),
  );
});
