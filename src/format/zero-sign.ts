/**
 * The sign of zero, on which encoders differ. Clauses: spec/conventions.md CON-06.
 * @module
 */
import { isZero } from '../number/exact.ts';
import type { Signed } from './nonfinite.ts';

/** Kept everywhere; dropped where the input is -0; or dropped wherever the code's magnitude is 0. */
export type ZeroSign = 'keep' | 'drop-input' | 'drop';

/** CON-06. The sign bit of a 4-bit code: 8 or 0. */
export function signBit(input: Signed, magnitudeCode: number, rule: ZeroSign): number {
  const dropped = (rule === 'drop' && magnitudeCode === 0) || (rule !== 'keep' && isZero(input.magnitude));
  return input.negative && !dropped ? 8 : 0;
}
