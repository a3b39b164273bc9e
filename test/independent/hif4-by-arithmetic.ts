/**
 * HiF4 a third time, for the tests that need many units: binary64 arithmetic on typed arrays, neither tables nor exact
 * numbers. It shares no line with src; every parameter but `nonfinite` is covered, and no word may round to an infinity.
 *
 * Why binary64 is exact enough: every number rounded here is a 24-bit significand times an 8-bit one, which is exact, or over
 * one of 3 bits. Such a quotient differs from any threshold (at most 12 bits) either not at all, and then it is exact, or by
 * more than 2^-40 of itself, which one rounding to 53 bits cannot bridge.
 * @module
 */
import { exponentOf, roundedToBF16, roundedToInteger, twoTo, wordRoundedToBF16 } from './fast-arithmetic.ts';
import type { HiF4Choice } from './hif4-by-thresholds.ts';

/** bf16(1/7), and bf16 of 1/1, 1/1.25, 1/1.5, 1/1.75 in 256ths, as written in the sources. */
const SEVENTH = 73 / 512;
const RECIPROCALS = [256, 205, 171, 146];

const words = new Uint32Array(64);
const values = new Float32Array(words.buffer);
const over = new Float64Array(64);
const negative = new Uint8Array(64);

function scaleOf(max: number, choice: HiF4Choice): number {
  if (max === 0) return 0;
  const wide = choice.sf === 'quotient' ? max / 7 : max * SEVENTH;
  const sf = choice.sf === 'bf16' ? roundedToBF16(wide) : wide;
  if (sf === 0) return 0;
  const e = exponentOf(sf);
  const code = 4 * e + 188 + roundedToInteger(sf * twoTo(2 - e), false, choice['e6m2-ties']);
  return choice['e6m2-range'] === 'wrap' ? code & 255 : Math.min(Math.max(code, 0), 254);
}

function magnitudeOf(z: number, minus: boolean, ties: string): number {
  const rounded =
    ties === 'away-bf16' ? Math.floor(roundedToBF16(z + 0.5)) : roundedToInteger(z, minus, ties);
  return Math.min(rounded, 7);
}

/**
 * Encodes the unit of 64 FP32 words at `at`.
 * @param codes receives one code a byte
 * @returns the scale word
 */
export function encodeUnitByArithmetic(
  x: Uint32Array,
  at: number,
  choice: HiF4Choice,
  codes: Uint8Array,
): number {
  let max = 0;
  for (let q = 0; q < 64; q++) {
    const word = choice.input === 'bf16' ? wordRoundedToBF16(x[at + q]!) : x[at + q]!;
    negative[q] = word >>> 31;
    words[q] = word & 0x7fffffff;
    if (values[q]! > max) max = values[q]!;
  }
  const code = scaleOf(max, choice);
  if (code === 255) {
    codes.fill(0);
    return 255;
  }
  const exact = choice.reciprocal === 'exact';
  const factor = exact
    ? (4 + (code & 3)) * twoTo((code >> 2) - 50)
    : (RECIPROCALS[code & 3]! / 256) * twoTo(48 - (code >> 2));
  for (let q = 0; q < 64; q++) {
    const wide = exact ? values[q]! / factor : values[q]! * factor;
    over[q] = choice.products === 'bf16' ? roundedToBF16(wide) : wide;
  }
  let word = code;
  for (let octet = 0; octet < 64; octet += 8) {
    let raised = 0;
    for (let q = octet; q < octet + 8; q++) if (over[q]! >= 4) raised = 1;
    if (raised) word += 2 ** (8 + octet / 8);
    for (let quad = octet; quad < octet + 8; quad += 4) {
      let again = 0;
      for (let q = quad; q < quad + 4; q++) if (over[q]! >= (raised ? 4 : 2)) again = 1;
      if (again) word += 2 ** (16 + quad / 4);
      const quarters = [4, 2, 1][raised + again]!;
      for (let q = quad; q < quad + 4; q++) {
        const minus = negative[q] === 1;
        const magnitude = magnitudeOf(over[q]! * quarters, minus, choice.ties);
        const rule = choice['zero-sign'];
        const plain = (rule === 'drop' && magnitude === 0) || (rule !== 'keep' && values[q] === 0);
        codes[q] = minus && !plain ? 8 + magnitude : magnitude;
      }
    }
  }
  return word;
}

/** The 64 FP32 words that a unit stands for. */
export function decodeUnitByArithmetic(word: number, codes: Uint8Array, out: Float32Array): void {
  const e6m2 = word % 256;
  const scale = e6m2 === 255 ? Number.NaN : (4 + (e6m2 & 3)) * twoTo((e6m2 >> 2) - 52);
  for (let q = 0; q < 64; q++) {
    const bits = ((word >>> (8 + (q >> 3))) & 1) + ((word >>> (16 + (q >> 2))) & 1);
    const magnitude = (codes[q]! & 7) * scale * (bits === 2 ? 4 : bits + 1);
    out[q] = codes[q]! > 7 ? -magnitude : magnitude;
  }
}
