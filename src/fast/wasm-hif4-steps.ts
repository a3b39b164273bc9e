/**
 * The steps of a HiF4 encoder, from its definition: scale, exponent bits and codes.
 * Clauses: spec/hif4.md HIF4-06 to HIF4-12.
 * @module
 */
import { type HiF4Trace, hif4Stages } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { BINADE, firstReaching, ONE } from './thresholds.ts';
import { type CodeSteps, codeSteps, perParameters, roundedInput, scaleSteps } from './wasm-steps.ts';

/** E6M2 codes of exponent 0: one row each for the four fractions. */
const UNIT_SCALE = 0xc0;
const FRACTIONS = [0, 1, 2, 3];

/** Words of maxima and of elements, under a scale of exponent 0. */
export interface FractionSteps {
  readonly positive: CodeSteps;
  readonly negative: CodeSteps;
  /** The smallest words that reach 4 scales, and 2. */
  readonly four: number;
  readonly two: number;
}

export interface HiF4Steps {
  /** The scale code of 1, and the words of its binade at which it goes up. */
  readonly scaleOfOne: number;
  readonly scale: readonly number[];
  readonly byFraction: readonly FractionSteps[];
}

function scaleCode(word: number, policy: HiF4Policy): number {
  const trace = { max64: roundedInput(word, policy.input).magnitude } as HiF4Trace;
  trace.sf = hif4Stages.sf(trace, policy);
  return hif4Stages.e6m2(trace, policy);
}

function fractionSteps(fraction: number, policy: HiF4Policy): FractionSteps {
  const trace = { e6m2: UNIT_SCALE + fraction, e1_8: 0, e1_16: 0 } as HiF4Trace;
  trace.rcp = hif4Stages.rcp(trace, policy);
  const code = (word: number): number => {
    const values = [roundedInput(word, policy.input)];
    const one = { ...trace, input: { kind: 'finite' as const, values, dictated: new Map<number, number>() } };
    one.scaled = hif4Stages.scaled(one, policy);
    return hif4Stages.codes(one, policy)[0]!;
  };
  const reaching = (stage: 'e1_8' | 'e1_16'): number =>
    firstReaching(ONE - BINADE, ONE + 4 * BINADE, (word) => {
      const max = [roundedInput(word, policy.input).magnitude];
      return hif4Stages[stage]({ ...trace, max4: max, max8: max }, policy) === 1;
    });
  const positive = codeSteps(code, false);
  return {
    positive,
    negative: codeSteps(code, true, positive.words),
    four: reaching('e1_8'),
    two: reaching('e1_16'),
  };
}

const scaleStepsOf = perParameters(['input', 'sf', 'e6m2-ties'], (policy: HiF4Policy) => ({
  scaleOfOne: scaleCode(ONE, policy),
  scale: scaleSteps((word) => scaleCode(word, policy)),
}));

/** A thousand questions to the definition, some 10 ms. */
const elementSteps = perParameters(['input', 'reciprocal', 'products', 'ties'], (policy: HiF4Policy) =>
  FRACTIONS.map((fraction) => fractionSteps(fraction, policy)),
);

export const hif4Steps = (policy: HiF4Policy): HiF4Steps => ({
  ...scaleStepsOf(policy),
  byFraction: elementSteps(policy),
});
