/**
 * The definition of a product's element: a sum of exact products, on exact numbers, and what NaN and infinities make of it.
 * Everything faster in this room is proven equal to this. Clauses: spec/gemm.md GEM-05, GEM-06.
 * @module
 */
import type { FloatValue } from '../number/binary-format.ts';
import { fromExact, NAN as NAN_VALUE } from '../number/binary-format.ts';
import { add, type Exact, exact, multiply, ZERO } from '../number/exact.ts';
import { FINITE, MINUS_INFINITY, NAN, type Operand } from './operand.ts';

/** Element k of a row: its exact value, or the mark of its group. */
function element(x: Operand, row: number, k: number): { mark: number; value: Exact } {
  const h = row * x.groups + Math.floor(k / x.group);
  const integer = x.integers[row * x.groups * x.group + k]!;
  return { mark: x.marks[h]!, value: exact(BigInt(integer) * BigInt(x.significands[h]!), x.exponents[h]!) };
}

const sign = ({ mark, value }: { mark: number; value: Exact }): number => {
  if (mark === FINITE) return value.significand < 0n ? -1 : value.significand > 0n ? 1 : 0;
  return mark === MINUS_INFINITY ? -1 : 1;
};

/** GEM-06. The product of two elements of which one at least is not finite. */
function nonfiniteProduct(x: { mark: number; value: Exact }, y: { mark: number; value: Exact }): FloatValue {
  const s = sign(x) * sign(y);
  if (x.mark === NAN || y.mark === NAN || s === 0) return NAN_VALUE;
  return { kind: 'infinite', negative: s < 0 };
}

/** GEM-05. The terms of an output in the order of K, zero products included; none of those that are not finite. */
export function* terms(a: Operand, i: number, b: Operand, j: number): Generator<FloatValue> {
  for (let k = 0; k < a.depth; k++) {
    const x = element(a, i, k);
    const y = element(b, j, k);
    if (x.mark === FINITE && y.mark === FINITE) yield fromExact(multiply(x.value, y.value));
    else yield nonfiniteProduct(x, y);
  }
}

const signed = (value: FloatValue): Exact => {
  if (value.kind !== 'finite') throw new RangeError('only a finite value is an exact number');
  const { negative, magnitude } = value;
  return negative ? { ...magnitude, significand: -magnitude.significand } : magnitude;
};

/** GEM-06. A sum of values: exact, NaN where a NaN or infinities of both signs are among them, else the infinity. */
export function exactSum(values: Iterable<FloatValue>): FloatValue {
  let sum: Exact = ZERO;
  let infinite: FloatValue | undefined;
  for (const value of values) {
    if (value.kind === 'nan') return NAN_VALUE;
    if (value.kind === 'finite') sum = add(sum, signed(value));
    else if (infinite?.kind === 'infinite' && infinite.negative !== value.negative) return NAN_VALUE;
    else infinite = value;
  }
  return infinite ?? fromExact(sum);
}

/** A value times a factor; zero times an infinity is NaN. */
export function scaled(value: FloatValue, factor: Exact): FloatValue {
  if (value.kind === 'nan') return value;
  if (value.kind === 'finite') return fromExact(multiply(signed(value), factor));
  if (factor.significand === 0n) return NAN_VALUE;
  return { kind: 'infinite', negative: value.negative !== factor.significand < 0n };
}

/**
 * GEM-05, GEM-10. Element (i, j): the sum of products, and C's element, not rounded.
 * @param c added, if given
 */
export const exactElement = (a: Operand, i: number, b: Operand, j: number, c?: FloatValue): FloatValue =>
  exactSum(c === undefined ? terms(a, i, b, j) : [...terms(a, i, b, j), c]);
