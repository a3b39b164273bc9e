/**
 * Where a monotone function of the definition changes, found by bisection on the words of its argument.
 * A table that is made of thresholds needs some dozens of the definition's answers each, not one for every word.
 * @module
 */
import { f32Value } from '../format/scalar.ts';
import type { Exact } from '../number/exact.ts';

/**
 * The smallest integer of (below, reached] at which a monotone condition holds; it holds at `reached`, not at `below`.
 * @param guess tried first, at the cost of two questions
 */
export function firstReaching(
  below: number,
  reached: number,
  holds: (word: number) => boolean,
  guess = reached,
): number {
  if (guess > below && guess < reached && holds(guess) && !holds(guess - 1)) return guess;
  let low = below;
  let high = reached;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** FP32 words of one binade. */
export const BINADE = 0x800000;
/** The FP32 word of 1. */
export const ONE = 0x3f800000;
export const INFINITY_WORD = 0x7f800000;

/** The magnitude of a finite FP32 word. */
export function magnitudeOf(word: number): Exact {
  const value = f32Value(word);
  if (value.kind !== 'finite') throw new RangeError('a finite word was expected');
  return value.magnitude;
}
