/**
 * Every testable function, once.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import { resolvePolicy } from '../format/policy.ts';
import type { Field } from './field.ts';
import { hif4Functions } from './hif4-functions.ts';
import { mxfp4Functions } from './mxfp4-functions.ts';
import type { AnyPolicy, OracleFunction } from './oracle-function.ts';
import { pruneFunctions } from './prune-functions.ts';
import { scalarFunctions } from './scalar-functions.ts';

export const FUNCTIONS: readonly OracleFunction[] = [
  ...scalarFunctions,
  ...hif4Functions,
  ...mxfp4Functions,
  ...pruneFunctions,
];

/** @throws Fp4Error E_USAGE for a name that is no function */
export function functionByName(name: string): OracleFunction {
  const found = FUNCTIONS.find((f) => f.name === name);
  if (found) return found;
  const names = FUNCTIONS.map((f) => f.name);
  throw new Fp4Error('E_USAGE', `unknown function "${name}"; ${knownNames(name, names)}`);
}

/**
 * CON-02. The policy of a function: its profile with single parameters overridden.
 * @throws Fp4Error E_PROFILE, E_PARAMETER
 */
export const policyOf = (f: OracleFunction, profile?: string, overrides?: AnyPolicy): AnyPolicy =>
  resolvePolicy(f.parameters, f.profiles, profile, overrides);

const describeField = ({ name, kind, count, digits }: Field) => ({ name, kind, count, digits });

/** What `fp4 functions --json` prints; outputs and stages are those of the default policy. */
export function describe(f: OracleFunction) {
  const policy = policyOf(f);
  const parameters: Record<string, { values: readonly string[]; default: string }> = {};
  for (const [name, values] of Object.entries(f.parameters)) {
    parameters[name] = { values, default: policy[name]! };
  }
  return {
    name: f.name,
    summary: f.summary,
    inputs: f.inputs.map(describeField),
    outputs: f.outputs(policy).map(describeField),
    stages: f.stages(policy).map(describeField),
    parameters,
    profiles: f.profiles.map((p) => p.name),
    clauses: f.clauses,
  };
}
