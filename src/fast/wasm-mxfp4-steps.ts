/**
 * The steps of an MXFP4 encoder, from its definition: scale and codes. Clauses: spec/mxfp4.md MX-05 to MX-12.
 * @module
 */
import { type Mxfp4Trace, mxfp4Stages } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { ONE } from './thresholds.ts';
import { type CodeSteps, codeSteps, perParameters, roundedInput, scaleSteps } from './wasm-steps.ts';

const SCALE_OF_ONE = 0x7f;

export interface Mxfp4Steps {
  /** The scale byte of amax = 1, and the words of its binade at which it goes up. */
  readonly scaleOfOne: number;
  readonly scale: readonly number[];
  /** Under scale 1. */
  readonly positive: CodeSteps;
  readonly negative: CodeSteps;
}

function scaleByte(word: number, policy: Mxfp4Policy): number {
  const input = { kind: 'finite', values: [], dictated: new Map() };
  const trace = { input, amax: roundedInput(word, policy.input).magnitude } as unknown as Mxfp4Trace;
  trace.exponent = mxfp4Stages.exponent(trace, policy);
  return mxfp4Stages.scale(trace, policy);
}

function code(word: number, policy: Mxfp4Policy): number {
  const values = [roundedInput(word, policy.input)];
  const input = { kind: 'finite', values, dictated: new Map() };
  const trace = { input, scale: SCALE_OF_ONE } as unknown as Mxfp4Trace;
  trace.scaled = mxfp4Stages.scaled(trace, policy);
  return mxfp4Stages.codes(trace, policy)[0]!;
}

const scaleStepsOf = perParameters(['input', 'scale'], (policy: Mxfp4Policy) => ({
  scaleOfOne: scaleByte(ONE, policy),
  scale: scaleSteps((word) => scaleByte(word, policy)),
}));

const elementSteps = perParameters(['input', 'ties'], (policy: Mxfp4Policy) => {
  const positive = codeSteps((word) => code(word, policy), false);
  return { positive, negative: codeSteps((word) => code(word, policy), true, positive.words) };
});

export const mxfp4Steps = (policy: Mxfp4Policy): Mxfp4Steps => ({
  ...scaleStepsOf(policy),
  ...elementSteps(policy),
});
