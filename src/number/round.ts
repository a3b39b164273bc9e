/**
 * Rounding an exact number to an integer, under every rule a source uses.
 * Clauses: spec/conventions.md NUM-02.
 * @module
 */
import type { Exact } from './exact.ts';

/**
 * The rounding rules by the names of the parameter `ties`: half-even, half-away from zero, half towards zero, half up
 * (towards +infinity); then the directed ones: toward zero, up, down; and to odd (an inexact value goes to the odd neighbour).
 */
export const TIES = ['even', 'away', 'zero', 'up', 'truncate', 'ceil', 'floor', 'odd'] as const;
export type Ties = (typeof TIES)[number];

/** Where a magnitude lies between two neighbouring representable magnitudes. */
export type Position = 'exact' | 'below-half' | 'half' | 'above-half';

/**
 * NUM-02. Whether a magnitude that lies between two neighbours goes to the larger one.
 * @param lowerIsOdd whether the smaller neighbour's code is odd
 */
export function roundsAway(position: Position, lowerIsOdd: boolean, negative: boolean, ties: Ties): boolean {
  if (position === 'exact') return false;
  switch (ties) {
    case 'truncate':
      return false;
    case 'ceil':
      return !negative;
    case 'floor':
      return negative;
    case 'odd':
      return !lowerIsOdd;
  }
  if (position !== 'half') return position === 'above-half';
  switch (ties) {
    case 'even':
      return lowerIsOdd;
    case 'away':
      return true;
    case 'zero':
      return false;
    case 'up':
      return !negative;
  }
}

/** The integer below a magnitude (not negative) counted in units of 2^quantum, and where the magnitude lies above it. */
export function split(magnitude: Exact, quantum: number): { lower: bigint; position: Position } {
  const shift = magnitude.exponent - quantum;
  const numerator = shift >= 0 ? magnitude.significand << BigInt(shift) : magnitude.significand;
  const denominator = shift >= 0 ? magnitude.divisor : magnitude.divisor << BigInt(-shift);
  const lower = numerator / denominator;
  const rest = numerator - lower * denominator;
  if (rest === 0n) return { lower, position: 'exact' };
  const twice = rest << 1n;
  return {
    lower,
    position: twice < denominator ? 'below-half' : twice === denominator ? 'half' : 'above-half',
  };
}

/** A magnitude (not negative) rounded to an integer number of 2^quantum; `negative` is the sign that belongs to it. */
export function roundMagnitude(magnitude: Exact, quantum: number, negative: boolean, ties: Ties): bigint {
  const { lower, position } = split(magnitude, quantum);
  return roundsAway(position, (lower & 1n) === 1n, negative, ties) ? lower + 1n : lower;
}
