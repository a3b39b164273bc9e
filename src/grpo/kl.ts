/**
 * Estimators of the KL divergence from the reference policy, one token each, with the gradients that autograd gives them.
 * Sources: J. Schulman, Approximating KL Divergence (k1, k2, k3); verl, TRL. Clauses: spec/grpo.md GRP-11.
 * @module
 */
import type { StepFloat } from './step-float.ts';
import { clamp, clampGradient } from './tie-gradient.ts';

const KINDS = { kl: 'k1', k1: 'k1', abs: 'abs', mse: 'k2', k2: 'k2', low_var_kl: 'k3', k3: 'k3' } as const;

/** verl's names; a + keeps the value and takes the gradient of k2, the true one in expectation. */
export const KL_TYPES: readonly string[] = Object.keys(KINDS).flatMap((name) => [name, `${name}+`]);

export interface TokenKl {
  readonly value: number;
  /** The gradient with respect to the new log-prob, for that of the value. */
  readonly gradient: (valueGradient: number) => number;
}

const LARGEST_EXPONENT = 20;
const LARGEST_K3 = 10;

function verlK3(logProb: number, ref: number, { round, exp }: StepFloat): TokenKl {
  const unbounded = round(ref - logProb);
  const e = clamp(unbounded, -LARGEST_EXPONENT, LARGEST_EXPONENT);
  const ratio = exp(e);
  const k3 = round(round(ratio - e) - 1);
  return {
    value: clamp(k3, -LARGEST_K3, LARGEST_K3),
    gradient: (g) => {
      const inner = clampGradient(g, k3, -LARGEST_K3, LARGEST_K3);
      const ofE = round(round(inner * ratio) - inner);
      return -clampGradient(ofE, unbounded, -LARGEST_EXPONENT, LARGEST_EXPONENT);
    },
  };
}

function squared(d: number, { round }: StepFloat): TokenKl {
  return { value: round(round(d * d) * 0.5), gradient: (g) => round(round(g * 0.5) * round(2 * d)) };
}

/** GRP-11. verl's kl_loss_type. */
export function verlKl(type: string, logProb: number, ref: number, f: StepFloat): TokenKl {
  const straight = type.endsWith('+');
  const kind = KINDS[(straight ? type.slice(0, -1) : type) as keyof typeof KINDS];
  const d = f.round(logProb - ref);
  const plain = ((): TokenKl => {
    if (kind === 'k1') return { value: d, gradient: (g) => g };
    if (kind === 'abs')
      return { value: Math.abs(d), gradient: (g) => f.round(g * (Number.isNaN(d) ? 0 : Math.sign(d))) };
    return kind === 'k2' ? squared(d, f) : verlK3(logProb, ref, f);
  })();
  if (!straight) return plain;
  const { value, gradient } = squared(d, f);
  // Written as k2 - k2 + value there: an infinite k2 leaves a NaN.
  return { value: f.round(f.round(value - value) + plain.value), gradient };
}

/** GRP-11. TRL's: k3 without clamps. */
export function trlKl(logProb: number, ref: number, { round, exp }: StepFloat): TokenKl {
  const e = round(ref - logProb);
  const ratio = exp(e);
  return {
    value: round(round(ratio - e) - 1),
    gradient: (g) => round(-round(g * ratio) + g),
  };
}
