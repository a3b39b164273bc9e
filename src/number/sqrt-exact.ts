/**
 * The square root of an exact number, rounded once, half-even: the definition. Clauses: spec/elementary.md ELE-06.
 * @module
 */
import { type Exact, exact, floorLog2 } from './exact.ts';
import { type NumberFormat, toNumber } from './floats.ts';

/** floor(sqrt n) by Newton's iteration from above. */
function wholeRoot(n: bigint): bigint {
  if (n === 0n) return 0n;
  let root = 1n << BigInt((floorLog2(exact(n)) >> 1) + 1);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/**
 * ELE-06. The root of a positive dyadic number. Cut off well below the last place, with a bit set there for what was lost, it
 * rounds as the root does: it stands on the same side of every number of the format and of every midpoint.
 */
export function exactRoot(x: Exact, format: NumberFormat): number {
  const missing = Math.max(0, 2 * (format.precision + 4) - floorLog2(exact(x.significand)));
  const places = missing + ((x.exponent - missing) & 1); // so that the exponent is even
  const square = x.significand << BigInt(places);
  const root = wholeRoot(square);
  const sticky = root * root === square ? 0n : 1n;
  return toNumber(exact(2n * root + sticky, (x.exponent - places) / 2 - 1), format);
}
