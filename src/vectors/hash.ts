/**
 * Stable ids: the hash of what a case is, so that a vector keeps its id while other vectors come and go.
 * Clauses: spec/vectors.md VEC-04.
 * @module
 */
import type { Sha256 } from '../files/sha256.ts';
import { defaultPolicy } from '../format/policy.ts';
import type { Words } from '../functions/field.ts';
import { formatFields } from '../functions/line.ts';
import type { AnyPolicy, OracleFunction } from '../functions/oracle-function.ts';

/** VEC-04. The parameters that differ from the function's defaults, sorted by name: a new parameter changes no id. */
export function policyText(f: OracleFunction, policy: AnyPolicy): string {
  const defaults: AnyPolicy = defaultPolicy(f.parameters);
  return Object.keys(policy)
    .filter((name) => policy[name] !== defaults[name])
    .sort()
    .map((name) => `${name}=${policy[name]}`)
    .join(' ');
}

const DIGITS = 16;

/** The first 16 hex digits of the hash of lines of text. */
export const idOf = (sha256: Sha256, ...lines: readonly string[]): string =>
  sha256(new TextEncoder().encode(lines.join('\n'))).slice(0, DIGITS);

/** VEC-04. The id of a case: function, policy, inputs as they stand on a line of the stream. */
export const caseId = (
  sha256: Sha256,
  f: OracleFunction,
  policy: AnyPolicy,
  inputs: readonly Words[],
): string => idOf(sha256, f.name, policyText(f, policy), formatFields(f.inputs, inputs));
