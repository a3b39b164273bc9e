/**
 * How far a sum may lie from the exact one: the bound for any order of FP32 additions, and that for a chain of a truncating
 * unit, on exact numbers, and the outputs that they admit. Clauses: spec/gemm.md BND-01 to BND-06, where the proofs are.
 * @module
 */
import { type FloatValue, fromExact } from '../number/binary-format.ts';
import { add, type Exact, exact, floorLog2, isZero, powerOfTwo, subtract, ZERO } from '../number/exact.ts';
import { type OutputName, outputWord } from './output.ts';

/** u of FP32: half a unit in the last place of 1. */
const UNIT_BITS = 24;

/** BND-02. What a bound knows of an output. */
export interface Magnitudes {
  /** Nonzero element products, and C where it is not zero. */
  readonly count: number;
  /** The sum of their magnitudes. */
  readonly total: Exact;
}

/** BND-02. */
export function magnitudesOf(values: Iterable<FloatValue>): Magnitudes {
  let count = 0;
  let total = ZERO;
  for (const value of values) {
    if (value.kind !== 'finite' || isZero(value.magnitude)) continue;
    count++;
    total = add(total, value.magnitude);
  }
  return { count, total };
}

/** (1 + 2^-24)^m - 1 in units of 2^(-24 m), by m: outputs of one product mostly share it, and it is a long power. */
const growths = new Map<number, bigint>();
const MOST_GROWTHS = 64;

function growth(m: number): bigint {
  const known = growths.get(m);
  if (known !== undefined) return known;
  const power = (1n + (1n << BigInt(UNIT_BITS))) ** BigInt(m) - (1n << BigInt(UNIT_BITS * m));
  if (growths.size === MOST_GROWTHS) growths.clear();
  growths.set(m, power);
  return power;
}

/** BND-01. ((1 + 2^-24)^(n-1) - 1) x total; 0 for no terms. */
export function fp32Bound({ count, total }: Magnitudes): Exact {
  if (count <= 1) return ZERO;
  const m = count - 1;
  return { ...total, significand: total.significand * growth(m), exponent: total.exponent - UNIT_BITS * m };
}

/** A unit that aligns, truncates and chains; BND-05 says what each means. */
export interface TruncatingModel {
  /** Terms of a step, C not counted. */
  readonly group: number;
  /** Fraction bits kept below the largest exponent. */
  readonly fractionBits: number;
  /** Fraction bits of each step's result. */
  readonly outputFractionBits: number;
  readonly outputRounding: 'truncate' | 'even';
  /** No alignment exponent lies below it. */
  readonly exponentFloor: number;
}

/** BND-05. Binades by which a chain's results can grow beyond the sum of magnitudes: rounding half-even can raise each of them. */
export const growthOf = ({ outputRounding, outputFractionBits }: TruncatingModel, steps: number): number =>
  outputRounding === 'even' ? Math.ceil(steps / 2 ** outputFractionBits) : 0;

/**
 * BND-05. The bound of a chain of ceil(depth / group) steps.
 * @param alignment no exponent that a product or a scale gives is above it
 */
export function truncatingBound(
  model: TruncatingModel,
  depth: number,
  { total }: Magnitudes,
  alignment: number,
): Exact {
  if (isZero(total)) return ZERO;
  const { group, fractionBits, outputFractionBits, exponentFloor } = model;
  const steps = Math.ceil(depth / group);
  const top = floorLog2(total) + growthOf(model, steps);
  const aligned = Math.max(top, alignment, exponentFloor);
  const terms = { ...exact(group + 1), exponent: aligned - fractionBits };
  const output = powerOfTwo(Math.max(top - outputFractionBits, -149));
  const step = add(terms, output);
  return { ...step, significand: step.significand * BigInt(steps) };
}

/** The outputs that an exact sum and a bound admit: all from the lower word's value to the upper one's. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** BND-03. round(sum - bound) and round(sum + bound), half-even to the output type. */
export const admitted = (sum: Exact, bound: Exact, output: OutputName): Range => ({
  low: outputWord(fromExact(subtract(sum, bound)), output),
  high: outputWord(fromExact(add(sum, bound)), output),
});

const SIGN: Readonly<Record<OutputName, number>> = { f32: 0x80000000, bf16: 0x8000, f16: 0x8000 };
const INFINITY: Readonly<Record<OutputName, number>> = { f32: 0x7f800000, bf16: 0x7f80, f16: 0x7c00 };

/** The place of a word that is no NaN in the order of values: neighbours differ by 1, zeros of either sign are 0. */
export function rank(word: number, output: OutputName): number {
  return word >= SIGN[output] ? SIGN[output] - word : word;
}

export const isNaNWord = (word: number, output: OutputName): boolean =>
  Math.abs(rank(word, output)) > INFINITY[output];

/** How many representable numbers a word lies outside a range; 0 inside. */
export function distance(word: number, { low, high }: Range, output: OutputName): number {
  const place = rank(word, output);
  return Math.max(0, rank(low, output) - place, place - rank(high, output));
}

/** BND-04. Largest partial sum that any order can reach, from above: total x (1 + 2^-24)^(n-1). */
export const reach = (m: Magnitudes): Exact => add(m.total, fp32Bound(m));
