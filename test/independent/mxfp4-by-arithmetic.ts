/**
 * MXFP4 a third time, for the tests that need many blocks: binary64 arithmetic, neither tables nor exact numbers. It shares no
 * line with src; every parameter but `nonfinite` is covered, and no word may round to an infinity.
 * @module
 */
import { exponentOf, roundedToInteger, twoTo, wordRoundedToBF16 } from './fast-arithmetic.ts';
import type { Mxfp4Choice } from './mxfp4-by-thresholds.ts';

const words = new Uint32Array(32);
const values = new Float32Array(words.buffer);
const negative = new Uint8Array(32);

/** The significand from which on a rule goes to the next exponent, and whether equality does; floor counts from 1 to 2. */
function exponentFor(amax: number, rule: string): number {
  const e = exponentOf(amax);
  const significand = amax * twoTo(-e);
  switch (rule) {
    case 'floor':
      return e - 2;
    case 'ceil':
      return significand > 1 ? e - 1 : e - 2;
    case 'even':
      return significand >= 1.75 ? e - 1 : e - 2;
    case 'rceil':
      return significand > 1.5 ? e - 1 : e - 2;
    default: // nearest: the significand squared against 9/8, and 48 bits are exact
      return significand * significand > 1.125 ? e - 2 : e - 3;
  }
}

function scaleOf(amax: number, choice: Mxfp4Choice): number {
  if (amax === 0) return choice['zero-scale'] === '7f' ? 127 : 0;
  if (choice.scale === 'even' && choice['even-range'] === 'f32' && amax >= 1.75 * 2 ** 127) return 255;
  const code = exponentFor(amax, choice.scale) + 127;
  if (choice['scale-range'] === 'wrap') return code & 255;
  return Math.min(Math.max(code, choice['scale-min'] === '01' ? 1 : 0), 254);
}

/**
 * Encodes the block of 32 FP32 words at `at`.
 * @param codes receives one code a byte
 * @returns the scale byte
 */
export function encodeBlockByArithmetic(
  x: Uint32Array,
  at: number,
  choice: Mxfp4Choice,
  codes: Uint8Array,
): number {
  let amax = 0;
  for (let i = 0; i < 32; i++) {
    const word = choice.input === 'bf16' ? wordRoundedToBF16(x[at + i]!) : x[at + i]!;
    negative[i] = word >>> 31;
    words[i] = word & 0x7fffffff;
    if (values[i]! > amax) amax = values[i]!;
  }
  const scale = scaleOf(amax, choice);
  if (scale === 255) {
    codes.fill(choice['nan-code'] === '3' ? 3 : 0);
    return 255;
  }
  const inverse = twoTo(127 - scale);
  for (let i = 0; i < 32; i++) {
    const minus = negative[i] === 1;
    const z = values[i]! * inverse;
    // Codes step by 1/2 below 2, by 1 below 4, by 2 above.
    let magnitude: number;
    if (z < 2) magnitude = roundedToInteger(z * 2, minus, choice.ties);
    else if (z < 4) magnitude = 2 + roundedToInteger(z, minus, choice.ties);
    else magnitude = Math.min(4 + roundedToInteger(z / 2, minus, choice.ties), 7);
    const rule = choice['zero-sign'];
    const plain = (rule === 'drop' && magnitude === 0) || (rule !== 'keep' && values[i] === 0);
    codes[i] = minus && !plain ? 8 + magnitude : magnitude;
  }
  return scale;
}

/** The 32 FP32 words that a block stands for; beyond FP32 an infinity. */
export function decodeBlockByArithmetic(scale: number, codes: Uint8Array, out: Float32Array): void {
  const factor = scale === 255 ? Number.NaN : twoTo(scale - 127) / 2;
  for (let i = 0; i < 32; i++) {
    const code = codes[i]! & 7;
    const halves = code < 4 ? code : code < 6 ? 2 * code - 4 : 4 * code - 16;
    out[i] = codes[i]! > 7 ? -(halves * factor) : halves * factor;
  }
}
