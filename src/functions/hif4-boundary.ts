/**
 * Boundary inputs of HiF4: units in which one rule decides, and units that are decoded field by field.
 * Each says which rule. Clauses: spec/hif4.md.
 * @module
 */
import { UNIT } from '../format/hif4.ts';
import { encode, fromExact } from '../number/binary-format.ts';
import { exact } from '../number/exact.ts';
import { BF16 } from '../number/floats.ts';
import type { BoundaryCase } from './oracle-function.ts';

const BF16_SIGN = 0x8000;
const BF16_ONE = 0x3f80;
/** One binade of BF16 is 128 words. */
const BINADE = 0x80;
const LARGEST = 0x7f7f;
const INFINITY = 0x7f80;
const NAN = 0x7fc0;

/** BF16 words of 4, 5, 6 and 7: the four significands of E6M2 at 2^2, a unit of whose largest value they make the scale. */
const SCALE_MAXIMA = [0x40e0, 0x410c, 0x4128, 0x4144]; // 7, 8.75, 10.5, 12.25: scales 1, 1.25, 1.5, 1.75

type Place = readonly [position: number, word: number];

const unit = (note: string, fill: number, ...places: Place[]): BoundaryCase => {
  const words = Array.from({ length: UNIT }, () => fill);
  for (const [position, word] of places) words[position] = word;
  return { inputs: [words], note };
};

/** A unit whose first element sets the scale and whose others come from a list, signs alternating. */
const sweep = (note: string, first: number, rest: readonly number[]): BoundaryCase => ({
  inputs: [[first, ...Array.from({ length: UNIT - 1 }, (_, q) => (rest[q] ?? 0) + (q % 2) * BF16_SIGN)]],
  note,
});

const consecutive = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, j) => from + j);

function* zeros(): Generator<BoundaryCase> {
  yield unit('all +0', 0);
  yield unit('all -0', BF16_SIGN);
  yield {
    inputs: [consecutive(0, UNIT).map((q) => (q % 3 === 0 ? BF16_SIGN : 0))],
    note: 'zeros of both signs',
  };
  yield unit('-0 beside 1', BF16_SIGN, [0, BF16_ONE]);
}

/** HIF4-10, HIF4-11. One large element: which bits it sets, and nowhere else. */
function* positions(level: 1 | 2): Generator<BoundaryCase> {
  const all = consecutive(0, UNIT);
  const chosen = level === 1 ? all.filter((q) => q % 4 === 0 || q % 8 === 7) : all;
  for (const q of chosen) yield unit(`7 at element ${q} among ones`, BF16_ONE, [q, 0x40e0]);
  for (const q of chosen) yield unit(`-3 at element ${q} alone`, 0, [q, 0xc040]);
}

/** HIF4-06, HIF4-07. Every significand of the largest magnitude: SF's own tie, E6M2's ties, and the carry. */
function* maxima(level: 1 | 2): Generator<BoundaryCase> {
  const binades =
    level === 1 ? [BF16_ONE + 2 * BINADE] : [-40, -21, -1, 0, 2, 3, 11].map((e) => BF16_ONE + e * BINADE);
  for (const binade of binades) {
    for (const max of consecutive(binade, BINADE)) {
      yield sweep('largest magnitude sweeps a binade', max, consecutive(binade - 2 * BINADE, UNIT - 1));
    }
  }
}

/** HIF4-08, HIF4-09, HIF4-12. Under each scale significand, every element near a tie or a level threshold. */
function* elements(level: 1 | 2): Generator<BoundaryCase> {
  const binades = level === 1 ? [0, 1, 2, 3, 4] : [0, 1, 2, 3, 4, 5, 6, 7];
  for (const max of SCALE_MAXIMA) {
    for (const below of binades) {
      const start = BF16_ONE + (2 - below) * BINADE;
      for (const half of [0, 1]) {
        const words = consecutive(start + 64 * half, UNIT - 1).filter((w) => w <= max);
        yield sweep('elements sweep a binade under one scale', max, words);
        // Octets without and with a level-2 bit see the same element at another distance.
        const lifted = words.map((w, q) => (q % 16 < 8 ? w : Math.min(w, BF16_ONE)));
        yield sweep('the same, every second octet held below its threshold', max, lifted);
      }
    }
  }
}

/** HIF4-10, HIF4-11. An octet or quad whose largest product is exactly 4 or 2, or the word beside it. */
function* thresholds(): Generator<BoundaryCase> {
  for (const [scale, max] of SCALE_MAXIMA.entries()) {
    for (const threshold of [4, 2, 1]) {
      const word = encode(BF16, fromExact(exact(threshold * (4 + scale), -2)));
      for (const delta of [-2, -1, 0, 1, 2]) {
        yield unit(
          `${threshold} scales and ${delta} words`,
          0,
          [0, max],
          [9, word + delta],
          [23, BF16_SIGN + word + delta],
        );
      }
    }
  }
}

/** HIF4-07. The ends of the scale's range, and beyond them. */
function* extremes(): Generator<BoundaryCase> {
  const atTop = 0x48a8; // 7 x 49152
  const atBottom = 0x2860; // 7 x 2^-48
  for (const delta of [-2, -1, 0, 1, 2, 14, 28, 96, 1024]) {
    yield unit('largest magnitude about 7 x 49152', 0x4000, [5, atTop + delta]);
    yield sweep('the same with large neighbours', atTop + delta, consecutive(atTop - 60, UNIT - 1));
  }
  for (const delta of [-1024, -160, -128, -96, -2, -1, 0, 1, 2]) {
    yield sweep(
      'largest magnitude about 7 x 2^-48',
      atBottom + delta,
      consecutive(atBottom + delta - 320, UNIT - 1),
    );
  }
  yield unit('the largest BF16 among ones', BF16_ONE, [12, BF16_SIGN + LARGEST]);
  yield unit('the smallest BF16', 0, [40, BF16_SIGN + 1]);
  yield sweep('subnormals', 0x007f, consecutive(0x0001, UNIT - 1));
  yield sweep('the smallest normal and below', 0x0080, consecutive(0x0041, UNIT - 1));
}

/** CON-05. NaN and infinity, alone, together, everywhere. */
function* nonfinite(): Generator<BoundaryCase> {
  for (const q of [0, 5, 63]) {
    yield unit(`a NaN at element ${q}`, BF16_ONE, [q, NAN]);
    yield unit(`an infinity at element ${q}`, BF16_ONE, [q, INFINITY]);
  }
  yield unit('a negative NaN with a payload', BF16_ONE, [7, 0xff81]);
  yield unit('both infinities', 0x3e00, [3, INFINITY], [4, BF16_SIGN + INFINITY]);
  yield unit('an infinity, then a NaN', 0xbe00, [10, INFINITY], [11, NAN]);
  yield unit('an infinity beside the largest finite value', 0x3f00, [2, INFINITY], [3, LARGEST]);
  yield unit('all NaN', NAN);
  yield unit('all infinite', BF16_SIGN + INFINITY);
  yield unit('an infinity among zeros', 0, [7, INFINITY]);
  yield unit('a NaN among zeros', BF16_SIGN, [7, NAN]);
}

/** Units of BF16 words for the encoder. */
export function* encodingBoundary(level: 1 | 2): Generator<BoundaryCase> {
  yield* zeros();
  yield* positions(1);
  yield* maxima(1);
  yield* elements(1);
  yield* thresholds();
  yield* extremes();
  yield* nonfinite();
  if (level === 1) return;
  yield* positions(2);
  yield* maxima(2);
  yield* elements(2);
}

/** CON-04. The same as FP32 words, then units whose FP32 words lie at and beside ties of BF16. */
export function* widened(cases: Iterable<BoundaryCase>): Generator<BoundaryCase> {
  const held = [...cases];
  for (const { inputs, note } of held) {
    yield { inputs: [Array.from(inputs[0]!, (w) => w * 0x10000)], note };
  }
  const offsets = [0x7fff, 0x8000, 0x8001, 0x0001, 0xffff];
  for (const [j, { inputs, note }] of held.entries()) {
    const offset = offsets[j % offsets.length]!;
    const words = Array.from(inputs[0]!, (w) => w * 0x10000 + ((w & 0x7fff) < INFINITY ? offset : 0));
    yield { inputs: [words], note: `${note}; 0x${offset.toString(16)} above in FP32` };
  }
}

/** HIF4-03. Scale words and codes for the decoder: every scale byte, every bit alone, every code. */
export function* decodingBoundary(level: 1 | 2): Generator<BoundaryCase> {
  const everyCode = consecutive(0, UNIT).map((q) => (q + (q >> 4)) & 15);
  for (let bit = 8; bit < 32; bit++) {
    yield { inputs: [[2 ** bit + 0xc0], everyCode], note: `bit ${bit} of the scale word alone` };
  }
  for (const word of [0x000000c0, 0xffffffc0, 0x00000000, 0x000000ff, 0xffffffff, 0xffff00fe, 0x0000ff01]) {
    yield { inputs: [[word], everyCode], note: 'fields at their ends' };
  }
  for (let code = 0; code < 16; code++) {
    yield { inputs: [[0x5555aac0], consecutive(0, UNIT).map(() => code)], note: `code ${code} everywhere` };
  }
  const bits = level === 1 ? [0] : [0x00ff0f00, 0xaaaa5500, 0xffffff00];
  for (const upper of bits) {
    for (let e6m2 = 0; e6m2 < 256; e6m2++) yield { inputs: [[upper + e6m2], everyCode], note: 'every scale' };
  }
}
