/**
 * What quantizing a tensor cost, gathered piece by piece: every figure is exact until it is rounded once at the end.
 * Clauses: spec/tensors.md TEN-11 to TEN-16.
 * @module
 */
import { divide, exact, isZero } from '../number/exact.ts';
import { SumOfSquares } from '../number/exact-sum.ts';
import { toNumber } from '../number/floats.ts';
import { decibels } from '../number/log.ts';

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

/** A part of none is 0. */
const fraction = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** TEN-12. What is beyond binary64 has no number in JSON. */
const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);

export class ReportBuilder {
  readonly #signal = new SumOfSquares();
  readonly #error = new SumOfSquares();
  #elements = 0;
  #blocks = 0;
  #nonzero = 0;
  #underflowed = 0;
  #saturated = 0;
  #nonfinite = 0;

  /** One element: its input as read, and its value after quantizing. */
  element(x: number, y: number): void {
    this.#elements++;
    // TEN-14. A NaN is neither zero nor a number that could become zero.
    if (x !== 0 && !Number.isNaN(x)) {
      this.#nonzero++;
      if (y === 0) this.#underflowed++;
    }
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      this.#nonfinite++;
      return;
    }
    this.#signal.addSquare(x);
    this.#error.addSquaredDifference(x, y);
  }

  /** One block and how many of its elements saturated. */
  block(saturated: number): void {
    this.#blocks++;
    this.#saturated += saturated;
  }

  report(): TensorReport {
    const known = this.#nonfinite === 0;
    const signal = this.#signal.value();
    const error = this.#error.value();
    const comparable = known && !isZero(error) && !isZero(signal);
    return {
      elements: this.#elements,
      blocks: this.#blocks,
      mse: known ? finiteOrNull(toNumber(divide(error, exact(Math.max(this.#elements, 1))))) : null,
      sqnr_db: comparable ? decibels(signal, error) : null,
      underflow: fraction(this.#underflowed, this.#nonzero),
      saturated: fraction(this.#saturated, this.#elements),
      nonfinite: this.#nonfinite,
    };
  }
}
