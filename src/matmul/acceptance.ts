/**
 * What a verdict accepts, by the names of --accept. Clauses: spec/gemm.md GEM-14.
 * @module
 */
import { Fp4Error } from '../error.ts';
import type { TruncatingModel } from './bound.ts';
import type { Accumulate } from './gemm.ts';

export type Acceptance =
  | { readonly kind: 'exact'; readonly name: string }
  | { readonly kind: 'bits'; readonly name: string; readonly accumulate?: Accumulate }
  | { readonly kind: 'fp32'; readonly name: string }
  | { readonly kind: 'truncating'; readonly name: string; readonly model: TruncatingModel };

const MODEL_NAMES = [
  'group',
  'fractionBits',
  'outputFractionBits',
  'outputRounding',
  'exponentFloor',
] as const;

function integer(value: unknown, name: string, low: number, high: number, file: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value;
  const found = value === undefined ? 'missing' : JSON.stringify(value);
  throw new Fp4Error(
    'E_PARAMETER',
    `${file}: ${name} is ${found}; expected an integer from ${low} to ${high}`,
  );
}

/**
 * GEM-14. The model that a JSON file of bound:@FILE holds.
 * @throws Fp4Error E_PARAMETER
 */
export function truncatingModel(text: string, file: string): TruncatingModel {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Fp4Error('E_PARAMETER', `${file}: no JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fp4Error('E_PARAMETER', `${file}: expected an object with ${MODEL_NAMES.join(', ')}`);
  }
  const given = value as Record<string, unknown>;
  const unknown = Object.keys(given).find((name) => !(MODEL_NAMES as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new Fp4Error('E_PARAMETER', `${file}: ${unknown} is not known; known: ${MODEL_NAMES.join(', ')}`);
  }
  const outputRounding = given['outputRounding'] ?? 'truncate';
  if (outputRounding !== 'truncate' && outputRounding !== 'even') {
    throw new Fp4Error(
      'E_PARAMETER',
      `${file}: outputRounding is ${JSON.stringify(outputRounding)}; known: truncate, even`,
    );
  }
  return {
    group: integer(given['group'], 'group', 1, 2 ** 16, file),
    fractionBits: integer(given['fractionBits'], 'fractionBits', 1, 200, file),
    outputFractionBits: integer(given['outputFractionBits'] ?? 23, 'outputFractionBits', 1, 23, file),
    outputRounding,
    exponentFloor: integer(given['exponentFloor'] ?? -133, 'exponentFloor', -400, 0, file),
  };
}
