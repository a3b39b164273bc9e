/**
 * Boundary inputs of MXFP4: blocks in which one rule decides, and blocks that are decoded field by field.
 * Each says which rule. Clauses: spec/mxfp4.md.
 * @module
 */
import { BLOCK } from '../format/mxfp4.ts';
import type { BoundaryCase } from './oracle-function.ts';

/** FP32 words; a BF16 block is made of them where their lower halves are zero. */
const SIGN = 0x80000000;
const ONE = 0x3f800000;
const BINADE = 0x00800000;
const LARGEST = 0x7f7fffff;
const LARGEST_BF16 = 0x7f7f0000;
const INFINITY = 0x7f800000;
const NAN = 0x7fc00000;

type Place = readonly [position: number, word: number];

const block = (note: string, fill: number, ...places: Place[]): BoundaryCase => {
  const words = Array.from({ length: BLOCK }, () => fill);
  for (const [position, word] of places) words[position] = word;
  return { inputs: [words], note };
};

/** A block whose first element is its largest and whose others come from a list, signs alternating. */
const sweep = (note: string, first: number, rest: readonly number[]): BoundaryCase => ({
  inputs: [[first, ...Array.from({ length: BLOCK - 1 }, (_, i) => (rest[i] ?? 0) + (i % 2) * SIGN)]],
  note,
});

function* zeros(): Generator<BoundaryCase> {
  yield block('all +0', 0);
  yield block('all -0', SIGN);
  yield block('-0 beside 1', SIGN, [0, ONE]);
  yield block('a negative that underflows beside 6', 0x80000001, [31, 0x40c00000]);
}

/** MX-05 to MX-09. The significands about which the scale rules change their exponent, in units of the FP32 word. */
const SIGNIFICANDS = [
  0x000000, 0x000001, 0x00ffff, 0x010000, 0x07c3b6, 0x07c3b7, 0x07c3b8, 0x080000, 0x1fffff, 0x200000,
  0x3fffff, 0x400000, 0x400001, 0x410000, 0x5fffff, 0x600000, 0x600001, 0x7effff, 0x7f0000, 0x7fffff,
];

/** The elements at a block's ties under a scale of 1, and beside them: E2M1's midpoints 0.25 to 5. */
const MIDPOINTS = [0x3e800000, 0x3f400000, 0x3fa00000, 0x3fe00000, 0x40200000, 0x40600000, 0x40a00000];

/** MX-04 to MX-09. Every rule's threshold at several exponents; S1, S2: amax just below a power of two. */
function* maxima(level: 1 | 2): Generator<BoundaryCase> {
  const exponents = level === 1 ? [-1, 2, 6] : [-126, -125, -60, -20, -1, 0, 1, 2, 3, 6, 60, 125, 126, 127];
  for (const exponent of exponents) {
    for (const significand of SIGNIFICANDS) {
      const amax = ONE + exponent * BINADE + significand;
      const rest = MIDPOINTS.map((m) => m + (exponent - 2) * BINADE).filter((m) => m > 0 && m < amax);
      yield sweep('amax about the thresholds of the scale rules', amax, rest);
    }
  }
}

/** MX-12. Ties, and the words beside them, under several scales. */
function* ties(level: 1 | 2): Generator<BoundaryCase> {
  const exponents = level === 1 ? [0, -3, 17] : [0, -3, 17, -120, -60, 60, 120];
  for (const exponent of exponents) {
    for (const amax of [0x40800000, 0x40c00000, 0x40e00000, 0x40ff0000]) {
      for (const deltas of [
        [-0x10000, 0, 0x10000],
        [-1, 0, 1],
      ]) {
        const words = MIDPOINTS.flatMap((m) => deltas.map((d) => m + d + exponent * BINADE));
        yield sweep('elements at and beside the ties', amax + exponent * BINADE, words);
      }
    }
  }
}

/** MX-10. The ends of the scale's range; S6, S11: amax that hidden floors and flushes spoil. */
function* extremes(): Generator<BoundaryCase> {
  for (const amax of [
    1, 2, 3, 0x10000, 0x3fffff, 0x400000, 0x600000, 0x7fffff, 0x7f0000, 0x800000, 0x1000000, 0x1800000,
  ]) {
    yield sweep('amax at the bottom of FP32', amax, [
      amax >> 1,
      amax >> 2,
      amax >> 3,
      (amax >> 2) + (amax >> 3),
      1,
    ]);
  }
  for (const amax of [
    LARGEST,
    LARGEST_BF16,
    0x7f600000,
    0x7f5fffff,
    0x7f5f0000,
    0x7f400000,
    0x7f400001,
    0x7f000000,
  ]) {
    yield sweep('amax at the top of FP32', amax, [0x7f000000, 0x7e800000, 0x7e000000, 0x7d800000, ONE, 1]);
  }
  yield block('1e-6 (S6)', 0, [3, 0x358637bd]);
  yield block('amax 04370000 (S11)', 0, [3, 0x04370000]);
  yield block('the largest FP32 among ones', ONE, [12, SIGN + LARGEST]);
}

/** CON-05. NaN and infinity, alone, together, everywhere. */
function* nonfinite(): Generator<BoundaryCase> {
  for (const i of [0, 5, 31]) {
    yield block(`a NaN at element ${i}`, ONE, [i, NAN]);
    yield block(`an infinity at element ${i}`, ONE, [i, INFINITY]);
  }
  yield block('a negative NaN with a payload', ONE, [7, 0xff810000]);
  yield block('both infinities', 0x3e000000, [3, INFINITY], [4, SIGN + INFINITY]);
  yield block('an infinity, then a NaN', 0xbe000000, [10, INFINITY], [11, NAN]);
  yield block('an infinity beside the largest finite value', 0x3f000000, [2, INFINITY], [3, LARGEST_BF16]);
  yield block('all NaN', NAN);
  yield block('all infinite', SIGN + INFINITY);
  yield block('an infinity among zeros', 0, [7, INFINITY]);
  yield block('a NaN among zeros', SIGN, [7, NAN]);
}

/** Blocks of FP32 words for the encoder. */
export function* encodingBoundary(level: 1 | 2): Generator<BoundaryCase> {
  yield* zeros();
  yield* maxima(1);
  yield* ties(1);
  yield* extremes();
  yield* nonfinite();
  if (level === 1) return;
  yield* maxima(2);
  yield* ties(2);
}

/** The same as BF16 words, cut toward zero; a block that the cut makes equal to an earlier one is left out. */
export function* narrowedToBF16(cases: Iterable<BoundaryCase>): Generator<BoundaryCase> {
  const seen = new Set<string>();
  for (const { inputs, note } of cases) {
    const words = Array.from(inputs[0]!, (w) => w >>> 16);
    const key = words.join();
    if (seen.has(key)) continue;
    seen.add(key);
    yield { inputs: [words], note };
  }
}

/** MX-02. Scales and codes for the decoder: every scale byte over every code. */
export function* decodingBoundary(): Generator<BoundaryCase> {
  const everyCode = Array.from({ length: BLOCK }, (_, i) => i & 15);
  for (let scale = 0; scale < 256; scale++)
    yield { inputs: [[scale], everyCode], note: 'every scale over every code' };
  for (let code = 0; code < 16; code++) {
    yield { inputs: [[0x7f], everyCode.map(() => code)], note: `code ${code} everywhere` };
  }
}
