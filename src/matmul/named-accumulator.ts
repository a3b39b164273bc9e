/**
 * Accumulators by the names that commands give them. Clauses: spec/gemm.md GEM-10.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import type { Accumulate } from './gemm.ts';

export const ACCUMULATOR_NAMES = ['exact'] as const;

/**
 * The function of an accumulator; undefined for `exact`, which is not computed output by output.
 * @throws Fp4Error E_PARAMETER
 */
export function accumulatorByName(name: string): Accumulate | undefined {
  if (name === 'exact') return undefined;
  throw new Fp4Error('E_PARAMETER', `unknown accumulator "${name}"; ${knownNames(name, ACCUMULATOR_NAMES)}`);
}
