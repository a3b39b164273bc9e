/**
 * What quantizing a tensor cost, gathered piece by piece: every figure is exact until it is rounded once at the end, so it does
 * not depend on the pieces or on who gathered them. Clauses: spec/tensors.md TEN-11 to TEN-16, TEN-23.
 * @module
 */
import { divide, type Exact, exact, isZero } from '../number/exact.ts';
import { SumOfSquares } from '../number/exact-sum.ts';
import { toNumber } from '../number/floats.ts';
import { decibels } from '../number/log.ts';
import { addElement, addElements, type ElementCounts } from './error-sums.ts';

export interface TensorReport {
  /** Elements of the tensor; padding does not count, here or below. */
  readonly elements: number;
  readonly blocks: number;
  /** Mean of (x - y)^2 over all elements, x as read; null where an x or y is not finite, or it is beyond binary64. */
  readonly mse: number | null;
  /** 10 log10(sum x^2 / sum (x - y)^2) to 4 decimals; null where the error is 0 or an x or y is not finite. */
  readonly sqnr_db: number | null;
  /** Nonzero inputs that became zero, as a fraction of the nonzero inputs. */
  readonly underflow: number;
  /** Elements whose scaled value lies above the largest code, as a fraction of all. */
  readonly saturated: number;
  /** Elements whose input or output is a NaN or an infinity. */
  readonly nonfinite: number;
}

/** What was gathered, as plain data that another thread can add to its own. */
export interface ReportParts extends Readonly<ElementCounts> {
  readonly elements: number;
  readonly blocks: number;
  readonly saturated: number;
  /** Sum of x^2. */
  readonly signal: Exact;
  /** Sum of (x - y)^2. */
  readonly error: Exact;
}

/** A part of none is 0. */
const fraction = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** TEN-12. What is beyond binary64 has no number in JSON. */
const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);

export class ReportBuilder {
  readonly #signal = new SumOfSquares();
  readonly #error = new SumOfSquares();
  readonly #counts: ElementCounts = { nonzero: 0, underflowed: 0, nonfinite: 0 };
  #elements = 0;
  #blocks = 0;
  #saturated = 0;

  /** Elements as FP32 words: inputs as read, and values after quantizing. */
  elements(x: Uint32Array, y: Uint32Array): void {
    this.#elements += x.length;
    addElements(this.#signal, this.#error, this.#counts, x, y);
  }

  /** One element: its input as read, which FP32 may not hold, and its value after quantizing. */
  element(x: number, y: number): void {
    this.#elements++;
    addElement(this.#signal, this.#error, this.#counts, x, y);
  }

  /** Blocks, and how many of their elements saturated. */
  blocks(count: number, saturated: number): void {
    this.#blocks += count;
    this.#saturated += saturated;
  }

  parts(): ReportParts {
    return {
      ...this.#counts,
      elements: this.#elements,
      blocks: this.#blocks,
      saturated: this.#saturated,
      signal: this.#signal.value(),
      error: this.#error.value(),
    };
  }

  /** Adds what was gathered elsewhere. */
  add(parts: ReportParts): void {
    this.#counts.nonzero += parts.nonzero;
    this.#counts.underflowed += parts.underflowed;
    this.#counts.nonfinite += parts.nonfinite;
    this.#elements += parts.elements;
    this.#blocks += parts.blocks;
    this.#saturated += parts.saturated;
    this.#signal.addValue(parts.signal);
    this.#error.addValue(parts.error);
  }

  report(): TensorReport {
    const { nonzero, underflowed, nonfinite } = this.#counts;
    const known = nonfinite === 0;
    const signal = this.#signal.value();
    const error = this.#error.value();
    const comparable = known && !isZero(error) && !isZero(signal);
    return {
      elements: this.#elements,
      blocks: this.#blocks,
      mse: known ? finiteOrNull(toNumber(divide(error, exact(Math.max(this.#elements, 1))))) : null,
      sqnr_db: comparable ? decibels(signal, error) : null,
      underflow: fraction(underflowed, nonzero),
      saturated: fraction(this.#saturated, this.#elements),
      nonfinite,
    };
  }
}
