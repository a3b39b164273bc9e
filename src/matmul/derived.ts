/**
 * Operands made from an operand, so that one kernel gives what a bound needs: sums of magnitudes, and counts of nonzero products.
 * Clauses: spec/gemm.md BND-02.
 * @module
 */
import type { Operand } from './operand.ts';

/** Every element's magnitude. */
export const magnitudes = (x: Operand): Operand => ({
  ...x,
  integers: x.integers.map((n) => Math.abs(n)) as Operand['integers'],
});

/** 1 for every element that is not zero. */
export function indicators(x: Operand): Operand {
  return {
    ...x,
    integers: Int8Array.from(x.integers, (n) => (n === 0 ? 0 : 1)),
    significands: new Uint8Array(x.significands.length).fill(1),
    exponents: new Int16Array(x.exponents.length),
  };
}

/** Rows first to last - 1, sharing memory. */
export function rowsOfOperand(x: Operand, first: number, last: number): Operand {
  const width = x.groups * x.group;
  return {
    ...x,
    rows: last - first,
    integers: x.integers.subarray(first * width, last * width),
    significands: x.significands.subarray(first * x.groups, last * x.groups),
    exponents: x.exponents.subarray(first * x.groups, last * x.groups),
    marks: x.marks.subarray(first * x.groups, last * x.groups),
  };
}
