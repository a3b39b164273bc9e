/**
 * Boundary inputs of the scalar conversions: every code of a small format; and for a wide one, each value of the narrow
 * format, each midpoint between two of them, and the words just beside both.
 * @module
 */
import {
  type BinaryFormat,
  codeBits,
  decode,
  encode,
  finite,
  largestFinite,
} from '../number/binary-format.ts';
import { add, type Exact, scale } from '../number/exact.ts';
import { BF16 } from '../number/floats.ts';
import type { BoundaryCase } from './oracle-function.ts';

/** Every code. */
export function* codesOf(format: BinaryFormat): Generator<BoundaryCase> {
  for (let code = 0; code < 2 ** codeBits(format); code++) yield { inputs: [[code]], note: `code ${code}` };
}

/** Zeros, the ends of the subnormal and normal ranges, infinities, and NaNs with several payloads. */
function specials(format: BinaryFormat): number[] {
  const fraction = 2 ** format.fractionBits;
  const infinity = largestFinite(format) + 1;
  const magnitudes = [0, 1, fraction - 1, fraction, infinity - 1, infinity];
  const nans = [1, fraction / 2, fraction / 2 + 1, fraction - 1].map((payload) => infinity + payload);
  const sign = 2 ** (codeBits(format) - 1);
  return [...magnitudes, ...nans].flatMap((code) => [code, code + sign]);
}

/** The magnitude of a code, the exponent unbounded above: one past the largest is where overflow begins. */
function magnitudeOf(format: BinaryFormat, code: number): Exact {
  const unbounded: BinaryFormat = { ...format, exponentBits: format.exponentBits + 1, top: 'finite' };
  const value = decode(unbounded, code);
  if (value.kind !== 'finite') throw new RangeError('an unbounded format has only finite values');
  return value.magnitude;
}

/** The words of a format at and beside a magnitude, with both signs. */
function beside(format: BinaryFormat, x: Exact): number[] {
  const at = encode(format, finite(x), 'truncate');
  const sign = 2 ** (codeBits(format) - 1);
  return [at - 1, at, at + 1]
    .filter((code) => code >= 0 && code <= largestFinite(format))
    .flatMap((code) => [code, code + sign]);
}

/** Which codes of the narrow format are looked at: all of a small one; of a wide one a prime stride meets every exponent. */
function stride(format: BinaryFormat, level: 1 | 2): number {
  if (codeBits(format) <= 8) return 1;
  const prime = level === 1 ? 509 : 61;
  return codeBits(format) === 16 ? prime : prime * 2 ** 16;
}

function* edges(from: BinaryFormat, to: BinaryFormat, level: 1 | 2): Generator<[word: number, note: string]> {
  for (const word of specials(from)) yield [word, 'special'];
  for (let code = 0; code <= largestFinite(to); code += stride(to, level)) {
    const here = magnitudeOf(to, code);
    const middle = scale(add(here, magnitudeOf(to, code + 1)), -1);
    for (const word of beside(from, here)) yield [word, `at or beside the value of code ${code}`];
    for (const word of beside(from, middle)) yield [word, `at or beside the tie above code ${code}`];
  }
  if (level === 1 || from !== BF16) return;
  for (let word = 0; word < 2 ** 16; word++) yield [word, 'enumerated'];
}

/** Values, midpoints and neighbours of one narrow format as seen from a wide one, each word once. */
export function* edgesOf(from: BinaryFormat, to: BinaryFormat, level: 1 | 2): Generator<BoundaryCase> {
  const seen = new Set<number>();
  for (const [word, note] of edges(from, to, level)) {
    if (seen.has(word)) continue;
    seen.add(word);
    yield { inputs: [[word]], note };
  }
}
