/** Mismatch metrics against verl's own, where cases have them, and by hand. */
import { describe, expect, test } from 'vitest';
import { Fp4Error } from '../../src/error.ts';
import { mismatch } from '../../src/grpo/mismatch.ts';
import { mismatchChart } from '../../src/grpo/mismatch-chart.ts';
import { mismatchJson, mismatchText } from '../../src/grpo/mismatch-text.ts';
import { parseStep } from '../../src/grpo/step-record.ts';
import { frameworkCases, number } from './framework-cases.ts';

/** Some of verl's metrics pass through FP32, whatever the tensors are. */
const RELATIVE = 1e-6;

test("verl's metrics [GRP-21]", () => {
  let compared = 0;
  for (const file of ['verl_rollout', 'verl_step', 'verl_edges', 'verl_extra', 'verl_gspo']) {
    for (const c of frameworkCases(file)) {
      const groups = c.groups ?? [{ answers: c.answers.map((a: object) => ({ ...a, reward: 0 })) }];
      const has = groups.some((g: { answers: object[] }) => g.answers.some((a) => 'rollout_log_prob' in a));
      if (!has || c.expected.error || c.dtype !== 'float64') continue;
      const { metrics } = mismatch(parseStep({ config: c.config, groups }, c.id), 0);
      for (const [name, value] of Object.entries(c.expected.metrics)) {
        const key = name.startsWith('rollout_corr/') ? name : `rollout_corr/${name}`;
        if (name.startsWith('actor/')) continue;
        const expected = number(value);
        expect(metrics, `${c.id} ${key}`).toHaveProperty([key]);
        compared++;
        if (metrics[key] === expected) continue;
        expect(
          Math.abs(metrics[key]! - expected),
          `${c.id} ${key}: ${metrics[key]}, ${expected}`,
        ).toBeLessThanOrEqual(RELATIVE * Math.max(1, Math.abs(expected)));
      }
    }
  }
  expect(compared).toBeGreaterThan(100);
});

const LN2 = Math.LN2;
const ANSWERS = [
  // Ratios 2 and 1/2, and a masked one.
  { reward: 0, mask: [1, 1, 0], old_log_prob: [0, -LN2, 0], rollout_log_prob: [-LN2, 0, -9] },
  { reward: 0, mask: [1], old_log_prob: [-1], rollout_log_prob: [-1] },
];
const report = (config: object = {}, answers: object[] = ANSWERS) =>
  mismatch(parseStep({ config, groups: [{ answers }] }, 'S: '), 2);

describe('by hand [GRP-21]', () => {
  const n = 3 + 1e-8;
  test('metrics over the tokens', () => {
    const { metrics, tokens, sequences } = report();
    const of = (name: string) => metrics[`rollout_corr/${name}`]!;
    expect([tokens, sequences]).toEqual([3, 2]);
    expect(of('kl')).toBe(0);
    expect(of('rollout_is_mean')).toBe(3.5 / n);
    expect(of('rollout_is_max')).toBe(2);
    expect(of('rollout_is_min')).toBe(0.5);
    expect(of('chi2_token')).toBe((4 + 0.25 + 1) / n - 1);
    expect(of('chi2_seq')).toBe(0);
    expect(of('rollout_is_eff_sample_size')).toBeCloseTo(3.5 ** 2 / (3 * 5.25), 7);
    expect(of('rollout_is_seq_max')).toBe(2.5 / (2 + 1e-8));
    expect(of('log_ppl_diff_max')).toBe(0);
    expect(of('training_log_ppl')).toBeCloseTo((LN2 / 2 + 1) / 2, 7);
  });
  test('percentiles are ranks, the worst tokens come first', () => {
    const { ratio_percentiles: p, worst } = report();
    expect([p.p0, p.p25, p.p50, p.p75, p.p100]).toEqual([0.5, 0.5, 1, 2, 2]);
    expect(worst.map(({ path, ratio }) => [path, ratio])).toEqual([
      ['groups[0].answers[0][0]', 2],
      ['groups[0].answers[0][1]', 0.5],
    ]);
  });
  test('what corrections would do', () => {
    const effects = Object.fromEntries(report().effects.map((e) => [e.correction, e]));
    const tight = { ...ANSWERS[0], rollout_log_prob: [-2 * LN2, 0, -9] };
    const capped = report({}, [tight, ANSWERS[1]!]).effects[0]!;
    expect(effects['rollout_is=token 2']).toMatchObject({ tokens_changed: 0, tokens_dropped: 0 });
    expect(capped).toMatchObject({ tokens_changed: 1 / 3, tokens_dropped: 0, sequences_touched: 0.5 });
    expect(effects['rollout_rs=token_k1 0.5_2']).toMatchObject({ tokens_dropped: 0 });
    const dropped = report({}, [tight, ANSWERS[1]!]).effects.find((e) => e.correction.includes('token_k1'))!;
    expect(dropped).toMatchObject({ tokens_changed: 0, tokens_dropped: 1 / 3, sequences_touched: 0.5 });
    expect(dropped.mean_weight).toBe(1.5 / (2 + 1e-8));
  });
  test('a NaN ranks first; without old log-probs the new ones are compared', () => {
    const answers = [{ mask: [1, 1], log_prob: [-5, 'NaN'], rollout_log_prob: [-1, -1] }];
    expect(report({ preset: 'trl' }, answers).worst.map(({ log_ratio }) => log_ratio)).toEqual([
      Number.NaN,
      -4,
    ]);
  });
  test('nothing valid, nothing to compare', () => {
    expect(() => report({}, [{ reward: 0, mask: [0], old_log_prob: [-1], rollout_log_prob: [-1] }])).toThrow(
      'S: no mask has a valid token',
    );
    expect(() => report({}, [{ reward: 0, mask: [1], old_log_prob: [-1] }])).toThrow(Fp4Error);
  });
});

test('text, JSON and chart say the same [GRP-21]', () => {
  const one = report();
  const text = mismatchText(one).join('\n');
  expect(text).toContain('3 valid tokens in 2 sequences');
  expect(text).toMatch(/rollout_corr\/chi2_token +0.75\n/);
  expect(text).toMatch(/groups\[0\].answers\[0\]\[0\] .* 2\n/);
  const json = JSON.parse(mismatchJson([one]));
  expect(json.steps[0].metrics).toEqual(one.metrics);
  expect(json.steps[0]).not.toHaveProperty('points');
  const chart = mismatchChart([one]);
  expect(chart.match(/<circle /g)).toHaveLength(3);
  expect(chart).toMatch(/^<svg xmlns.*<\/svg>\n$/s);
  expect(chart).not.toMatch(/NaN|Infinity|undefined/);
});
