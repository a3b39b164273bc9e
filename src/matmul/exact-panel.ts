/**
 * Exact sums for whole panels of outputs, by the quickest way that is exact for each. Clauses: spec/gemm.md GEM-05 to GEM-08.
 * @module
 */
import type { FloatValue } from '../number/binary-format.ts';
import { fromBinary64 } from '../number/floats.ts';
import { exactElement } from './exact-dot.ts';
import { loadRows, plainSum, segmentOf, segmentsOf, wideSum } from './exact-pair.ts';
import { ALL_FINITE, HAS_NAN, type RowFacts, rowFacts, sumsAreExact } from './exact-rows.ts';
import { fitsSimd, SimdPanels } from './exact-simd.ts';
import { oddSum } from './odd-sum.ts';
import type { Operand } from './operand.ts';

/** The element of C at (row, column), an exact binary32 value in a number; undefined where there is no C. */
export type Addend = ((i: number, j: number) => number) | undefined;

/** A panel of outputs: rows i0.., columns j0.. of the product. */
export interface SumPanel {
  readonly i0: number;
  readonly j0: number;
  readonly rows: number;
  readonly columns: number;
  /** rows x columns. A sum that is no binary64 number is rounded to odd (GEM-08). */
  readonly sums: Float64Array;
}

/** Elements that a panel of the TypeScript path loads at most, 8 bytes each. */
const LOADED = 2 ** 16;
const MOST_ROWS = 128;
/** Multiplications that the plain path does in the milliseconds that a kernel takes to be made. */
const REPAYS_KERNEL = 2 ** 20;

/** A finite value, NaN or infinity as a number. */
function asNumber(value: FloatValue): number {
  if (value.kind === 'nan') return Number.NaN;
  if (value.kind === 'infinite') return value.negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  throw new RangeError('a sum with a term that is not finite is not finite');
}

export interface PanelOptions {
  /** Whether SIMD is taken where it can be; if absent, where the product is large enough to repay making a kernel. */
  readonly simd?: boolean;
}

/** The exact product of two operands, panel by panel. */
export class ExactProduct {
  readonly #a: Operand;
  readonly #b: Operand;
  readonly #factsA: RowFacts;
  readonly #factsB: RowFacts;
  readonly #segment: number;
  readonly #segments: number;
  readonly #panels: SimdPanels | undefined;

  constructor(a: Operand, b: Operand, { simd }: PanelOptions = {}) {
    this.#a = a;
    this.#b = b;
    this.#factsA = rowFacts(a);
    this.#factsB = rowFacts(b);
    this.#segment = segmentOf(a, b);
    this.#segments = segmentsOf(a, b);
    const wanted = simd ?? a.rows * b.rows * a.depth >= REPAYS_KERNEL;
    const fits = wanted && this.#segments > 0 && fitsSimd(a, this.#segment) && fitsSimd(b, this.#segment);
    this.#panels = fits ? SimdPanels.of(this.#segment, this.#segments, Math.max(a.rows, b.rows)) : undefined;
  }

  get facts(): readonly [RowFacts, RowFacts] {
    return [this.#factsA, this.#factsB];
  }

  /** Rows and columns of a panel. */
  get panelRows(): number {
    if (this.#panels) return this.#panels.rows;
    return Math.max(1, Math.min(MOST_ROWS, Math.floor(LOADED / (this.#segment * this.#segments))));
  }

  /** The panels of rows first to last - 1, in rows of panels. */
  *panels(first: number, last: number, c?: Addend): Generator<SumPanel> {
    const step = this.panelRows;
    for (let i = first; i < last; i += step) {
      const iEnd = Math.min(i + step, last);
      this.#panels?.loadLeft(this.#a, i, iEnd);
      for (let j = 0; j < this.#b.rows; j += step) {
        yield this.#panel(i, iEnd, j, Math.min(j + step, this.#b.rows), c);
      }
    }
  }

  #panel(i0: number, i1: number, j0: number, j1: number, c: Addend): SumPanel {
    const [rows, columns] = [i1 - i0, j1 - j0];
    const sums = new Float64Array(rows * columns);
    this.#panels?.loadRight(this.#b, j0, j1);
    const made = this.#panels?.run(rows, columns);
    let loaded: ReturnType<ExactProduct['loadPair']> | undefined;
    for (let r = 0; r < rows; r++) {
      for (let s = 0; s < columns; s++) {
        const [i, j] = [i0 + r, j0 + s];
        const addend = c?.(i, j) ?? 0;
        const kinds = this.#factsA.kind[i]! | this.#factsB.kind[j]!;
        if (kinds !== ALL_FINITE || !Number.isFinite(addend)) {
          sums[r * columns + s] = this.#notFinite(i, j, kinds, addend);
          continue;
        }
        const isExact = sumsAreExact(this.#a.depth, this.#factsA.spread[i]!, this.#factsB.spread[j]!);
        if (isExact && made) {
          sums[r * columns + s] = oddSum(made.outputs[r * made.stride + s]!, addend);
          continue;
        }
        loaded ??= this.loadPair(i0, i1, j0, j1);
        sums[r * columns + s] = isExact
          ? oddSum(plainSum(loaded.a, r, loaded.b, s), addend)
          : wideSum(loaded.a, r, loaded.b, s, addend);
      }
    }
    return { i0, j0, rows, columns, sums };
  }

  private loadPair(i0: number, i1: number, j0: number, j1: number) {
    return {
      a: loadRows(this.#a, i0, i1, this.#segment, this.#segments),
      b: loadRows(this.#b, j0, j1, this.#segment, this.#segments),
    };
  }

  /** GEM-06. A NaN anywhere in a row decides without a look at the terms. */
  #notFinite(i: number, j: number, kinds: number, addend: number): number {
    if ((kinds & HAS_NAN) !== 0 || Number.isNaN(addend)) return Number.NaN;
    return asNumber(exactElement(this.#a, i, this.#b, j, fromBinary64(addend)));
  }
}
