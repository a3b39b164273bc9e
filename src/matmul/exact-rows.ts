/**
 * What is known of each row of an operand before it is multiplied: how far its values spread, and whether all are finite.
 * From it follows for a pair of rows whether binary64 sums of their products are exact. Clauses: spec/gemm.md GEM-07.
 * @module
 */
import { twoTo } from '../number/number-bits.ts';
import { FINITE, NAN, type Operand } from './operand.ts';

export const ALL_FINITE = 0;
export const HAS_NAN = 1;
/** Infinities, and no NaN. */
export const HAS_INFINITY = 2;

export interface RowFacts {
  /** Largest magnitude of the row over its quantum, the largest power of two that divides every value; 0 for a row of zeros. */
  readonly spread: Float64Array;
  /** ALL_FINITE, HAS_NAN or HAS_INFINITY. */
  readonly kind: Uint8Array;
  /** The quantum's exponent; 0 for a row of zeros. */
  readonly quantum: Int16Array;
  readonly largest: Float64Array;
}

/** Trailing zero bits of a nonzero 32-bit integer. */
const trailingZeros = (n: number): number => 31 - Math.clz32(n & -n);

/** Facts of every row. */
export function rowFacts(x: Operand): RowFacts {
  const { rows, groups, group, integers, significands, exponents, marks } = x;
  const facts = {
    spread: new Float64Array(rows),
    kind: new Uint8Array(rows),
    quantum: new Int16Array(rows),
    largest: new Float64Array(rows),
  };
  for (let row = 0; row < rows; row++) {
    let largest = 0;
    let quantum = Number.POSITIVE_INFINITY;
    for (let h = row * groups; h < (row + 1) * groups; h++) {
      if (marks[h] !== FINITE) {
        if (marks[h] === NAN) facts.kind[row] = HAS_NAN;
        else if (facts.kind[row] === ALL_FINITE) facts.kind[row] = HAS_INFINITY;
        continue;
      }
      let all = 0;
      let top = 0;
      for (let k = h * group; k < (h + 1) * group; k++) {
        const n = integers[k]!;
        const magnitude = n < 0 ? -n : n;
        all |= magnitude;
        if (magnitude > top) top = magnitude;
      }
      if (all === 0) continue;
      const zeros = trailingZeros(all) + trailingZeros(significands[h]!);
      quantum = Math.min(quantum, exponents[h]! + zeros);
      largest = Math.max(largest, top * significands[h]! * twoTo(exponents[h]!));
    }
    if (largest === 0) continue;
    facts.quantum[row] = quantum;
    facts.largest[row] = largest;
    facts.spread[row] = largest * twoTo(-quantum);
  }
  return facts;
}

/** Half of what binary64 counts exactly, so that the rounding of the comparison itself cannot matter. */
const EXACT_SPREAD = 2 ** 52;

/**
 * GEM-07. Whether every partial sum of the products of two rows, in any order, is a binary64 number: each is a multiple of
 * the product of the quanta, and below 2^53 of it.
 */
export const sumsAreExact = (depth: number, spreadA: number, spreadB: number): boolean =>
  depth * spreadA * spreadB <= EXACT_SPREAD;
