/**
 * Exact numbers: an integer over an odd divisor, times a power of two. Dyadic unless something was divided.
 * Every definition of this project computes on them, so a result is rounded only where a clause says so.
 * Clauses: spec/conventions.md NUM-01.
 * @module
 */

/** significand / divisor x 2^exponent. The divisor is positive and need not be in lowest terms. */
export interface Exact {
  readonly significand: bigint;
  readonly divisor: bigint;
  readonly exponent: number;
}

export function exact(significand: bigint | number, exponent = 0): Exact {
  return { significand: BigInt(significand), divisor: 1n, exponent };
}

export const ZERO: Exact = exact(0n);
export const HALF: Exact = exact(1n, -1);

/** 2^exponent. */
export const powerOfTwo = (exponent: number): Exact => exact(1n, exponent);

/** x 2^k. */
export const scale = (x: Exact, k: number): Exact => ({ ...x, exponent: x.exponent + k });

export const isZero = (x: Exact): boolean => x.significand === 0n;

export const isNegative = (x: Exact): boolean => x.significand < 0n;

export const negate = (x: Exact): Exact => ({ ...x, significand: -x.significand });

export const absolute = (x: Exact): Exact => (isNegative(x) ? negate(x) : x);

export function multiply(a: Exact, b: Exact): Exact {
  return {
    significand: a.significand * b.significand,
    divisor: a.divisor * b.divisor,
    exponent: a.exponent + b.exponent,
  };
}

/** a / b; b must not be zero. */
export function divide(a: Exact, b: Exact): Exact {
  if (isZero(b)) throw new RangeError('division by an exact zero');
  const significand = a.significand * b.divisor;
  const divisor = a.divisor * b.significand;
  return {
    significand: divisor < 0n ? -significand : significand,
    divisor: divisor < 0n ? -divisor : divisor,
    exponent: a.exponent - b.exponent,
  };
}

export function add(a: Exact, b: Exact): Exact {
  const exponent = Math.min(a.exponent, b.exponent);
  const left = (a.significand * b.divisor) << BigInt(a.exponent - exponent);
  const right = (b.significand * a.divisor) << BigInt(b.exponent - exponent);
  return { significand: left + right, divisor: a.divisor * b.divisor, exponent };
}

export const subtract = (a: Exact, b: Exact): Exact => add(a, negate(b));

/** -1, 0 or 1, as a is below, equal to or above b. */
export function compare(a: Exact, b: Exact): -1 | 0 | 1 {
  const { significand } = subtract(a, b);
  return significand < 0n ? -1 : significand > 0n ? 1 : 0;
}

export const atLeast = (a: Exact, b: Exact): boolean => compare(a, b) >= 0;

export const maximum = (values: readonly Exact[]): Exact => values.reduce((a, b) => (atLeast(a, b) ? a : b));

function bitLength(n: bigint): number {
  if (n < 0x1_0000_0000n) return 32 - Math.clz32(Number(n));
  const hex = n.toString(16);
  return 4 * hex.length - (Math.clz32(Number.parseInt(hex[0]!, 16)) - 28);
}

/** floor(log2 x) of a positive x, exactly. */
export function floorLog2(x: Exact): number {
  if (x.significand <= 0n) throw new RangeError('floorLog2 needs a positive number');
  const guess = bitLength(x.significand) - bitLength(x.divisor);
  // The quotient of an m-bit by an n-bit integer lies in (2^(m-n-1), 2^(m-n+1)).
  const reached =
    guess >= 0 ? x.significand >= x.divisor << BigInt(guess) : x.significand << BigInt(-guess) >= x.divisor;
  return guess - (reached ? 0 : 1) + x.exponent;
}

/** ceil(log2 x) of a positive x, exactly. */
export function ceilLog2(x: Exact): number {
  const floor = floorLog2(x);
  return compare(powerOfTwo(floor), x) === 0 ? floor : floor + 1;
}

/** The exact value of a finite binary64 number; -0 gives 0. */
export function fromNumber(x: number): Exact {
  if (!Number.isFinite(x)) throw new RangeError(`${x} has no exact value`);
  if (x === 0) return ZERO;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & ((1n << 52n) - 1n);
  const magnitude = field === 0 ? fraction : fraction | (1n << 52n);
  return exact(x < 0 ? -magnitude : magnitude, Math.max(field, 1) - 1075);
}
