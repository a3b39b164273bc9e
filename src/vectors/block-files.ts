/**
 * Vectors of the block functions: one file a function and profile, and one for the values that no profile has.
 * Clauses: spec/vectors.md VEC-02, VEC-03, VEC-07.
 * @module
 */
import type { Profile } from '../format/policy.ts';
import type { AnyPolicy, OracleFunction } from '../functions/oracle-function.ts';
import { policyOf } from '../functions/registry.ts';
import {
  ALL,
  type Amount,
  type AnyFlag,
  type PackContext,
  subjectOf,
  testsOf,
  testsThatTell,
  typeOf,
} from './block-cases.ts';
import { describeFields } from './fields.ts';
import { notesOf } from './flag.ts';
import { SCHEMA, type VectorFile, type VectorTest } from './vector-file.ts';

interface BlockGroup {
  readonly policy: AnyPolicy;
  readonly outputs: ReturnType<typeof describeFields>;
  readonly source: string;
  readonly shape: string;
  readonly clauses: readonly string[];
  readonly tests: readonly VectorTest[];
}

const results = (groups: readonly BlockGroup[]) => {
  const tests = groups.flatMap((group) => group.tests);
  const count = (result: string): number => tests.filter((test) => test.result === result).length;
  return {
    groups: groups.length,
    tests: tests.length,
    valid: count('valid'),
    acceptable: count('acceptable'),
    invalid: count('invalid'),
  };
};

type UsedFlags = (f: OracleFunction, groups: readonly BlockGroup[]) => readonly AnyFlag[];

const usedNames = (groups: readonly BlockGroup[]): Set<string> =>
  new Set(groups.flatMap(({ tests }) => tests.flatMap((test) => test.flags)));

/** VEC-07. The flags that apply to a policy; every one of them occurs in its group. */
const everyFlag: UsedFlags = (f, groups) => {
  for (const group of groups) {
    const used = usedNames([group]);
    const absent = subjectOf(f).flags.filter(
      (flag) => flag.applies(group.policy, typeOf(f)) && !used.has(flag.name),
    );
    if (absent.length === 0) continue;
    const names = absent.map(({ name }) => name).join(', ');
    throw new Error(`${f.name}, ${group.source}: no case has ${names}`);
  }
  return occurringFlags(f, groups);
};

const occurringFlags: UsedFlags = (f, groups) =>
  subjectOf(f).flags.filter(({ name }) => usedNames(groups).has(name));

function fileOf(
  context: PackContext,
  f: OracleFunction,
  profile: string,
  groups: readonly BlockGroup[],
  flags: UsedFlags,
) {
  return {
    schema: SCHEMA,
    kind: 'blocks' as const,
    function: f.name,
    profile,
    clauses: f.clauses,
    generator: context.generator,
    inputs: describeFields(f.inputs),
    counts: results(groups),
    notes: notesOf(flags(f, groups)),
    groups,
  } satisfies VectorFile & Record<string, unknown>;
}

const shapeOf = (f: OracleFunction): string => `one block of ${f.inputs.at(-1)!.count}`;
const outputsOf = (f: OracleFunction, policy: AnyPolicy) => describeFields(f.outputs(policy));
const profileClause = (f: OracleFunction): string => (f.name.startsWith('hif4') ? 'PRO-01' : 'PRO-02');

/** The file of a function under a profile; that of the first profile says what the others do. */
export function profileFile(
  context: PackContext,
  f: OracleFunction,
  { name, source, policy }: Profile<AnyPolicy>,
  amount: Amount,
) {
  const first = f.profiles[0]!.name === name;
  const tests = testsOf(context, f, policy, amount, first ? name : undefined);
  const clauses = ['CON-01', 'CON-02', profileClause(f), ...f.clauses];
  return fileOf(
    context,
    f,
    name,
    [{ policy, outputs: outputsOf(f, policy), source, shape: shapeOf(f), clauses, tests }],
    everyFlag,
  );
}

/** VEC-02. What stands in place of a profile where every profile has the same rules. */
const ANY = 'any';

/**
 * The file of a function that has the same rules under every profile, a group for each value of its one parameter: the
 * decoders' type of output, the pruners' tie rule.
 */
export function anyFile(context: PackContext, f: OracleFunction, amount: Amount) {
  const [[parameter, values]] = Object.entries(f.parameters) as [[string, readonly string[]]];
  const groups = values.map((value): BlockGroup => {
    const policy = { [parameter]: value };
    const first = value === policyOf(f)[parameter];
    const tests = testsOf(context, f, policy, first ? { ...amount, perFlag: ALL } : amount);
    const clauses = ['CON-01', ...f.clauses];
    return {
      policy,
      outputs: outputsOf(f, policy),
      source: `every profile, ${parameter}=${value}`,
      shape: shapeOf(f),
      clauses,
      tests,
    };
  });
  return fileOf(context, f, ANY, groups, everyFlag);
}

/** The file of every single parameter that differs from the default profile's: cases on which it changes the answer. */
export function parametersFile(context: PackContext, f: OracleFunction, parameters: readonly string[]) {
  const base = policyOf(f);
  const groups = parameters.flatMap((parameter) =>
    f.parameters[parameter]!.filter((value) => value !== base[parameter]).map((value): BlockGroup => {
      const policy = policyOf(f, undefined, { [parameter]: value });
      const source = `${f.profiles[0]!.name} with ${parameter}=${value}`;
      const tests = testsThatTell(context, f, policy, base);
      return { policy, outputs: outputsOf(f, policy), source, shape: shapeOf(f), clauses: f.clauses, tests };
    }),
  );
  const decided = groups.filter(({ tests }) => tests.length > 0);
  return fileOf(context, f, f.profiles[0]!.name, decided, occurringFlags);
}
