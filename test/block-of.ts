/**
 * How the tests write blocks: the elements that matter by index, the others zero.
 * @module
 */
import type { FloatValue } from '../src/number/binary-format.ts';
import { fromBinary64 } from '../src/number/floats.ts';

/** 64 values of a unit, or 32 of a block: those given, the others +0. Numbers stand for themselves, -0 included. */
export const valuesOf = (count: 32 | 64, elements: Readonly<Record<number, number>>): FloatValue[] =>
  Array.from({ length: count }, (_, i) => fromBinary64(elements[i] ?? 0));

/** Codes as a string of hex digits, those given, the others 0. */
export const codesOf = (count: 32 | 64, codes: Readonly<Record<number, number>>): string =>
  Array.from({ length: count }, (_, i) => (codes[i] ?? 0).toString(16)).join('');

export const digits = (codes: readonly number[]): string => codes.map((c) => c.toString(16)).join('');

/** A value as a binary64 number; exact for the few bits the tests look at. */
export function numberOf(value: FloatValue): number {
  if (value.kind === 'nan') return Number.NaN;
  if (value.kind === 'infinite') return value.negative ? -Infinity : Infinity;
  const { significand, divisor, exponent } = value.magnitude;
  let x = Number(significand) / Number(divisor);
  for (let e = exponent; e !== 0; e -= Math.sign(e)) x = e > 0 ? x * 2 : x / 2;
  return value.negative ? -x : x;
}
