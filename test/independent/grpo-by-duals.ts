/**
 * The total loss of a step as one expression over dual numbers, differentiated forwards: a second road to every gradient.
 * Plain binary64, sums in order, written from the formulas; PyTorch's rules for ties (half to each side), clamps (bounds
 * included) and the absolute value (0 at 0). For finite data.
 */

import type { StepConfig, TrlConfig, VerlConfig } from '../../src/grpo/step-config.ts';
import type { Step } from '../../src/grpo/step-record.ts';
import { exp } from '../../src/number/elementary.ts';

/** A value and its derivative with respect to one log-prob. */
interface Dual {
  readonly v: number;
  readonly d: number;
}

const fixed = (v: number): Dual => ({ v, d: 0 });
const add = (a: Dual, b: Dual): Dual => ({ v: a.v + b.v, d: a.d + b.d });
const sub = (a: Dual, b: Dual): Dual => ({ v: a.v - b.v, d: a.d - b.d });
const mul = (a: Dual, b: Dual): Dual => ({ v: a.v * b.v, d: a.d * b.v + a.v * b.d });
const times = (a: Dual, k: number): Dual => ({ v: a.v * k, d: a.d * k });
const over = (a: Dual, k: number): Dual => ({ v: a.v / k, d: a.d / k });
const neg = (a: Dual): Dual => ({ v: -a.v, d: -a.d });
const expOf = (a: Dual): Dual => ({ v: exp(a.v), d: a.d * exp(a.v) });
const total = (list: readonly Dual[]): Dual => list.reduce(add, fixed(0));

function clampTo(a: Dual, low: number, high: number): Dual {
  if (a.v < low) return fixed(low);
  return a.v > high ? fixed(high) : a;
}

function larger(a: Dual, b: Dual): Dual {
  if (a.v === b.v) return { v: a.v, d: (a.d + b.d) / 2 };
  return a.v > b.v ? a : b;
}

const smaller = (a: Dual, b: Dual): Dual => neg(larger(neg(a), neg(b)));

function estimator(type: string, lp: Dual, ref: number, clamped: boolean): Dual {
  const d = sub(lp, fixed(ref));
  if (type.endsWith('+')) {
    const value = estimator(type.slice(0, -1), lp, ref, clamped);
    return { v: value.v, d: d.v * d.d };
  }
  if (type === 'kl' || type === 'k1') return d;
  if (type === 'abs') return d.v === 0 ? fixed(0) : times(d, Math.sign(d.v));
  if (type === 'mse' || type === 'k2') return times(mul(d, d), 0.5);
  const e = clamped ? clampTo(neg(d), -20, 20) : neg(d);
  const k3 = sub(sub(expOf(e), e), fixed(1));
  return clamped ? clampTo(k3, -10, 10) : k3;
}

/** What a step's result has that carries no gradient. */
export interface Given {
  readonly advantages: readonly number[];
  readonly masks: readonly (readonly number[])[];
  /** One number a token; 1 where weights are off. */
  readonly weights: readonly (readonly number[])[];
}

function aggregateVerl(mode: string, rows: Dual[][], { masks }: Given, c: VerlConfig): Dual {
  const lengths = masks.map((mask) => mask.reduce((a, b) => a + b, 0));
  const sums = rows.map((row, i) => total(row.filter((_, j) => masks[i]![j] === 1)));
  const tokens = c.batchTokens ?? lengths.reduce((a, b) => a + b, 0);
  const answers = c.globalBatch ?? lengths.filter((n) => n > 0).length;
  const padded = c.responseLength ?? Math.max(1, ...masks.map((mask) => mask.length));
  if (mode === 'token-mean') return over(times(total(sums), c.dpSize), tokens);
  if (mode === 'token-sum') return times(total(sums), c.dpSize);
  const each = mode === 'seq-mean-token-mean' ? sums.map((s, i) => over(s, lengths[i]! + 1e-8)) : sums;
  const mean = over(times(total(each), c.dpSize), answers);
  return mode === 'seq-mean-token-sum-norm' ? over(mean, c.lossScaleFactor ?? padded) : mean;
}

function verlTotal(step: Step, c: VerlConfig, lps: Dual[][], given: Given): Dual {
  const answers = step.groups.flatMap((g) => g.answers);
  const sequence = c.lossMode === 'gspo';
  const losses = lps.map((row, i) => {
    const { old_log_prob: old } = answers[i]!.tokens;
    const mask = given.masks[i]!;
    const n = Math.max(
      1,
      mask.reduce((a, b) => a + b, 0),
    );
    const mean = row.reduce((s, lp, j) => s + (mask[j] === 1 ? lp.v - old![j]! : 0), 0) / n;
    const a = given.advantages[i]!;
    return row.map((lp, j) => {
      const logRatio = sequence
        ? clampTo({ v: mean, d: lp.d }, Number.NEGATIVE_INFINITY, 10)
        : clampTo(sub(lp, fixed(old![j]!)), -20, 20);
      const r = expOf(logRatio);
      const m = larger(times(r, -a), times(clampTo(r, 1 - c.clipLow, 1 + c.clipHigh), -a));
      const loss = a < 0 && !sequence ? smaller(fixed(-a * c.clipC), m) : m;
      return times(loss, given.weights[i]![j]!);
    });
  });
  const policy = aggregateVerl(sequence ? 'seq-mean-token-mean' : c.aggregation, losses, given, c);
  const entropies = answers.map((a) => Array.from(a.tokens.entropy ?? [], fixed));
  const withEntropy = answers.some((a) => a.tokens.entropy !== undefined)
    ? sub(policy, times(aggregateVerl(c.aggregation, entropies, given, c), c.entropyCoef))
    : policy;
  if (c.klType === undefined) return withEntropy;
  const kl = lps.map((row, i) =>
    row.map((lp, j) => estimator(c.klType!, lp, answers[i]!.tokens.ref_log_prob![j]!, true)),
  );
  return add(withEntropy, times(aggregateVerl(c.aggregation, kl, given, c), c.klCoef));
}

function trlTotal(step: Step, c: TrlConfig, lps: Dual[][], given: Given): Dual {
  const answers = step.groups.flatMap((g) => g.answers);
  const lengths = given.masks.map((mask) =>
    Math.max(
      1,
      mask.reduce((a, b) => a + b, 0),
    ),
  );
  const valid = Math.max(
    1,
    given.masks.flat().reduce((a, b) => a + b, 0),
  );
  const rows = lps.map((row, i) => {
    const old = answers[i]!.tokens.old_log_prob;
    const mask = given.masks[i]!;
    const ratios = row.map((lp, j) => sub(lp, fixed(old ? old[j]! : lp.v)));
    const whole = over(total(ratios.map((l, j) => times(l, mask[j]!))), lengths[i]!);
    return row.map((lp, j) => {
      const r = expOf(c.level === 'sequence' ? whole : ratios[j]!);
      const a = given.advantages[i]!;
      const capped = c.delta === undefined ? r : clampTo(r, Number.NEGATIVE_INFINITY, c.delta);
      const clipped = clampTo(r, 1 - c.epsilon, 1 + c.epsilonHigh);
      const policy = times(neg(smaller(times(capped, a), times(clipped, a))), given.weights[i]![j]!);
      if (c.beta === 0) return times(policy, mask[j]!);
      const kl = estimator('k3', lp, answers[i]!.tokens.ref_log_prob![j]!, false);
      return times(add(policy, times(c.biasCorrection ? mul(kl, r) : kl, c.beta)), mask[j]!);
    });
  });
  const sums = rows.map(total);
  const items = c.itemsInBatch === undefined ? valid : c.itemsInBatch / c.processes;
  const loss = {
    grpo: () => over(over(total(sums.map((s, i) => over(s, lengths[i]!))), rows.length), c.accumulation),
    bnpo: () => over(over(total(sums), valid), c.accumulation),
    dr_grpo: () => over(over(total(sums), rows.length * c.maxCompletionLength), c.accumulation),
    dapo: () => over(total(sums), items),
  }[c.lossType]();
  const entropies = answers.flatMap((a, i) =>
    Array.from(a.tokens.entropy ?? [], (h, j) => h * given.masks[i]![j]!),
  );
  const entropy = entropies.reduce((a, b) => a + b, 0);
  const mean = c.lossType === 'dapo' ? entropy / items : entropy / valid / c.accumulation;
  return sub(loss, fixed(c.entropyCoef * mean));
}

/** The total and its derivative with respect to log-prob j of answer i (answers in a row). */
export function totalByDuals(
  step: Step,
  config: StepConfig,
  given: Given,
  i: number,
  j: number,
): { total: number; derivative: number } {
  const lps = step.groups
    .flatMap((g) => g.answers)
    .map((a, k) => Array.from(a.tokens.log_prob!, (v, l): Dual => ({ v, d: k === i && l === j ? 1 : 0 })));
  const { v, d } =
    config.preset === 'trl' ? trlTotal(step, config, lps, given) : verlTotal(step, config, lps, given);
  return { total: v, derivative: d };
}
