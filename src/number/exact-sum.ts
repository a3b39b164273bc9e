/**
 * Exact sums of squares of binary64 numbers, fast enough for whole tensors.
 * A sum is one long integer in digits of 32 bits, so its value does not depend on the order of the terms or on the engine.
 * Clauses: spec/conventions.md NUM-01, spec/tensors.md TEN-12.
 * @module
 */
import { add, type Exact, exact, fromNumber, multiply, subtract, ZERO } from './exact.ts';
import { FLOAT, HIGH, LOW, WORDS } from './number-bits.ts';

/** Weight of the lowest bit: 2^-1074, the smallest positive binary64 number. */
const LOWEST = -1074;
/** Enough digits for any finite binary64 number, with one above for the carries. */
const DIGITS = 67;
const RADIX = 2 ** 32;
/** An addition changes a digit by less than 2^33, and a digit is exact up to 2^53. */
const ADDITIONS_BETWEEN_CARRIES = 2 ** 19;

/** Where the square of d, and the error of its rounding, neither overflow nor lose bits below 2^-1074. */
const SMALLEST_SQUARED = 2 ** -480;
const LARGEST_SQUARED = 2 ** 500;
/** Veltkamp's constant: splits a 53-bit significand into two of 26 bits. */
const SPLITTER = 2 ** 27 + 1;

export class SumOfSquares {
  readonly #digits = new Float64Array(DIGITS);
  #additions = 0;
  /** What the digits do not take: squares out of range, and squares of differences that no binary64 number holds. */
  #rest: Exact = ZERO;

  /** Adds x^2; x is finite. */
  addSquare(x: number): void {
    const magnitude = Math.abs(x);
    if (magnitude >= SMALLEST_SQUARED && magnitude <= LARGEST_SQUARED) this.#addProduct(x);
    else if (x !== 0) this.#addExact(fromNumber(x));
  }

  /** Adds x itself, which is finite: a sum of squares that was already added up exactly. */
  addSum(x: number): void {
    if (x !== 0) this.#add(x);
  }

  /** Adds the value of another sum. */
  addValue(sum: Exact): void {
    this.#rest = add(this.#rest, sum);
  }

  /** Adds (x - y)^2, the difference not rounded; both are finite. */
  addSquaredDifference(x: number, y: number): void {
    const difference = x - y;
    // Knuth's two-sum: the rounding error of the difference, exact unless something overflowed (then it is not 0 but NaN).
    const back = difference - x;
    const error = x - (difference - back) - (y + back);
    if (error === 0) this.addSquare(difference);
    else this.#addExact(subtract(fromNumber(x), fromNumber(y)));
  }

  /** The sum so far. */
  value(): Exact {
    let sum = 0n;
    for (let i = DIGITS - 1; i >= 0; i--) sum = (sum << 32n) + BigInt(this.#digits[i]!);
    return add(exact(sum, LOWEST), this.#rest);
  }

  /** Dekker's product: d^2 is the sum of its rounded value and of an error that is itself a binary64 number. */
  #addProduct(d: number): void {
    const square = d * d;
    const shifted = SPLITTER * d;
    const high = shifted - (shifted - d);
    const low = d - high;
    const error = high * high - square + 2 * high * low + low * low;
    this.#add(square);
    if (error !== 0) this.#add(error);
  }

  #addExact(d: Exact): void {
    this.#rest = add(this.#rest, multiply(d, d));
  }

  #add(x: number): void {
    if (++this.#additions === ADDITIONS_BETWEEN_CARRIES) this.#carry();
    FLOAT[0] = x;
    const top = WORDS[HIGH]!;
    const field = (top >>> 20) & 0x7ff;
    const high = field === 0 ? top & 0xfffff : (top & 0xfffff) | 0x100000;
    const low = WORDS[LOW]!;
    const position = field === 0 ? 0 : field - 1; // of the last bit, above 2^LOWEST
    const i = position >>> 5;
    const shift = position & 31;
    const sign = top >>> 31 === 1 ? -1 : 1;
    const digits = this.#digits;
    digits[i]! += sign * ((low << shift) >>> 0);
    // Two shifts, since a shift by 32 would be one by 0.
    digits[i + 1]! += sign * (((low >>> 1) >>> (31 - shift)) + ((high << shift) >>> 0));
    digits[i + 2]! += sign * ((high >>> 1) >>> (31 - shift));
  }

  #carry(): void {
    this.#additions = 0;
    let carry = 0;
    for (let i = 0; i < DIGITS - 1; i++) {
      const digit = this.#digits[i]! + carry;
      carry = Math.floor(digit / RADIX);
      this.#digits[i] = digit - carry * RADIX;
    }
    this.#digits[DIGITS - 1]! += carry;
  }
}
