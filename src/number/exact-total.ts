/**
 * Sums of many binary64 numbers without rounding: one long integer in units of 2^-1074. Clauses: spec/conventions.md NUM-01.
 * @module
 */
import { type Exact, exact } from './exact.ts';
import { FLOAT, HIGH, LOW, WORDS } from './number-bits.ts';

const LOWEST = -1074;

/** What a sum of IEEE 754 numbers is when not all of them are finite; undefined where they are. */
export function nonfiniteSum(values: Iterable<number>): number | undefined {
  let sum: number | undefined;
  for (const x of values) if (!Number.isFinite(x)) sum = sum === undefined ? x : sum + x;
  return sum;
}

/** The sum of finite numbers. */
export function exactTotal(values: Iterable<number>): Exact {
  let sum = 0n;
  for (const x of values) {
    if (x === 0) continue;
    FLOAT[0] = x;
    const top = WORDS[HIGH]!;
    const field = (top >>> 20) & 0x7ff;
    const high = field === 0 ? top & 0xfffff : (top & 0xfffff) | 0x100000;
    const magnitude = BigInt(high * 2 ** 32 + WORDS[LOW]!) << BigInt(Math.max(field, 1) - 1);
    sum += x < 0 ? -magnitude : magnitude;
  }
  return exact(sum, LOWEST);
}
