/**
 * C = A B^T of operands, every output rounded once, or as an accumulator rounds. Clauses: spec/gemm.md GEM-05, GEM-09 to GEM-12.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { fromExact } from '../number/binary-format.ts';
import { type Exact, exact, fromNumber } from '../number/exact.ts';
import { fromBinary64 } from '../number/floats.ts';
import { exactSum, scaled, terms } from './exact-dot.ts';
import { type Addend, ExactProduct, type PanelOptions } from './exact-panel.ts';
import type { Operand } from './operand.ts';
import { type OutputName, outputWord, outputWords } from './output.ts';

/** An accumulator other than `exact`: the output word of row i of A and row j of B, c its starting value as an FP32 word. */
export type Accumulate = (a: Operand, i: number, b: Operand, j: number, c: number) => number;

export interface GemmOptions extends PanelOptions {
  readonly output?: OutputName;
  /** Absent: the exact sum, rounded once. */
  readonly accumulate?: Accumulate;
  /** M x N values of FP32, added: alpha A B^T + beta C. */
  readonly c?: Float32Array;
  /** 1 if absent, and it must be 1 for accumulators that round. */
  readonly alpha?: number;
  /** 1 if absent and there is a C; 0 or 1 for accumulators that round. With 0, C is not read. */
  readonly beta?: number;
}

/** @throws Fp4Error E_SHAPE where the operands' depths differ */
export function checkDepths(a: Operand, b: Operand): void {
  if (a.depth !== b.depth) {
    throw new Fp4Error('E_SHAPE', `A has K = ${a.depth}, B has K = ${b.depth}; a product needs the same`);
  }
}

interface Factors {
  readonly alpha: number;
  readonly beta: number;
}

/** GEM-11. @throws Fp4Error E_USAGE */
export function checkFactors({ alpha = 1, beta, c, accumulate }: GemmOptions): Factors {
  const known = { alpha, beta: beta ?? (c === undefined ? 0 : 1) };
  for (const [name, value] of Object.entries(known)) {
    if (!Number.isFinite(value))
      throw new Fp4Error('E_USAGE', `${name} is ${value}; expected a finite number`);
  }
  if (known.beta !== 0 && c === undefined) {
    throw new Fp4Error('E_USAGE', `beta is ${known.beta}, and there is no C that it scales`);
  }
  if (accumulate && (known.alpha !== 1 || ![0, 1].includes(known.beta))) {
    const found = `alpha = ${known.alpha}, beta = ${known.beta}`;
    throw new Fp4Error(
      'E_USAGE',
      `${found}: only exact takes them; other accumulators alpha = 1, beta = 0 or 1`,
    );
  }
  return known;
}

/** Where the outputs of a panel go. */
export type PutPanel = (words: Uint32Array, i0: number, j0: number, rows: number, columns: number) => void;

/** GEM-11. Outputs of alpha A B^T + beta C by the definition: nothing else has factors. */
function* factoredPanels(
  a: Operand,
  b: Operand,
  rows: readonly [number, number],
  { alpha, beta }: Factors,
  c: Addend,
  output: OutputName,
): Generator<[Uint32Array, number, number, number, number]> {
  const factor: Exact = fromNumber(alpha);
  for (let i = rows[0]; i < rows[1]; i++) {
    const words = new Uint32Array(b.rows);
    for (let j = 0; j < b.rows; j++) {
      const product = scaled(exactSum(terms(a, i, b, j)), factor);
      const addend = beta === 0 ? fromExact(exact(0)) : scaled(fromBinary64(c!(i, j)), fromNumber(beta));
      words[j] = outputWord(exactSum([product, addend]), output);
    }
    yield [words, i, 0, 1, b.rows];
  }
}

function* accumulatedPanels(
  a: Operand,
  b: Operand,
  rows: readonly [number, number],
  accumulate: Accumulate,
  c: Addend,
): Generator<[Uint32Array, number, number, number, number]> {
  const single = new Float32Array(1);
  const word = new Uint32Array(single.buffer);
  for (let i = rows[0]; i < rows[1]; i++) {
    const words = new Uint32Array(b.rows);
    for (let j = 0; j < b.rows; j++) {
      single[0] = c?.(i, j) ?? 0;
      words[j] = accumulate(a, i, b, j, word[0]!);
    }
    yield [words, i, 0, 1, b.rows];
  }
}

/** A product that is worked out a few rows of A at a time. */
export class Gemm {
  readonly #a: Operand;
  readonly #b: Operand;
  readonly #options: GemmOptions;
  readonly #factors: Factors;
  readonly #exact: ExactProduct | undefined;
  readonly output: OutputName;

  /** @throws Fp4Error E_SHAPE, E_LENGTH, E_USAGE */
  constructor(a: Operand, b: Operand, options: GemmOptions = {}) {
    checkDepths(a, b);
    this.#factors = checkFactors(options);
    const { c, accumulate, output = 'f32' } = options;
    if (c !== undefined && c.length !== a.rows * b.rows) {
      throw new Fp4Error('E_LENGTH', `C has ${c.length} elements; ${a.rows} x ${b.rows} are needed`);
    }
    this.#a = a;
    this.#b = b;
    this.#options = options;
    this.output = output;
    if (!accumulate && this.#factors.alpha === 1) this.#exact = new ExactProduct(a, b, options);
  }

  /** The panels of rows first to last - 1: words, first row and column, rows, columns. */
  *panels(first = 0, last = this.#a.rows): Generator<[Uint32Array, number, number, number, number]> {
    const { c, accumulate } = this.#options;
    const { alpha, beta } = this.#factors;
    const columns = this.#b.rows;
    const addend: Addend = c === undefined || beta === 0 ? undefined : (i, j) => c[i * columns + j]!;
    if (accumulate) {
      yield* accumulatedPanels(this.#a, this.#b, [first, last], accumulate, addend);
    } else if (this.#exact && (beta === 0 || beta === 1)) {
      for (const { sums, i0, j0, rows, columns: width } of this.#exact.panels(first, last, addend)) {
        yield [outputWords(sums, this.output), i0, j0, rows, width];
      }
    } else {
      yield* factoredPanels(this.#a, this.#b, [first, last], { alpha, beta }, addend, this.output);
    }
  }
}

/**
 * GEM-05. All of a product in memory.
 * @param a M rows of K elements
 * @param b N rows of K elements
 * @returns M x N words of the output type, row by row
 * @throws Fp4Error E_SHAPE, E_LENGTH, E_USAGE
 */
export function gemm(a: Operand, b: Operand, options: GemmOptions = {}): Uint32Array {
  const words = new Uint32Array(a.rows * b.rows);
  for (const [panel, i0, j0, rows, columns] of new Gemm(a, b, options).panels()) {
    for (let r = 0; r < rows; r++) {
      words.set(panel.subarray(r * columns, (r + 1) * columns), (i0 + r) * b.rows + j0);
    }
  }
  return words;
}
