/**
 * MXFP4 once more, for the tests: binary64 numbers and tables of thresholds, no exact arithmetic, no logarithm.
 * A scale rule is the smallest magnitude that has exponent 0 under it; every other exponent is that one times a power
 * of two. It shares no line with src. Every parameter but `nonfinite` is covered.
 * @module
 */
import { bitsOfF32, f32FromBits, power } from './platform-floats.ts';

export interface Mxfp4Choice {
  input: string;
  scale: string;
  ties: string;
  'zero-scale': string;
  'scale-range': string;
  'scale-min': string;
  'even-range': string;
  'nan-code': string;
  'zero-sign': string;
}

/**
 * Where exponent n begins: at t 2^n, which itself belongs to n (`from`) or still to n - 1 (`above`).
 * nearest: log2(amax / 6) = n - 1/2 at 6 x 2^(n - 1/2) = 3 sqrt(2) x 2^n, irrational; its binary64 neighbour separates the
 * same FP32 numbers.
 */
const RULES: Record<string, { t: number; side: 'from' | 'above' }> = {
  floor: { t: 4, side: 'from' },
  ceil: { t: 2, side: 'above' },
  even: { t: 3.5, side: 'from' },
  rceil: { t: 3, side: 'above' },
  nearest: { t: 3 * Math.SQRT2, side: 'above' },
};

function exponentOf(amax: number, rule: string): number {
  const { t, side } = RULES[rule]!;
  let n = -160;
  while (side === 'from' ? amax >= t * power(n + 1) : amax > t * power(n + 1)) n++;
  return n;
}

const E2M1_VALUES = [0, 0.5, 1, 1.5, 2, 3, 4, 6];

/** The magnitude code of v / s, by the values and midpoints times s. */
function element(v: number, s: number, negative: boolean, ties: string): number {
  let code = 0;
  for (let n = 1; n <= 7; n++) {
    const value = E2M1_VALUES[n]! * s;
    const lower = E2M1_VALUES[n - 1]! * s;
    const middle = (E2M1_VALUES[n]! + E2M1_VALUES[n - 1]!) * s; // compared with 2 v
    const evenGoesUp = n === 2 || n === 4 || n === 6;
    const up: Record<string, boolean> = {
      even: 2 * v > middle || (2 * v === middle && evenGoesUp),
      away: 2 * v >= middle,
      zero: 2 * v > middle,
      up: negative ? 2 * v > middle : 2 * v >= middle,
      truncate: v >= value,
      ceil: negative ? v >= value : v > lower,
      floor: negative ? v > lower : v >= value,
      odd: v >= value || (v > lower && !evenGoesUp),
    };
    if (up[ties]) code = n;
  }
  return code;
}

function inputNumber(x: number, input: string): number {
  const single = Math.fround(x);
  if (input === 'f32') return single;
  // Half-even at bit 16, on the bits of the magnitude.
  const bits = bitsOfF32(Math.abs(single));
  const rest = bits % 65536;
  const floor = bits - rest;
  const up = rest > 32768 || (rest === 32768 && (floor / 65536) % 2 === 1);
  const magnitude = f32FromBits(up ? floor + 65536 : floor);
  return single < 0 || Object.is(single, -0) ? -magnitude : magnitude;
}

/** Encodes 32 FP32 numbers, none of which may round to an infinity: the scale byte and the codes. */
export function encodeMXFP4(x: readonly number[], choice: Mxfp4Choice): { scale: number; codes: number[] } {
  const v = x.map((n) => inputNumber(n, choice.input));
  const amax = Math.max(...v.map(Math.abs));
  let scale: number;
  if (amax === 0) scale = Number.parseInt(choice['zero-scale'], 16);
  else if (choice.scale === 'even' && choice['even-range'] === 'f32' && amax >= 1.75 * power(127))
    scale = 255;
  else {
    scale = exponentOf(amax, choice.scale) + 127;
    if (choice['scale-range'] === 'wrap') scale = (scale + 512) % 256;
    else scale = Math.min(254, Math.max(choice['scale-min'] === '01' ? 1 : 0, scale));
  }
  if (scale === 255) return { scale, codes: v.map(() => Number(choice['nan-code'])) };
  const s = power(scale - 127);
  const codes = v.map((n) => {
    const negative = n < 0 || Object.is(n, -0);
    const magnitude = element(Math.abs(n), s, negative, choice.ties);
    const keepsSign =
      choice['zero-sign'] === 'keep' ? true : choice['zero-sign'] === 'drop' ? magnitude > 0 : n !== 0;
    return negative && keepsSign ? 8 + magnitude : magnitude;
  });
  return { scale, codes };
}

/** The numbers a block stands for (scale not ff), in binary64, which holds 2^127 x 6. */
export const decodeMXFP4 = (scale: number, codes: readonly number[]): number[] =>
  codes.map((code) => (code >= 8 ? -1 : 1) * E2M1_VALUES[code % 8]! * power(scale - 127));
