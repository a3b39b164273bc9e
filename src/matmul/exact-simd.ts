/**
 * Panels of outputs by WebAssembly SIMD: eight products of 16-bit integers an instruction, sums of a segment times its two
 * scales added in binary64. For integers of 8 bits under scales that hold for 32 or 64 elements, which both formats are.
 * The outputs are exact where exact-rows.ts says so, and to be computed another way elsewhere. Clauses: spec/gemm.md GEM-07.
 * @module
 */
import { twoTo } from '../number/number-bits.ts';
import { type Instance, instantiate } from '../wasm/engine.ts';
import { type Local, wasmFunction } from '../wasm/function.ts';
import { type Expr, f64x2, i8x16, i32, i32x4, v128 } from '../wasm/instructions.ts';
import { assemble } from '../wasm/module.ts';
import type { Operand } from './operand.ts';

/** Outputs that are worked on at once: 8 sums and 6 operands stay in the 16 vector registers of x86-64. */
const ROWS = 2;
const COLUMNS = 4;
const LANES = 8;
const PAGE = 2 ** 16;
/** What an instance takes at most, unless a few rows need more. */
const MEMORY = 2 ** 21;

/** Lanes of two vectors of four, as the sixteen bytes of a shuffle. */
const lanes = (...picked: readonly number[]): number[] =>
  picked.flatMap((l) => [0, 1, 2, 3].map((b) => 4 * l + b));
const EVEN = lanes(0, 2, 4, 6);
const ODD = lanes(1, 3, 5, 7);
const UPPER = lanes(2, 3, 2, 3);

type Vector = Expr<'v128'>;

/** The sums of the lanes of four vectors, one a lane. */
function laneSums(four: readonly Vector[], keep: (v: Vector) => Vector): Vector {
  const pairs = (x: Vector, y: Vector): Vector =>
    keep(i32x4.add(i8x16.shuffle(x, y, EVEN), i8x16.shuffle(x, y, ODD)));
  return pairs(pairs(four[0]!, four[1]!), pairs(four[2]!, four[3]!));
}

/**
 * panel(a, aScales, b, bScales, out, rows, columns, segments): rows is a multiple of 2, columns of 4.
 * Integers stand row by row; a's scales likewise; b's as four columns a segment; outputs row by row. Addresses in bytes.
 */
function kernel(segment: number): Uint8Array<ArrayBuffer> {
  const word = 'i32' as const;
  const addresses = { a: word, aScales: word, b: word, bScales: word, out: word };
  const parameters = { ...addresses, rows: word, columns: word, segments: word };
  const panel = wasmFunction('panel', parameters, 'void', (f, p) => {
    const width = f.let(i32.mul(p.segments, segment));
    const keep = (v: Vector): Local<'v128'> => f.let(v);
    const i = f.let(i32.const(0));
    f.count(i, p.rows, ROWS, () => {
      const j = f.let(i32.const(0));
      f.count(j, p.columns, COLUMNS, () => {
        const sums = Array.from({ length: 2 * ROWS }, () => keep(zero));
        const rowAt = [0, 1].map((r) => f.let(i32.add(p.a, i32.mul(i32.add(i, r), width))));
        const columnAt = [0, 1, 2, 3].map((c) => f.let(i32.add(p.b, i32.mul(i32.add(j, c), width))));
        const scaleAt = [0, 1].map((r) =>
          f.let(i32.add(p.aScales, i32.mul(i32.mul(i32.add(i, r), p.segments), 8))),
        );
        const scalesAt = f.let(i32.add(p.bScales, i32.mul(i32.mul(j, p.segments), 8)));
        const s = f.let(i32.const(0));
        f.count(s, p.segments, 1, () => {
          const dots: Local<'v128'>[] = [];
          for (let k = 0; k < segment; k += LANES) {
            const x = rowAt.map((at) => keep(v128.load8x8_s(at, k)));
            for (let c = 0; c < COLUMNS; c++) {
              const y = keep(v128.load8x8_s(columnAt[c]!, k));
              for (let r = 0; r < ROWS; r++) {
                const product = i32x4.dot_i16x8_s(x[r]!, y);
                const at = r * COLUMNS + c;
                if (k === 0) dots[at] = keep(product);
                else f.set(dots[at]!, i32x4.add(dots[at]!, product));
              }
            }
          }
          const columnScales = [0, 16].map((offset) => keep(v128.load(scalesAt, offset)));
          for (let r = 0; r < ROWS; r++) {
            const four = keep(laneSums(dots.slice(r * COLUMNS, (r + 1) * COLUMNS), keep));
            const scale = keep(v128.load64_splat(scaleAt[r]!));
            const halves = [four, i8x16.shuffle(four, four, UPPER)];
            for (const [h, half] of halves.entries()) {
              const scales = f64x2.mul(scale, columnScales[h]!);
              const term = f64x2.mul(f64x2.convert_low_i32x4_s(half), scales);
              f.set(sums[2 * r + h]!, f64x2.add(sums[2 * r + h]!, term));
            }
          }
          for (const at of [...rowAt, ...columnAt]) f.set(at, i32.add(at, segment));
          for (const at of scaleAt) f.set(at, i32.add(at, 8));
          f.set(scalesAt, i32.add(scalesAt, 32));
        });
        for (let r = 0; r < ROWS; r++) {
          const at = f.let(i32.add(p.out, i32.mul(i32.add(i32.mul(i32.add(i, r), p.columns), j), 8)));
          for (let h = 0; h < 2; h++) f.do(v128.store(at, sums[2 * r + h]!, 16 * h));
        }
      });
    });
  });
  return assemble([panel]);
}

const zero = i32x4.const(0);

const roundUp = (n: number, step: number): number => Math.ceil(n / step) * step;

/** Whether the kernel takes an operand: 8-bit integers, and segments that fill vectors. */
export const fitsSimd = (x: Operand, segment: number): boolean =>
  x.integers instanceof Int8Array && segment % 32 === 0;

/** One instance for products of one depth; it is used for one panel after the other. */
export class SimdPanels {
  readonly #instance: Instance;
  readonly #segment: number;
  readonly #segments: number;
  /** Rows of either operand that a panel has at most. */
  readonly rows: number;

  private constructor(instance: Instance, segment: number, segments: number, rows: number) {
    this.#instance = instance;
    this.#segment = segment;
    this.#segments = segments;
    this.rows = rows;
  }

  /**
   * Undefined where the engine has no SIMD, or not the memory.
   * @param most rows that an operand has
   */
  static of(segment: number, segments: number, most: number): SimdPanels | undefined {
    const perRow = segments * (segment + 8);
    const fit = Math.floor(MEMORY / (2 * perRow));
    const rows = Math.max(COLUMNS, Math.min(128, roundUp(most, COLUMNS), fit - (fit % COLUMNS)));
    const bytes = 2 * rows * perRow + 8 * rows * rows + 64;
    const instance = instantiate(kernel(segment), Math.ceil(bytes / PAGE));
    return instance && new SimdPanels(instance, segment, segments, rows);
  }

  /** Where everything stands: both operands' integers, their scales, the outputs. */
  get #places() {
    const integers = this.rows * this.#segment * this.#segments;
    const scales = 8 * this.rows * this.#segments;
    const start = roundUp(2 * integers, 16);
    return { a: 0, b: integers, aScales: start, bScales: start + scales, out: start + 2 * scales };
  }

  /** Puts rows first to last - 1 of the left operand in place. */
  loadLeft(x: Operand, first: number, last: number): void {
    const { a, aScales } = this.#places;
    this.#load(x, first, last, a, roundUp(last - first, ROWS));
    const scales = new Float64Array(this.#instance.memory, aScales, this.rows * this.#segments);
    this.#eachScale(x, first, last, (row, s, scale) => {
      scales[row * this.#segments + s] = scale;
    });
  }

  /** Puts rows of the right operand in place. */
  loadRight(x: Operand, first: number, last: number): void {
    const { b, bScales } = this.#places;
    this.#load(x, first, last, b, roundUp(last - first, COLUMNS));
    const scales = new Float64Array(this.#instance.memory, bScales, this.rows * this.#segments);
    this.#eachScale(x, first, last, (row, s, scale) => {
      const block = row - (row % COLUMNS);
      scales[block * this.#segments + s * COLUMNS + (row % COLUMNS)] = scale;
    });
  }

  #load(x: Operand, first: number, last: number, at: number, padded: number): void {
    const width = this.#segment * this.#segments;
    const integers = new Int8Array(this.#instance.memory, at, padded * width);
    const rowLength = x.groups * x.group;
    if (rowLength === width) {
      integers.set(x.integers.subarray(first * width, last * width) as Int8Array);
    } else {
      for (let r = 0; r < last - first; r++) {
        const from = (first + r) * rowLength;
        integers.set(x.integers.subarray(from, from + width) as Int8Array, r * width);
      }
    }
    integers.fill(0, (last - first) * width);
  }

  #eachScale(
    x: Operand,
    first: number,
    last: number,
    set: (row: number, segment: number, scale: number) => void,
  ): void {
    const perGroup = x.group / this.#segment;
    for (let r = 0; r < last - first; r++) {
      for (let s = 0; s < this.#segments; s++) {
        const h = (first + r) * x.groups + Math.floor(s / perGroup);
        set(r, s, x.significands[h]! * twoTo(x.exponents[h]!));
      }
    }
  }

  /**
   * The outputs of what was loaded.
   * @returns row by row, the columns rounded up to a multiple of 4; valid until the next call
   */
  run(rows: number, columns: number): { readonly outputs: Float64Array; readonly stride: number } {
    const { a, b, aScales, bScales, out } = this.#places;
    const stride = roundUp(columns, COLUMNS);
    const padded = roundUp(rows, ROWS);
    this.#instance.functions['panel']!(a, aScales, b, bScales, out, padded, stride, this.#segments);
    return { outputs: new Float64Array(this.#instance.memory, out, padded * stride), stride };
  }
}
