/**
 * Choosing and judging the cases of the block functions: examples first, then boundary cases for every flag, then random ones.
 * The two paths must agree on every case that is written. Clauses: spec/vectors.md VEC-04, VEC-05, VEC-08.
 * @module
 */
import { Fp4Error } from '../error.ts';
import type { Words } from '../functions/field.ts';
import { formatFields } from '../functions/line.ts';
import type { AnyPolicy, BoundaryCase, OracleFunction } from '../functions/oracle-function.ts';
import { policyOf } from '../functions/registry.ts';
import { generate } from '../functions/session.ts';
import type { BinaryFormat } from '../number/binary-format.ts';
import { FP32 } from '../number/floats.ts';
import { FAMILIES, type Family } from '../random/families.ts';
import { hif4Decoder, mxfp4Decoder } from './decoders.ts';
import { hif4Encoder, mxfp4Encoder } from './encoders.ts';
import { hexByName } from './fields.ts';
import type { Flag } from './flag.ts';
import { caseId, type Sha256 } from './hash.ts';
import type { Subject } from './subject.ts';
import type { Alternative, Generator, NamedHex, VectorTest } from './vector-file.ts';

export interface PackContext {
  readonly sha256: Sha256;
  readonly generator: Generator;
  readonly seed: bigint;
}

/** Flags are asked about the cases of their own subject alone, which the types cannot say. */
type AnySubject = Subject<unknown>;
export type AnyFlag = Flag<unknown>;

const SUBJECTS = {
  hif4_quantize: hif4Encoder,
  hif4_quantize_f32: hif4Encoder,
  hif4_dequantize: hif4Decoder,
  mxfp4_quantize: mxfp4Encoder,
  mxfp4_quantize_f32: mxfp4Encoder,
  mxfp4_dequantize: mxfp4Decoder,
} as const;

export const subjectOf = (f: OracleFunction): AnySubject =>
  SUBJECTS[f.name as keyof typeof SUBJECTS](f) as unknown as AnySubject;

/** The type of an encoder's inputs; a decoder's are no floats, and its flags do not ask. */
export const typeOf = (f: OracleFunction): BinaryFormat => f.inputs[0]!.format ?? FP32;

/** How many cases a file takes. */
export interface Amount {
  /** Boundary cases that add a flag which has fewer cases than this; all of level 1 where it is ALL. */
  readonly perFlag: number;
  /** Random cases of each family. */
  readonly random: number;
}

/** No limit on the cases of a flag. */
export const ALL = Number.POSITIVE_INFINITY;

interface Candidate extends BoundaryCase {
  readonly kind: 'example' | 'boundary' | 'random';
}

/** Random inputs: a few cases of every family. */
function* randomCases(f: OracleFunction, seed: bigint, count: number): Iterable<Candidate> {
  for (const family of Object.keys(FAMILIES) as Family[]) {
    let j = 0;
    for (const inputs of generate(f, { family, seed, level: 1, count, shard: 1, of: 1 })) {
      yield { kind: 'random', inputs, note: `family ${family}, seed ${seed}, case ${j++}` };
    }
  }
}
function* candidates(f: OracleFunction, subject: AnySubject): Iterable<Candidate> {
  for (const example of subject.examples) yield { kind: 'example', ...example };
  for (const boundary of f.boundary(1)) yield { kind: 'boundary', ...boundary };
}

const same = (a: readonly Words[], b: readonly Words[]): boolean =>
  a.every((field, k) => Array.from(field).join() === Array.from(b[k]!).join());

/** What the fast path, or another profile, gives: outputs or the code of its refusal. */
function answered(give: () => readonly Words[]): readonly Words[] | string {
  try {
    return give();
  } catch (error) {
    if (error instanceof Fp4Error) return error.code;
    throw error;
  }
}

interface Judged {
  readonly flags: readonly AnyFlag[];
  /** The outputs, or the code of the refusal. */
  readonly outcome: readonly Words[] | string;
}

/** VEC-08. One case by both paths, with its flags. */
function judge(f: OracleFunction, subject: AnySubject, policy: AnyPolicy, inputs: readonly Words[]): Judged {
  let about: unknown;
  const outcome = answered(() => {
    const defined = subject.define(inputs, policy);
    about = defined.about;
    return defined.outputs;
  });
  about ??= subject.refused(inputs, policy);
  const fast = answered(() => f.fast(inputs, policy));
  const agree =
    typeof outcome === 'string' || typeof fast === 'string' ? outcome === fast : same(outcome, fast);
  if (!agree) {
    throw new Error(`${f.name}: definition and fast path differ on ${formatFields(f.inputs, inputs)}`);
  }
  const applicable = subject.flags.filter((flag) => flag.applies(policy, typeOf(f)));
  return { outcome, flags: applicable.filter((flag) => flag.holds(about)) };
}

/** VEC-05. What the other profiles give where it is something else; equal answers together. */
function alternatives(
  f: OracleFunction,
  profile: string,
  inputs: readonly Words[],
  outcome: readonly Words[] | string,
): Alternative[] {
  const shown = (answer: readonly Words[] | string, policy: AnyPolicy): string | NamedHex =>
    typeof answer === 'string' ? answer : hexByName(f.outputs(policy), answer);
  const own = JSON.stringify(shown(outcome, policyOf(f, profile)));
  const groups = new Map<string, string[]>();
  for (const { name, policy } of f.profiles) {
    const text = JSON.stringify(
      shown(
        answered(() => f.fast(inputs, policy)),
        policy,
      ),
    );
    if (name !== profile && text !== own) groups.set(text, [...(groups.get(text) ?? []), name]);
  }
  return [...groups].map(([text, profiles]) => {
    const answer = JSON.parse(text) as string | NamedHex;
    return typeof answer === 'string' ? { profiles, error: answer } : { profiles, expected: answer };
  });
}

const sortedClauses = (flags: readonly AnyFlag[]): string[] =>
  [...new Set(flags.flatMap(({ clauses }) => clauses))].sort();

function testOf(
  context: PackContext,
  f: OracleFunction,
  policy: AnyPolicy,
  profile: string | undefined,
  candidate: Candidate,
  { flags, outcome }: Judged,
): VectorTest {
  const common = {
    id: caseId(context.sha256, f, policy, candidate.inputs),
    comment: candidate.note,
    flags: flags.map(({ name }) => name),
    clauses: sortedClauses(flags),
    inputs: hexByName(f.inputs, candidate.inputs),
  };
  const others = profile === undefined ? [] : alternatives(f, profile, candidate.inputs, outcome);
  const listed = others.length > 0 ? { alternatives: others } : {};
  if (typeof outcome === 'string') return { ...common, result: 'invalid', error: outcome, ...listed };
  const stages =
    candidate.kind === 'example'
      ? { stages: hexByName(f.stages(policy), f.define(candidate.inputs, policy).stages) }
      : {};
  return {
    ...common,
    result: others.length > 0 ? 'acceptable' : 'valid',
    expected: hexByName(f.outputs(policy), outcome),
    ...stages,
    ...listed,
  };
}

/** Flags that apply to a policy, with how many cases have them so far. */
type Tally = Map<string, number>;

const fewer = (tally: Tally, flags: readonly AnyFlag[], than: number): boolean =>
  flags.some(({ name }) => (tally.get(name) ?? 0) < than);

/** Which cases a group takes. */
interface Selection extends Amount {
  /** The profile of the group, where its cases say what the other profiles give. */
  readonly comparedWith?: string;
  /** Only cases to which this policy gives another answer. */
  readonly unlike?: AnyPolicy;
}

/** VEC-08. The cases of one policy: examples, boundary cases, what level 2 alone reaches, random ones; each input once. */
export function testsOf(
  context: PackContext,
  f: OracleFunction,
  policy: AnyPolicy,
  { perFlag, random, comparedWith, unlike }: Selection,
): VectorTest[] {
  const subject = subjectOf(f);
  const tests = new Map<string, VectorTest>();
  const tally: Tally = new Map();
  const answer = (under: AnyPolicy, { inputs }: Candidate): string =>
    JSON.stringify(answered(() => f.fast(inputs, under)));
  const take = (candidate: Candidate, least: number): void => {
    if (unlike !== undefined && answer(policy, candidate) === answer(unlike, candidate)) return;
    const judged = judge(f, subject, policy, candidate.inputs);
    if (least !== ALL && !fewer(tally, judged.flags, least)) return;
    const test = testOf(context, f, policy, comparedWith, candidate, judged);
    if (tests.has(test.id)) return;
    tests.set(test.id, test);
    for (const { name } of judged.flags) tally.set(name, (tally.get(name) ?? 0) + 1);
  };
  for (const candidate of candidates(f, subject)) {
    take(candidate, candidate.kind === 'example' && unlike === undefined ? ALL : perFlag);
  }
  const missing = subject.flags.filter((flag) => flag.applies(policy, typeOf(f)) && !tally.has(flag.name));
  if (missing.length > 0 && unlike === undefined) {
    for (const boundary of f.boundary(2)) take({ kind: 'boundary', ...boundary }, 1);
  }
  for (const candidate of randomCases(f, context.seed, random)) take(candidate, ALL);
  return [...tests.values()];
}
