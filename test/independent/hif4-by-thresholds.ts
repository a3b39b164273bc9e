/**
 * HiF4 once more, for the tests: binary64 numbers and tables of thresholds, no exact arithmetic, no stages.
 * Nothing is divided: an element v over a scale s reaches a threshold t where v >= t s, and both sides are exact in
 * binary64 (24 by 8, 4 by 3 bits). It shares no line with src. Every parameter but `nonfinite` is covered.
 * @module
 */
import { bitsOfF32, f32FromBits, power, toBF16Grid } from './platform-floats.ts';

export interface HiF4Choice {
  input: string;
  sf: string;
  'e6m2-ties': string;
  'e6m2-range': string;
  reciprocal: string;
  products: string;
  ties: string;
  'zero-sign': string;
}

/** A code per quarter of a binade: 4, 5, 6, 7 fourths. */
const scaleOfCode = (code: number): number => (4 + (code % 4)) * power(Math.floor(code / 4) - 50);

/** bf16(1/1), bf16(1/1.25), bf16(1/1.5), bf16(1/1.75) as written in the sources: 3f80, 3f4d, 3f2b, 3f12. */
const RECIPROCALS = [1, 0x3f4d, 0x3f2b, 0x3f12].map((w, f) => (f === 0 ? 1 : f32FromBits(w * 65536)));
const reciprocalOfCode = (code: number): number => RECIPROCALS[code % 4]! * power(48 - Math.floor(code / 4));

/** 73/512 = bf16(1/7). */
const SEVENTH = 73 / 512;

/** Midpoints between 1, 1.25, 1.5, 1.75 and 2, and the values themselves. */
const MIDPOINTS = [1.125, 1.375, 1.625, 1.875];
const VALUES = [1.25, 1.5, 1.75, 2];

/** The E6M2 index of `over`/`under`, without any limit: 4 a binade, 192 at 1. */
function e6m2Index(over: number, under: number, ties: string): number {
  let binades = 0;
  let x = over;
  while (x >= 2 * under) {
    x /= 2;
    binades++;
  }
  while (x < under) {
    x *= 2;
    binades--;
  }
  const thresholds = ties === 'truncate' ? VALUES : MIDPOINTS;
  // A tie goes up where the rule says so, and under half-even from 1.25 and from 1.75, whose codes are odd.
  const reached = thresholds.filter((t, k) => {
    const inclusive = ties !== 'even' || k % 2 === 1;
    return inclusive ? x >= t * under : x > t * under;
  });
  return 192 + 4 * binades + reached.length;
}

function scaleCode(vmax: number, choice: HiF4Choice): number {
  if (vmax === 0) return 0;
  let over = vmax * (choice.sf === 'quotient' ? 1 : SEVENTH);
  const under = choice.sf === 'quotient' ? 7 : 1;
  if (choice.sf === 'bf16') over = toBF16Grid(over);
  if (over === 0) return 0;
  const index = e6m2Index(over, under, choice['e6m2-ties']);
  if (choice['e6m2-range'] === 'wrap') return ((index % 256) + 256) % 256;
  return Math.max(0, Math.min(index, 254));
}

/** How far below half a quarter's half a BF16 addition still rounds up: for the code 1, 2, 3 and 4, 5 to 7. */
const BF16_ADD_SLACK = [0, 2 ** -9, 2 ** -8, 2 ** -7, 2 ** -7, 2 ** -6, 2 ** -6, 2 ** -6];

/** The magnitude code of v / s: how many of the seven codes v reaches. */
function element(v: number, s: number, negative: boolean, ties: string): number {
  let code = 0;
  for (let n = 1; n <= 7; n++) {
    const half = (2 * n - 1) * s; // compared with 8 v
    const below = 4 * v < n * s;
    const tie = 8 * v === half;
    const above = 8 * v > half;
    const inside = 4 * v > (n - 1) * s;
    let up: boolean;
    if (!below) up = true;
    else if (ties === 'even') up = above || (tie && n % 2 === 0);
    else if (ties === 'away') up = above || tie;
    else if (ties === 'zero') up = above;
    else if (ties === 'up') up = above || (tie && !negative);
    else if (ties === 'truncate') up = false;
    else if (ties === 'ceil') up = inside && !negative;
    else if (ties === 'floor') up = inside && negative;
    else if (ties === 'odd') up = inside && n % 2 === 1;
    else up = 4 * v >= (n - 0.5 - BF16_ADD_SLACK[n]!) * s;
    if (up) code = n;
  }
  return code;
}

/** A number rounded to FP32, or to BF16 by half-even on its FP32 bits (the numbers given here are FP32 already). */
function inputNumber(x: number, input: string): number {
  if (input === 'f32') return Math.fround(x);
  const bits = bitsOfF32(Math.abs(x));
  const upper = Math.floor((bits + 0x7fff + (Math.floor(bits / 65536) & 1)) / 65536);
  const magnitude = f32FromBits(upper * 65536);
  return Object.is(Math.sign(x), -0) || x < 0 ? -magnitude : magnitude;
}

/** Encodes 64 FP32 numbers, none of which may round to an infinity: the scale word and the codes. */
export function encodeHiF4(x: readonly number[], choice: HiF4Choice): { word: number; codes: number[] } {
  const v = x.map((n) => inputNumber(n, choice.input));
  const code = scaleCode(Math.max(...v.map(Math.abs)), choice);
  if (code === 255) return { word: 255, codes: v.map(() => 0) };
  // |v| over the scale is a fraction over[i] / under, both exact.
  let under = 1;
  let over = v.map((n) => Math.abs(n) * reciprocalOfCode(code));
  if (choice.reciprocal === 'exact') {
    const s = scaleOfCode(code);
    if (choice.products === 'exact') under = s;
    // The quotient is inexact here, yet never close enough to a BF16 midpoint for a second rounding to matter.
    over = v.map((n) => Math.abs(n) / (choice.products === 'exact' ? 1 : s));
  }
  if (choice.products === 'bf16') over = over.map(toBF16Grid);
  let word = code;
  const increments: number[] = [];
  for (let octet = 0; octet < 8; octet++) {
    const raised = Math.max(...over.slice(8 * octet, 8 * octet + 8)) >= 4 * under;
    if (raised) word += 2 ** (8 + octet);
    for (const quad of [2 * octet, 2 * octet + 1]) {
      const top = Math.max(...over.slice(4 * quad, 4 * quad + 4));
      const again = top >= (raised ? 4 : 2) * under;
      if (again) word += 2 ** (16 + quad);
      increments.push(Number(raised) + Number(again));
    }
  }
  const codes = v.map((n, i) => {
    const negative = n < 0 || Object.is(n, -0);
    const magnitude = element(over[i]!, under * 2 ** increments[i >> 2]!, negative, choice.ties);
    if (!negative) return magnitude;
    const plain =
      (choice['zero-sign'] === 'drop' && magnitude === 0) || (choice['zero-sign'] !== 'keep' && n === 0);
    return plain ? magnitude : 8 + magnitude;
  });
  return { word, codes };
}

/** The 64 numbers a unit stands for (not a NaN unit). */
export function decodeHiF4(word: number, codes: readonly number[]): number[] {
  return codes.map((code, i) => {
    const raised = Math.floor(word / 2 ** (8 + (i >> 3))) % 2;
    const again = Math.floor(word / 2 ** (16 + (i >> 2))) % 2;
    const magnitude = ((code % 8) / 4) * scaleOfCode(word % 256) * 2 ** (raised + again);
    return code >= 8 ? -magnitude : magnitude;
  });
}
