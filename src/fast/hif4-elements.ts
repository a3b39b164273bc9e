/**
 * The codes of HiF4 elements and the thresholds of its exponent bits, as tables on the distance of an FP32 word from its scale.
 * Scaling by 2^k moves a word by k binades and changes no code, so a row for each of the four fractions of E6M2 is enough.
 * Made from the definition, by its thresholds. Clauses: spec/hif4.md HIF4-08 to HIF4-12, spec/conventions.md CON-06.
 * @module
 */
import { type HiF4Trace, hif4Stages } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { blockInput } from '../format/nonfinite.ts';
import { f32Value } from '../format/scalar.ts';
import { BINADE, firstReaching, magnitudeOf, ONE } from './thresholds.ts';

/**
 * A word is moved up by (TOP - e - increment) binades, for a scale of exponent e. e + increment is at most 15 + 2, so that no
 * word moves down: a magnitude of e scales stands TOP binades above itself.
 */
export const TOP = 17;

/** E6M2 codes of the four fractions at exponent 0. */
const UNIT_SCALE = 0xc0;
const FRACTIONS = 4;
/** Moved words by their upper half, with the sign as its first bit. */
export const ROW_BITS = 16;
const ROW = 1 << ROW_BITS;
const NEGATIVE_HALF = ROW / 2;
const LARGEST = 7;
/** Far below every threshold between two codes, yet normal, and its products with a reciprocal are normal too. */
const TINY = ONE - 60 * BINADE;

export interface ElementTable {
  /** The signed code of each moved word whose lower half is zero, by its upper half; a row of 2^16 for each fraction. */
  readonly codes: Uint8Array;
  /**
   * With input=f32, the last lower half that still has this code; above it stands the next entry's code, since an upper half
   * has one threshold at most. With input=bf16 lower halves are zero, and this is empty.
   */
  readonly last: Uint16Array;
  /** The codes of +0 and -0. */
  readonly zeros: Uint8Array;
  /** The smallest words, by fraction and before input rounding, that reach 4 and 2 scales of exponent 0. */
  readonly reach4: Int32Array;
  readonly reach2: Int32Array;
  /** Whether the tiniest magnitude has the code of zero, so that nothing need tell them apart. */
  readonly tinyIsZero: boolean;
  /** Whether a product may underflow to zero and thereby miss a code that the tiniest magnitude gets. */
  readonly underflows: boolean;
}

/** Moved words from which each code on is reached, 8 for each fraction and sign; and the words that reach a level. */
interface Thresholds {
  readonly next: Int32Array;
  readonly reach4: Int32Array;
  readonly reach2: Int32Array;
}

const none = new Map<number, number>();

/** The signed code of one word under the scale of one fraction, by the definition. */
function definedCode(fraction: number, policy: HiF4Policy): (word: number, negative: boolean) => number {
  const trace = { e6m2: UNIT_SCALE + fraction, e1_8: 0, e1_16: 0 } as HiF4Trace;
  trace.rcp = hif4Stages.rcp(trace, policy);
  return (word, negative) => {
    const value = { negative, magnitude: magnitudeOf(word) };
    trace.input = { kind: 'finite', values: [value], dictated: none };
    trace.scaled = hif4Stages.scaled(trace, policy);
    return hif4Stages.codes(trace, policy)[0]!;
  };
}

/** The smallest word whose product reaches a level's threshold, by the definition. */
function reaching(level: 'e1_8' | 'e1_16', fraction: number, policy: HiF4Policy): number {
  const trace = { e6m2: UNIT_SCALE + fraction, e1_8: 0 } as HiF4Trace;
  trace.rcp = hif4Stages.rcp(trace, policy);
  const holds = (word: number): boolean => {
    const max = blockInput([f32Value(word)], policy.input, 'error').values.map((v) => v.magnitude);
    return hif4Stages[level]({ ...trace, max4: max, max8: max }, policy) === 1;
  };
  return firstReaching(ONE, ONE + 4 * BINADE, holds);
}

/** The thresholds of codes 1 to 7 for one fraction and sign, as moved words. */
function codeThresholds(code: (word: number) => number, guesses: Int32Array): Int32Array {
  const next = new Int32Array(8).fill(0x7fffffff);
  let below = TINY;
  for (let j = 0; j < LARGEST; j++) {
    const holds = (word: number): boolean => (code(word) & LARGEST) > j;
    if (holds(TINY)) next[j] = 0;
    else {
      below = firstReaching(below, ONE + 2 * BINADE, holds, guesses[j]! - TOP * BINADE);
      next[j] = below + TOP * BINADE;
    }
  }
  return next;
}

function findThresholds(policy: HiF4Policy): Thresholds {
  const next = new Int32Array(FRACTIONS * 16);
  for (let fraction = 0; fraction < FRACTIONS; fraction++) {
    const code = definedCode(fraction, policy);
    const positive = codeThresholds((word) => code(word, false), next);
    next.set(positive, 16 * fraction);
    // The same under most rules, which two questions each confirm.
    next.set(
      codeThresholds((word) => code(word, true), positive),
      16 * fraction + 8,
    );
  }
  const byFraction = (level: 'e1_8' | 'e1_16') =>
    Int32Array.from({ length: FRACTIONS }, (_, fraction) => reaching(level, fraction, policy));
  return { next, reach4: byFraction('e1_8'), reach2: byFraction('e1_16') };
}

const thresholds = new Map<string, Thresholds>();

/** Thresholds depend on four parameters; found once for each of their 72 combinations, 5 ms each. */
function thresholdsOf(policy: HiF4Policy): Thresholds {
  const key = `${policy.input} ${policy.reciprocal} ${policy.products} ${policy.ties}`;
  let found = thresholds.get(key);
  if (found === undefined) {
    found = findThresholds({ ...policy, 'zero-sign': 'keep' });
    thresholds.set(key, found);
  }
  return found;
}

/** The tables of a policy. */
export function elementTable(policy: HiF4Policy): ElementTable {
  const { next, reach4, reach2 } = thresholdsOf(policy);
  const codes = new Uint8Array(FRACTIONS * ROW);
  const last = new Uint16Array(policy.input === 'f32' ? FRACTIONS * ROW : 0).fill(0xffff);
  for (let half = 0; half < 2 * FRACTIONS; half++) {
    const sign = 8 * (half & 1);
    const row = half * NEGATIVE_HALF;
    codes.fill(policy['zero-sign'] === 'drop' ? 0 : sign, row, row + NEGATIVE_HALF);
    for (let j = 0; j < LARGEST; j++) {
      const threshold = next[8 * half + j]!;
      const first = Math.ceil(threshold / 0x10000);
      codes.fill(sign + j + 1, row + first, row + NEGATIVE_HALF);
      if (threshold % 0x10000 !== 0 && last.length > 0) last[row + first - 1] = (threshold % 0x10000) - 1;
    }
  }
  const code = definedCode(0, policy);
  const zeros = Uint8Array.of(code(0, false), code(0, true));
  const tiny = [code(TINY, false), code(TINY, true)];
  return {
    codes,
    last,
    zeros,
    reach4,
    reach2,
    tinyIsZero: tiny[0] === zeros[0] && tiny[1] === zeros[1],
    underflows: policy.products === 'bf16' && tiny.some((c) => (c & LARGEST) !== 0),
  };
}
