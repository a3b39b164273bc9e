/**
 * The codes of MXFP4 elements as a table on the distance of an FP32 word from its scale. Scaling by 2^k moves a word by k
 * binades and changes no code. Every threshold is a number of few bits or the next above one, so that the upper 15 bits of a
 * word, and whether the rest is zero, are enough. Made from the definition, by its thresholds.
 * Clauses: spec/mxfp4.md MX-12, spec/conventions.md CON-06.
 * @module
 */
import { type Mxfp4Trace, mxfp4Stages } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import type { Ties } from '../number/round.ts';
import { BINADE, firstReaching, magnitudeOf, ONE } from './thresholds.ts';

/** A word is moved by (TOP - scale) binades: one scale then has the exponent field TOP, and 16 scales are still below 2^31. */
export const TOP = 251;
/** The lower bits of which only zero or not counts. */
export const REST_BITS = 17;
const REST = 2 ** REST_BITS;

const SCALE_ONE = 0x7f;
const HALF = 0x8000;
const LARGEST = 7;
const TINY = ONE - 60 * BINADE;

export interface ElementTable {
  /** The signed code by 2 x (moved word >>> 17) + (whether its rest is not zero), the sign as first bit. */
  readonly codes: Uint8Array;
  /** The codes of +0 and -0. */
  readonly zeros: Uint8Array;
  /** Whether the tiniest magnitude has the code of zero, so that nothing need tell them apart. */
  readonly tinyIsZero: boolean;
}

const none = new Map<number, number>();

/** The signed code of one word under scale 1, by the definition. */
function definedCode(policy: Mxfp4Policy): (word: number, negative: boolean) => number {
  const trace = { scale: SCALE_ONE } as Mxfp4Trace;
  return (word, negative) => {
    const values = [{ negative, magnitude: magnitudeOf(word) }];
    trace.input = { kind: 'finite', values, dictated: none };
    trace.scaled = mxfp4Stages.scaled(trace, policy);
    return mxfp4Stages.codes(trace, policy)[0]!;
  };
}

/** The entry of a moved word without its sign. */
const entryOf = (moved: number): number => (moved >>> REST_BITS) + ((moved + REST - 1) >>> REST_BITS);

/** The first entries of codes 1 to 7, for both signs. */
function findThresholds(policy: Mxfp4Policy): Int32Array {
  const code = definedCode(policy);
  const first = new Int32Array(16);
  for (const negative of [false, true]) {
    let below = TINY;
    for (let j = 1; j <= LARGEST; j++) {
      const holds = (word: number): boolean => (code(word, negative) & LARGEST) >= j;
      if (holds(TINY)) continue;
      below = firstReaching(below, ONE + 4 * BINADE, holds);
      if (below % REST > 1) throw new RangeError(`the threshold of code ${j} has more than 7 bits`);
      first[(negative ? 8 : 0) + j] = entryOf(below + (TOP - SCALE_ONE) * BINADE);
    }
  }
  return first;
}

const thresholds = new Map<Ties, Int32Array>();

/** Thresholds depend on the tie rule alone: 3 ms each. */
function thresholdsOf(policy: Mxfp4Policy): Int32Array {
  let found = thresholds.get(policy.ties);
  if (found === undefined) {
    found = findThresholds({ ...policy, 'zero-sign': 'keep' });
    thresholds.set(policy.ties, found);
  }
  return found;
}

/** The table of a policy. */
export function elementTable(policy: Mxfp4Policy): ElementTable {
  const first = thresholdsOf(policy);
  const codes = new Uint8Array(2 * HALF);
  for (const sign of [0, 8]) {
    const row = sign === 0 ? 0 : HALF;
    codes.fill(policy['zero-sign'] === 'drop' ? 0 : sign, row, row + HALF);
    for (let j = 1; j <= LARGEST; j++) codes.fill(sign + j, row + first[sign + j]!, row + HALF);
  }
  const code = definedCode(policy);
  const zeros = Uint8Array.of(code(0, false), code(0, true));
  const tinyIsZero = zeros[0] === code(TINY, false) && zeros[1] === code(TINY, true);
  return { codes, zeros, tinyIsZero };
}
