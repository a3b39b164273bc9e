/**
 * One GRPO step at the level of log-probs. Clauses: spec/grpo.md.
 * @module
 */
import { Fp4Error } from '../error.ts';
import type { Step } from './step-record.ts';
import type { StepResult } from './step-result.ts';
import { trlStep } from './trl-step.ts';
import { verlStep } from './verl-step.ts';

/**
 * The step under the preset its config names.
 * @param advantages of all answers in a row, where they come from elsewhere
 */
export function runStep({ config, ...step }: Step, advantages?: readonly number[]): StepResult {
  const whole = { config, ...step };
  return config.preset === 'trl' ? trlStep(whole, config, advantages) : verlStep(whole, config, advantages);
}

/**
 * GRP-20. Refuses what a sound run does not have.
 * @throws Fp4Error E_NONFINITE
 */
export function refuseStrange({ place, warnings }: Step): void {
  if (warnings.length > 0)
    throw new Fp4Error(
      'E_NONFINITE',
      `${place}${warnings[0]} (${warnings.length} such values; refused by --strict)`,
    );
}
