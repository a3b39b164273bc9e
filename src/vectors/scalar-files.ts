/**
 * Vectors of the scalar functions: whole functions as tables of codes or lists of steps, and flagged boundary cases.
 * Clauses: spec/vectors.md VEC-06.
 * @module
 */
import { formatElement } from '../functions/line.ts';
import type { AnyPolicy, OracleFunction } from '../functions/oracle-function.ts';
import { policyOf } from '../functions/registry.ts';
import { type BinaryFormat, codeBits, decode, largestFinite } from '../number/binary-format.ts';
import { BF16, FP32 } from '../number/floats.ts';
import { TIES } from '../number/round.ts';
import type { PackContext } from './block-cases.ts';
import { describeFields } from './fields.ts';
import { notesOf } from './flag.ts';
import { idOf, policyText } from './hash.ts';
import { runsOf } from './runs.ts';
import { type ScalarCase, scalarFlags } from './scalar-flags.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

const fromOf = (f: OracleFunction): BinaryFormat => f.inputs[0]!.format!;
const toOf = (f: OracleFunction): BinaryFormat => f.outputs({})[0]!.format!;
const inputHex = (f: OracleFunction, word: number): string => formatElement(f.inputs[0]!, word);
/** The output is of one type under every policy. */
const codeHex = (f: OracleFunction, code: number): string => formatElement(f.outputs({})[0]!, code);

const fastCode = (f: OracleFunction, word: number, policy: AnyPolicy): number =>
  f.fast([[word]], policy)[0]![0]!;

/** VEC-08. The code that both paths give. */
function codeOf(f: OracleFunction, word: number, policy: AnyPolicy): number {
  const code = f.define([[word]], policy).outputs[0]![0]!;
  if (code === fastCode(f, word, policy)) return code;
  throw new Error(`${f.name}: definition and fast path differ on ${inputHex(f, word)}`);
}

const header = (context: PackContext, f: OracleFunction, policy: AnyPolicy, layout: string) => ({
  id: idOf(context.sha256, f.name, policyText(f, policy), layout),
  policy,
  layout,
  clauses: ['CON-01', ...f.clauses],
});

const chunks = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, k) => values.slice(k * size, (k + 1) * size));

/** Every input in ascending order, its code alone; a line has as many codes as there are lines, or 16. */
function tableGroup(context: PackContext, f: OracleFunction, policy: AnyPolicy) {
  const bits = codeBits(fromOf(f));
  const codes = Array.from({ length: 2 ** bits }, (_, word) => codeHex(f, codeOf(f, word, policy)));
  const shared = header(context, f, policy, 'table');
  return {
    ...shared,
    // A table of a small format's values is its record written out.
    clauses: bits <= 8 ? ['NUM-03', ...shared.clauses] : shared.clauses,
    count: codes.length,
    table: chunks(codes, bits === 16 ? 256 : 16).map((row) => row.join('')),
  };
}

/** Steps to a line of the list. */
const STEPS = 16;

/** VEC-06. The steps of the fast path, each confirmed by the definition at its first and its last input. */
function runsGroup(context: PackContext, f: OracleFunction, policy: AnyPolicy) {
  const from = fromOf(f);
  const bits = codeBits(from) as 16 | 32;
  const runs = runsOf((word) => fastCode(f, word, policy), bits, largestFinite(from) + 1);
  for (const [k, { from: first, code }] of runs.entries()) {
    const last = (runs[k + 1]?.from ?? 2 ** bits) - 1;
    for (const word of [first, last]) {
      if (codeOf(f, word, policy) !== code) throw new Error(`${f.name}: no step at ${inputHex(f, word)}`);
    }
  }
  const texts = runs.map(({ from: first, code }) => `${inputHex(f, first)}=${codeHex(f, code)}`);
  return {
    ...header(context, f, policy, 'runs'),
    count: runs.length,
    runs: chunks(texts, STEPS).map((row) => row.join(' ')),
  };
}

/** Boundary cases, those with the same flags together. */
function casesGroup(context: PackContext, f: OracleFunction, policy: AnyPolicy, words: readonly number[]) {
  const [from, to] = [fromOf(f), toOf(f)];
  const byFlags = new Map<string, string[]>();
  for (const word of words) {
    const code = codeOf(f, word, policy);
    const c: ScalarCase = { from, to, policy, word, value: decode(from, word), code };
    const flags = scalarFlags.filter((flag) => flag.applies(from, to, policy) && flag.holds(c));
    const key = flags.map(({ name }) => name).join();
    byFlags.set(key, [...(byFlags.get(key) ?? []), `${inputHex(f, word)}=${codeHex(f, code)}`]);
  }
  const tests = [...byFlags].map(([key, cases]) => {
    const names = key === '' ? [] : key.split(',');
    const flags = scalarFlags.filter(({ name }) => names.includes(name));
    return {
      id: idOf(
        context.sha256,
        f.name,
        policyText(f, policy),
        ...cases.map((c) => c.slice(0, c.indexOf('='))),
      ),
      comment: names.length === 0 ? 'numbers of the target and their neighbours' : names.join(', '),
      flags: names,
      clauses: [...new Set(flags.flatMap(({ clauses }) => clauses))].sort(),
      result: 'valid',
      cases: cases.join(' '),
    };
  });
  return { ...header(context, f, policy, 'cases'), count: words.length, tests };
}

/** About the tie above the largest BF16, which the stride through its codes does not meet. */
const TOP_OF_BF16 = [0x7f7f7fff, 0x7f7f8000, 0x7f7f8001, 0xff7f7fff, 0xff7f8000, 0xff7f8001];

function boundaryWords(f: OracleFunction): number[] {
  const words = [...f.boundary(1)].map(({ inputs }) => inputs[0]![0]!);
  return toOf(f) === BF16 ? [...new Set([...words, ...TOP_OF_BF16])] : words;
}

/** Every rule of rounding with every rule for overflow. */
const narrowingPolicies = (f: OracleFunction): AnyPolicy[] =>
  TIES.flatMap((ties) =>
    f.parameters['overflow']!.map((overflow) => policyOf(f, undefined, { ties, overflow })),
  );

/** Policies whose boundary cases are written out: the default one, and half-away with infinities and NaNs. */
const flaggedPolicies = (f: OracleFunction): AnyPolicy[] => [
  policyOf(f),
  policyOf(f, undefined, { ties: 'away', overflow: 'nonfinite' }),
];

const isDefault = (f: OracleFunction, policy: AnyPolicy): boolean => policyText(f, policy) === '';

/** The NaNs of BF16 and their neighbours, the infinities. */
const nanWords = (): number[] =>
  Array.from({ length: 2 ** 16 }, (_, word) => word).filter((word) => (word & 0x7f80) === 0x7f80);

const payload = (f: OracleFunction): AnyPolicy => policyOf(f, undefined, { nan: 'payload' });

/** What is written of a function, by the formats it converts between. */
function groupsOf(context: PackContext, f: OracleFunction) {
  const [from, to] = [fromOf(f), toOf(f)];
  const table = () => tableGroup(context, f, policyOf(f));
  if (codeBits(from) <= 8) return [table()];
  const cases = (policies: readonly AnyPolicy[]) =>
    policies.map((policy) => casesGroup(context, f, policy, boundaryWords(f)));
  if (f.name === 'bf16_to_f32') return [table(), casesGroup(context, f, payload(f), nanWords())];
  // FP32 to BF16 has too many steps for a list.
  if (to === BF16) {
    const saturated = policyOf(f, undefined, { overflow: 'saturate' });
    const rounded = TIES.map((ties) => policyOf(f, undefined, { ties }));
    return cases([...rounded, saturated, payload(f)]);
  }
  const runs = narrowingPolicies(f).map((policy) => ({ policy, runs: () => runsGroup(context, f, policy) }));
  if (from === FP32) return [...runs.map((group) => group.runs()), ...cases(flaggedPolicies(f))];
  const others = runs.filter(({ policy }) => !isDefault(f, policy));
  return [table(), ...others.map((group) => group.runs()), ...cases([policyOf(f)])];
}

interface FlaggedGroup {
  readonly policy: AnyPolicy;
  readonly tests?: readonly { readonly flags: readonly string[] }[];
}

/** VEC-07. The notes of the flags that occur; in the boundary cases of a narrowing every flag that applies does. */
function notesFor(f: OracleFunction, groups: readonly FlaggedGroup[]) {
  const [from, to] = [fromOf(f), toOf(f)];
  const occurring = new Set<string>();
  for (const { policy, tests } of groups) {
    if (tests === undefined) continue;
    const used = new Set(tests.flatMap(({ flags }) => flags));
    for (const name of used) occurring.add(name);
    const absent = scalarFlags.filter((flag) => flag.applies(from, to, policy) && !used.has(flag.name));
    if (to !== FP32 && absent.length > 0) {
      throw new Error(`${f.name}: no case has ${absent.map((flag) => flag.name).join(', ')}`);
    }
  }
  return occurring.size === 0 ? undefined : notesOf(scalarFlags.filter(({ name }) => occurring.has(name)));
}

/** The file of a scalar function. */
export function scalarFile(context: PackContext, f: OracleFunction) {
  const groups = groupsOf(context, f);
  const notes = notesFor(f, groups as FlaggedGroup[]);
  return {
    schema: SCHEMA,
    kind: 'scalars' as const,
    function: f.name,
    profile: 'any',
    clauses: f.clauses,
    generator: context.generator,
    inputs: describeFields(f.inputs),
    outputs: describeFields(f.outputs({})),
    counts: { groups: groups.length, entries: groups.reduce((sum, { count }) => sum + count, 0) },
    ...(notes === undefined ? {} : { notes }),
    groups,
  } satisfies VectorFile & Record<string, unknown>;
}
