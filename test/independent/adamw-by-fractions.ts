/**
 * One element of AdamW in fractions: every value is a pair of integers, and rounding is a division of them. Written from the
 * formulas of spec/adamw.md; shares no code with src.
 */
import { dyadic, from32, from64, type Width } from './elementary-by-bounds.ts';

/** n / d, d positive. */
interface Fraction {
  readonly n: bigint;
  readonly d: bigint;
}

const fraction = (x: number): Fraction => {
  const { n, e } = dyadic(x);
  return e >= 0 ? { n: n << BigInt(e), d: 1n } : { n, d: 1n << BigInt(-e) };
};
const times = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.n, d: a.d * b.d });
const plus = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d });
const over = (a: Fraction, b: Fraction): Fraction =>
  b.n > 0n ? { n: a.n * b.d, d: a.d * b.n } : { n: -a.n * b.d, d: -a.d * b.n };

/** The code of the largest magnitude not above n / d, by bisection of the codes. */
function codeBelow({ n, d }: Fraction, width: Width): bigint {
  let low = 0n;
  let high = width === 64 ? 0x7ff0000000000000n : 0x7f800000n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    const m = fraction(width === 64 ? from64(middle) : from32(Number(middle)));
    if (m.n * d <= n * m.d) low = middle;
    else high = middle;
  }
  return low;
}

const at = (code: bigint, width: Width): number => (width === 64 ? from64(code) : from32(Number(code)));

/** The number nearest to a finite fraction well inside the range, ties to even. */
function nearest(x: Fraction, width: Width): number {
  if (x.n === 0n) return 0;
  const magnitude = x.n < 0n ? { n: -x.n, d: x.d } : x;
  const code = codeBelow(magnitude, width);
  const [a, b] = [fraction(at(code, width)), fraction(at(code + 1n, width))];
  const side = 2n * magnitude.n * a.d * b.d - magnitude.d * (a.n * b.d + b.n * a.d);
  const up = side > 0n || (side === 0n && (code & 1n) === 1n);
  const y = at(up ? code + 1n : code, width);
  return x.n < 0n ? -y : y;
}

/** The number nearest to the square root, by bisection of its square. */
function nearestRoot(x: Fraction, width: Width): number {
  if (x.n === 0n) return 0;
  let low = 0n;
  let high = width === 64 ? 0x7ff0000000000000n : 0x7f800000n;
  const notAbove = (m: Fraction): boolean => m.n * m.n * x.d <= x.n * m.d * m.d;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (notAbove(fraction(at(middle, width)))) low = middle;
    else high = middle;
  }
  const sum = plus(fraction(at(low, width)), fraction(at(low + 1n, width)));
  return at(notAbove({ n: sum.n, d: 2n * sum.d }) ? low + 1n : low, width);
}

export interface Element {
  p: number;
  m: number;
  v: number;
  largest: number;
}

export interface Rules {
  readonly lr: number;
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly weight_decay: number;
  readonly amsgrad: boolean;
  readonly maximize: boolean;
  /** `tail` is fused with the scalar path's second moment. */
  readonly kernel: 'fma' | 'tail' | 'no-fma';
}

/** Step t (from 1) of one element. */
export function stepOf(e: Element, grad: number, t: number, rules: Rules, width: Width): Element {
  const F = fraction;
  const one = F(1);
  const minus = (a: Fraction): Fraction => ({ n: -a.n, d: a.d });
  const r = (x: Fraction): number => nearest(x, width);
  /** A number formed in binary64 and rounded to the width. */
  const scalar = (x: Fraction): number => r(F(nearest(x, 64)));
  const power = (b: number): Fraction => {
    let product = one;
    for (let k = 0; k < t; k++) product = times(product, F(b));
    return F(nearest(product, 64));
  };
  const [b1, b2] = rules.betas;
  const g = rules.maximize ? -grad : grad;

  const decay = scalar(plus(one, minus(F(nearest(times(F(rules.lr), F(rules.weight_decay)), 64)))));
  const p = r(times(F(e.p), F(decay)));

  const w = scalar(plus(one, minus(F(b1))));
  const d = r(plus(F(g), minus(F(e.m))));
  const [weight, start] = w < 0.5 ? [w, e.m] : [r(plus(F(w), F(-1))), g];
  const product1 = times(F(weight), F(d));
  const m = r(plus(rules.kernel === 'no-fma' ? F(r(product1)) : product1, F(start)));

  const c2 = scalar(plus(one, minus(F(b2))));
  const scaled = r(times(F(c2), F(g)));
  const kept = times(F(e.v), F(r(F(b2))));
  const square = times(F(scaled), F(g));
  const v = r(
    rules.kernel === 'fma'
      ? plus(square, F(r(kept)))
      : rules.kernel === 'tail'
        ? plus(kept, F(r(square)))
        : plus(F(r(square)), F(r(kept))),
  );

  const largest = Math.max(e.largest, v);
  const root = nearestRoot(F(rules.amsgrad ? largest : v), width);
  const correction = r(F(nearestRoot(F(nearest(plus(one, minus(power(b2))), 64)), 64)));
  const denominator = r(plus(F(r(over(F(root), F(correction)))), F(r(F(rules.eps)))));
  const bias1 = F(nearest(plus(one, minus(power(b1))), 64));
  const stepSize = -r(F(nearest(over(F(rules.lr), bias1), 64)));
  const change = r(over(F(r(times(F(stepSize), F(m)))), F(denominator)));
  return { p: r(plus(F(p), F(change))), m, v, largest };
}
