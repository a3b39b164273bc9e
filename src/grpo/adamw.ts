/**
 * AdamW with the order of rounding of torch.optim.AdamW on CPU. Clauses: spec/adamw.md ADW-01 to ADW-08.
 * @module
 */
import { sqrt } from '../number/elementary.ts';
import { wholePower } from '../number/power.ts';
import { ARITHMETIC, type Dtype, type FloatArithmetic } from './float-arithmetic.ts';
import { LANES } from './vector-lanes.ts';

/** ADW-02. By PyTorch's names. */
export interface AdamWConfig {
  readonly lr: number;
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly weight_decay: number;
  readonly amsgrad: boolean;
  readonly maximize: boolean;
}

export const KERNELS = ['fused', 'single-tensor', 'no-fma'] as const;
/** ADW-05. Which operations share a rounding. */
export type Kernel = (typeof KERNELS)[number];

/** Values of the format, held in numbers; all of one length. A step changes them in place. */
export interface AdamWState {
  /** Steps done. */
  step: number;
  readonly param: Float64Array;
  readonly exp_avg: Float64Array;
  readonly exp_avg_sq: Float64Array;
  /** With amsgrad: the largest exp_avg_sq so far. */
  readonly max_exp_avg_sq?: Float64Array;
}

/** ADW-03. The state before the first step: moments of +0. */
export const initialState = (param: Float64Array, { amsgrad }: AdamWConfig): AdamWState => ({
  step: 0,
  param: param.slice(),
  exp_avg: new Float64Array(param.length),
  exp_avg_sq: new Float64Array(param.length),
  ...(amsgrad ? { max_exp_avg_sq: new Float64Array(param.length) } : {}),
});

/** ADW-04. What is the same for all elements of a step: formed in binary64, then rounded once to the format. */
interface Scalars {
  readonly decay: number;
  /** 1 - beta1. */
  readonly weight1: number;
  readonly beta2: number;
  readonly weight2: number;
  readonly rootCorrection: number;
  readonly eps: number;
  readonly negativeStep: number;
}

function scalarsOf(config: AdamWConfig, step: number, { round }: FloatArithmetic): Scalars {
  const [beta1, beta2] = config.betas;
  return {
    decay: round(1 - config.lr * config.weight_decay),
    weight1: round(1 - beta1),
    beta2: round(beta2),
    weight2: round(1 - beta2),
    rootCorrection: round(sqrt(1 - wholePower(beta2, step))),
    eps: round(config.eps),
    negativeStep: round(-(config.lr / (1 - wholePower(beta1, step)))),
  };
}

/** The two moments of one element: (old moment, gradient) to new. */
interface Moments {
  readonly first: (m: number, g: number) => number;
  readonly second: (v: number, g: number) => number;
}

/** ADW-05. lerp as PyTorch has it: from whichever end is nearer. */
function firstMoment({ round, fma }: FloatArithmetic, weight: number, fused: boolean): Moments['first'] {
  const rest = round(weight - 1);
  if (weight < 0.5) {
    return fused ? (m, g) => fma(weight, round(g - m), m) : (m, g) => round(m + round(weight * round(g - m)));
  }
  return fused ? (m, g) => fma(rest, round(g - m), g) : (m, g) => round(g + round(rest * round(g - m)));
}

/** ADW-05. Which product shares the rounding of the sum: the gradient's, the old moment's, or none. */
function secondMoment(
  { round, fma }: FloatArithmetic,
  { beta2, weight2 }: Scalars,
  shared: 'gradient' | 'moment' | 'none',
): Moments['second'] {
  switch (shared) {
    case 'gradient':
      return (v, g) => fma(round(weight2 * g), g, round(v * beta2));
    case 'moment':
      return (v, g) => fma(v, beta2, round(round(weight2 * g) * g));
    case 'none':
      return (v, g) => round(round(v * beta2) + round(round(weight2 * g) * g));
  }
}

/** ADW-07. A NaN wins, on either side. */
const maximum = (a: number, b: number): number => (a > b || Number.isNaN(a) ? a : b);

/**
 * One step, in place.
 * @param grad values of the format
 * @param roots ADW-08, for `single-tensor`: the square roots someone else took of exp_avg_sq (max_exp_avg_sq with amsgrad)
 */
export function adamwStep(
  state: AdamWState,
  grad: Float64Array,
  config: AdamWConfig,
  dtype: Dtype,
  kernel: Kernel,
  roots?: Float64Array,
): void {
  const arithmetic = ARITHMETIC[dtype];
  const { round } = arithmetic;
  state.step++;
  const scalars = scalarsOf(config, state.step, arithmetic);
  const first = firstMoment(arithmetic, scalars.weight1, kernel !== 'no-fma');
  const body = secondMoment(arithmetic, scalars, kernel === 'no-fma' ? 'none' : 'gradient');
  const tail = kernel === 'fused' ? secondMoment(arithmetic, scalars, 'moment') : body;
  const { param, exp_avg, exp_avg_sq, max_exp_avg_sq } = state;
  // ADW-06
  const vectorized = param.length - (param.length % LANES[dtype]);
  for (let i = 0; i < param.length; i++) {
    const g = config.maximize ? -grad[i]! : grad[i]!;
    const m = first(exp_avg[i]!, g);
    const v = (i < vectorized ? body : tail)(exp_avg_sq[i]!, g);
    exp_avg[i] = m;
    exp_avg_sq[i] = v;
    let underRoot = v;
    if (max_exp_avg_sq) {
      underRoot = maximum(max_exp_avg_sq[i]!, v);
      max_exp_avg_sq[i] = underRoot;
    }
    const root = roots === undefined ? arithmetic.sqrt(underRoot) : roots[i]!;
    const denominator = round(round(root / scalars.rootCorrection) + scalars.eps);
    const decayed = round(param[i]! * scalars.decay);
    param[i] = round(decayed + round(round(scalars.negativeStep * m) / denominator));
  }
}
