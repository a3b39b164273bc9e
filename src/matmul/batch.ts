/**
 * Products with leading dimensions: which rows of which operand belong together, and the shape of the result.
 * Clauses: spec/gemm.md GEM-04.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { rowsOfOperand } from './derived.ts';
import type { Operand } from './operand.ts';

/** An operand with its leading dimensions; its rows run through all of them. */
export interface BatchedOperand {
  readonly operand: Operand;
  /** Leading dimensions; none for one matrix. */
  readonly leading: readonly number[];
}

const product = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);

/** One matrix product of a batch. */
export interface Batch {
  /** How many products. */
  readonly count: number;
  /** M and N of each. */
  readonly rows: number;
  readonly columns: number;
  /** Of the result: leading dimensions, M, N. */
  readonly shape: readonly number[];
  /** Operands of product `index`. */
  readonly at: (index: number) => { readonly a: Operand; readonly b: Operand };
}

/**
 * GEM-04. The products of two operands: of equal leading dimensions one by one; one without any meets all of the other's.
 * @throws Fp4Error E_SHAPE
 */
export function batchOf(a: BatchedOperand, b: BatchedOperand): Batch {
  if (a.operand.depth !== b.operand.depth) {
    const found = `A has K = ${a.operand.depth}, B has K = ${b.operand.depth}`;
    throw new Fp4Error('E_SHAPE', `${found}; a product needs the same`);
  }
  const equal = a.leading.length === b.leading.length && a.leading.every((n, d) => n === b.leading[d]);
  if (!equal && a.leading.length > 0 && b.leading.length > 0) {
    const found = `A has [${a.leading.join(', ')}], B has [${b.leading.join(', ')}]`;
    throw new Fp4Error(
      'E_SHAPE',
      `leading dimensions differ: ${found}; expected equal ones, or none in one operand`,
    );
  }
  const leading = a.leading.length > 0 ? a.leading : b.leading;
  const count = product(leading);
  const [ofA, ofB] = [product(a.leading), product(b.leading)];
  const rows = ofA === 0 ? 0 : a.operand.rows / ofA;
  const columns = ofB === 0 ? 0 : b.operand.rows / ofB;
  const slice = (x: Operand, own: readonly number[], size: number, index: number): Operand =>
    own.length === 0 ? x : rowsOfOperand(x, index * size, (index + 1) * size);
  return {
    count,
    rows,
    columns,
    shape: [...leading, rows, columns],
    at: (index) => ({
      a: slice(a.operand, a.leading, rows, index),
      b: slice(b.operand, b.leading, columns, index),
    }),
  };
}
