/** What verl and TRL gave (test/cases/frameworks), and how far a result may be from it. */
import { readFileSync } from 'node:fs';
import type { Dtype } from '../../src/grpo/float-arithmetic.ts';

export interface FrameworkCase {
  readonly id: string;
  readonly dtype: Dtype;
  readonly default_dtype: Dtype;
  readonly config: Record<string, unknown>;
  readonly notes: string[];
  // biome-ignore lint/suspicious/noExplicitAny: as the files have it
  readonly [name: string]: any;
}

export function frameworkCases(name: string): FrameworkCase[] {
  const text = readFileSync(new URL(`../cases/frameworks/${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const NAMED: Record<string, number> = { NaN: Number.NaN, Infinity: Infinity, '-Infinity': -Infinity };

/** A number of a case. */
export const number = (x: unknown): number => (typeof x === 'string' ? NAMED[x]! : (x as number));

export const numbers = (list: readonly unknown[]): number[] => list.map(number);

/** The distance of a number to the next larger one. */
export function ulp(x: number, dtype: Dtype): number {
  const bits = dtype === 'float64' ? 52 : 23;
  const least = dtype === 'float64' ? -1074 : -149;
  const magnitude = Math.abs(x);
  if (!Number.isFinite(magnitude)) return 0;
  let e = Math.floor(Math.log2(magnitude || 2 ** -1074));
  if (2 ** e > magnitude) e--;
  if (2 ** (e + 1) <= magnitude) e++;
  return 2 ** Math.max(e - bits, least);
}

/**
 * How far apart two numbers are, in ulps of the largest term; infinite where a NaN, an infinity, or the side of zero differ.
 * @param terms what was added up or rounded on the way
 */
export function distance(found: number, expected: number, dtype: Dtype, ...terms: number[]): number {
  if (Object.is(found, expected)) return 0;
  if (!Number.isFinite(found) || !Number.isFinite(expected)) return Number.POSITIVE_INFINITY;
  // A zero of the other sign, where nothing else differs.
  if (found === expected) return Number.POSITIVE_INFINITY;
  const largest = Math.max(...terms.filter(Number.isFinite).map(Math.abs), Math.abs(expected));
  return Math.abs(found - expected) / ulp(largest, dtype);
}
