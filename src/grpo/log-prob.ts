/**
 * From logits to log-probs and entropy, and gradients back. Clauses: spec/grpo.md GRP-16.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { type StepFloat, sum } from './step-float.ts';

function checked(logits: readonly number[], temperature: number): void {
  if (logits.length === 0) throw new Fp4Error('E_LENGTH', 'logits: found none, expected at least one');
  if (!(temperature > 0))
    throw new Fp4Error('E_ARGUMENT', `temperature: found ${temperature}, expected a positive number`);
}

const largest = (x: readonly number[]): number => x.reduce((a, b) => (Number.isNaN(a) || a >= b ? a : b));

/** GRP-16. The temperature divides before anything else. */
export function scaledLogits(logits: readonly number[], temperature: number, { round }: StepFloat): number[] {
  checked(logits, temperature);
  const divisor = round(temperature);
  return logits.map((x) => round(x / divisor));
}

/** The sum of exp(x - largest), and log of it. An infinite largest is left out of the differences, as torch.logsumexp does. */
function shifted(x: readonly number[], f: StepFloat): { top: number; total: number } {
  const top = largest(x);
  const base = Number.isFinite(top) ? top : 0;
  return {
    top: base,
    total: sum(
      x.map((value) => f.exp(f.round(value - base))),
      f,
    ),
  };
}

/** GRP-16. largest + log(sum of exp(x - largest)). */
export function logSumExp(x: readonly number[], f: StepFloat): number {
  const { top, total } = shifted(x, f);
  return f.round(top + f.log(total));
}

export type LogProbForm = 'logsumexp' | 'log-softmax';

/** GRP-16. Of every token: x - logsumexp(x) as verl and TRL have it, or (x - largest) - log(sum) as torch.log_softmax has it. */
export function logProbs(
  logits: readonly number[],
  f: StepFloat,
  { temperature = 1, form = 'logsumexp' }: { temperature?: number; form?: LogProbForm } = {},
): number[] {
  const x = scaledLogits(logits, temperature, f);
  if (form === 'logsumexp') {
    const lse = logSumExp(x, f);
    return x.map((value) => f.round(value - lse));
  }
  const { top, total } = shifted(x, f);
  const logTotal = f.log(total);
  return x.map((value) => f.round(f.round(value - top) - logTotal));
}

/** exp(x - largest) / sum. */
function softmax(x: readonly number[], f: StepFloat): number[] {
  const { top, total } = shifted(x, f);
  return x.map((value) => f.round(f.exp(f.round(value - top)) / total));
}

/** GRP-16. verl: logsumexp - sum of p x. TRL: -sum of exp(lp) lp. */
export function entropy(
  logits: readonly number[],
  form: 'verl' | 'trl',
  f: StepFloat,
  temperature = 1,
): number {
  const x = scaledLogits(logits, temperature, f);
  if (form === 'verl') {
    const p = softmax(x, f);
    return f.round(
      logSumExp(x, f) -
        sum(
          x.map((value, k) => f.round(p[k]! * value)),
          f,
        ),
    );
  }
  return -sum(
    logProbs(x, f).map((lp) => f.round(f.exp(lp) * lp)),
    f,
  );
}

/**
 * GRP-16. The gradient with respect to each logit, given that with respect to one token's log-prob: g ([k = token] - p_k) / T.
 * @param token index of the token whose log-prob was taken
 */
export function logitGradient(
  logits: readonly number[],
  token: number,
  gradient: number,
  f: StepFloat,
  temperature = 1,
): number[] {
  const p = softmax(scaledLogits(logits, temperature, f), f);
  const divisor = f.round(temperature);
  return p.map((value, k) => f.round(f.round(gradient * f.round((k === token ? 1 : 0) - value)) / divisor));
}

/** GRP-16. The gradient of the entropy with respect to each logit: -p_k (log p_k + H) / T. */
export function entropyGradient(logits: readonly number[], f: StepFloat, temperature = 1): number[] {
  const lp = logProbs(logits, f, { temperature });
  const h = entropy(logits, 'trl', f, temperature);
  const divisor = f.round(temperature);
  return lp.map((value) => f.round(-f.round(f.exp(value) * f.round(value + h)) / divisor));
}
