/**
 * Gradient clipping by the norm over all tensors, as torch.nn.utils.clip_grad_norm_ has it on CPU.
 * Clauses: spec/adamw.md ADW-09, ADW-10.
 * @module
 */
import { add, fromNumber, isZero, multiply, ZERO } from '../number/exact.ts';
import { BINARY32, BINARY64 } from '../number/floats.ts';
import { exactRoot } from '../number/sqrt-exact.ts';
import { ARITHMETIC, type Dtype } from './float-arithmetic.ts';
import { LANES } from './vector-lanes.ts';

export const NORMS = ['torch', 'exact'] as const;
/** ADW-09. The order of the sum of squares. */
export type NormOrder = (typeof NORMS)[number];

/** ADW-09. The norm of one tensor in PyTorch's order: lanes, then the lanes one by one, then what no register was full of. */
function laneNorm(values: Float64Array, dtype: Dtype): number {
  const { round, fma, sqrt } = ARITHMETIC[dtype];
  const width = LANES[dtype];
  const lanes = new Float64Array(width);
  const vectorized = values.length - (values.length % width);
  for (let i = 0; i < vectorized; i++) {
    const x = values[i]!;
    lanes[i % width] = round(lanes[i % width]! + round(x * x));
  }
  let sum = lanes.reduce((a, b) => round(a + b));
  for (const x of values.subarray(vectorized)) sum = fma(x, x, sum);
  return sqrt(sum);
}

/** ADW-09. The root of the sum of all squares, rounded once. */
function exactNorm(tensors: readonly Float64Array[], dtype: Dtype): number {
  let sum = ZERO;
  let infinite = false;
  for (const x of tensors.flatMap((tensor) => [...tensor])) {
    if (Number.isNaN(x)) return Number.NaN;
    if (!Number.isFinite(x)) infinite = true;
    else sum = add(sum, multiply(fromNumber(x), fromNumber(x)));
  }
  if (infinite) return Number.POSITIVE_INFINITY;
  return isZero(sum) ? 0 : exactRoot(sum, dtype === 'float32' ? BINARY32 : BINARY64);
}

/** ADW-09. The norm over several tensors; PyTorch takes the norm of their norms. */
export function totalNorm(
  tensors: readonly Float64Array[],
  dtype: Dtype,
  order: NormOrder = 'torch',
): number {
  if (order === 'exact') return exactNorm(tensors, dtype);
  return laneNorm(
    Float64Array.from(tensors, (tensor) => laneNorm(tensor, dtype)),
    dtype,
  );
}

/** PyTorch's 1e-6, in the format. */
const EPS = 1e-6;

/** ADW-10. min(1, maxNorm x (1 / (norm + 1e-6))), every operation rounded; NaN where the norm is. */
export function clipCoefficient(norm: number, maxNorm: number, dtype: Dtype): number {
  const { round } = ARITHMETIC[dtype];
  return Math.min(1, round(round(1 / round(norm + round(EPS))) * round(maxNorm)));
}

export interface Clipped {
  readonly norm: number;
  readonly coefficient: number;
  readonly grads: readonly Float64Array[];
  /** A NaN or infinite norm: verl leaves the step out. PyTorch's gradients, with their NaN, are there all the same. */
  readonly skip: boolean;
}

/**
 * ADW-10. Gradients times the coefficient, each product rounded.
 * @param grads values of the format, held in numbers
 * @param norm the norm to go by; else that of the gradients in PyTorch's order
 */
export function clipByNorm(
  grads: readonly Float64Array[],
  maxNorm: number,
  dtype: Dtype,
  norm: number = totalNorm(grads, dtype),
): Clipped {
  const { round } = ARITHMETIC[dtype];
  const coefficient = clipCoefficient(norm, maxNorm, dtype);
  const clipped = grads.map((grad) => grad.map((g) => round(g * coefficient)));
  return { norm, coefficient, grads: clipped, skip: !Number.isFinite(norm) };
}
