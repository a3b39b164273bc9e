/**
 * An encoder as steps: the FP32 words at which its code goes up. Codes and scales never fall as a magnitude rises, and scaling
 * by 2^k moves a word by k binades and changes no code, so a code is the number of steps that the word, less its scale's
 * exponent, has reached. Input rounding, reciprocal, products and ties are all in the steps, which come from the definition.
 * @module
 */
import { blockInput, type Signed } from '../format/nonfinite.ts';
import { f32Value } from '../format/scalar.ts';
import { isZero } from '../number/exact.ts';
import { BINADE, firstReaching, ONE } from './thresholds.ts';

const LARGEST_CODE = 7;
const SIGN = 0x80000000;
/** Far below every step between two codes, and normal in FP32 and BF16. */
const TINY = ONE - 60 * BINADE;

/** Steps of the codes 1 to 7 of one sign. */
export interface CodeSteps {
  /** The smallest word of each code under a scale of exponent 0; 0 where whatever is not zero reaches it. */
  readonly words: readonly number[];
  /** Whether every number but zero has at least code 1, as when magnitudes are rounded up. */
  readonly fromNonzero: boolean;
}

/**
 * @param code of a word with its sign, by the definition, under a scale of exponent 0
 * @param guess steps that are likely the same, which two questions each confirm
 */
export function codeSteps(
  code: (word: number) => number,
  negative: boolean,
  guess: readonly number[] = [],
): CodeSteps {
  const magnitudeCode = (word: number): number => code(negative ? (word | SIGN) >>> 0 : word) & LARGEST_CODE;
  const words: number[] = [];
  let below = TINY;
  for (let k = 1; k <= LARGEST_CODE; k++) {
    const holds = (word: number): boolean => magnitudeCode(word) >= k;
    if (holds(TINY)) words.push(0);
    else {
      // Rounding to odd passes over the even codes: two begin at the same word.
      if (!holds(below)) below = firstReaching(below, ONE + 4 * BINADE, holds, guess[k - 1]);
      words.push(below);
    }
  }
  return { words, fromNonzero: words[0] === 0 };
}

/** The same as `make`, which is asked once for each combination of the parameters that matter to it. */
export function perParameters<P extends Readonly<Record<string, string>>, T>(
  names: readonly (keyof P & string)[],
  make: (policy: P) => T,
): (policy: P) => T {
  const kept = new Map<string, T>();
  return (policy) => {
    const key = names.map((name) => policy[name]).join();
    let made = kept.get(key);
    if (made === undefined) {
      made = make(policy);
      kept.set(key, made);
    }
    return made;
  };
}

/** The words of the binade of 1 at which a scale's code goes up. */
export function scaleSteps(code: (word: number) => number): number[] {
  const steps: number[] = [];
  const last = ONE + BINADE - 1;
  for (let next = code(ONE) + 1; next <= code(last); next++) {
    steps.push(firstReaching(ONE - 1, last, (word) => code(word) >= next));
  }
  return steps;
}

/** The significands at which steps are, filled up to `count` with what no significand reaches. */
export const stepsOfBinade = (steps: readonly number[], count: number): number[] => {
  if (steps.length > count)
    throw new RangeError(`a scale has ${steps.length} steps in a binade, not ${count}`);
  return Array.from({ length: count }, (_, k) => (steps[k] === undefined ? BINADE : steps[k] & (BINADE - 1)));
};

/** CON-04. A finite word, rounded to the input format. */
export const roundedInput = (word: number, input: 'bf16' | 'f32'): Signed =>
  blockInput([f32Value(word)], input, 'error').values[0]!;

/** CON-04. The smallest word that is not rounded to zero. */
export const leastNonzero = (input: 'bf16' | 'f32'): number =>
  firstReaching(0, ONE, (word) => !isZero(roundedInput(word, input).magnitude));
