/**
 * Choosing and judging the cases of the block functions: examples first, then boundary cases for every flag, then random ones.
 * The two paths must agree on every case that is written. Clauses: spec/vectors.md VEC-04, VEC-05, VEC-08.
 * @module
 */

import { Fp4Error } from '../error.ts';
import type { Sha256 } from '../files/sha256.ts';
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
import { caseId } from './hash.ts';
import { pruner } from './pruners.ts';
import { type Subject, same } from './subject.ts';
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
  prune_2_4_hif4: pruner,
  prune_2_4_mxfp4: pruner,
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
const chosen = new Map<string, readonly Candidate[]>();

/** Examples and the boundary cases of level 1; kept, since every profile goes through them. */
function candidatesOf(f: OracleFunction): readonly Candidate[] {
  const list = chosen.get(f.name) ?? [...candidates(f)];
  chosen.set(f.name, list);
  return list;
}

function* candidates(f: OracleFunction): Iterable<Candidate> {
  for (const example of subjectOf(f).examples) yield { kind: 'example', ...example };
  for (const boundary of f.boundary(1)) yield { kind: 'boundary', ...boundary };
}

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
function judgedAnew(f: OracleFunction, policy: AnyPolicy, inputs: readonly Words[]): Judged {
  const subject = subjectOf(f);
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

const judged = new WeakMap<readonly Words[], Map<string, Judged>>();

/** The same, kept: the default profile's judgement chooses cases for all. */
function judge(f: OracleFunction, policy: AnyPolicy, inputs: readonly Words[]): Judged {
  const key = `${f.name} ${JSON.stringify(policy)}`;
  const known = judged.get(inputs) ?? new Map<string, Judged>();
  const found = known.get(key) ?? judgedAnew(f, policy, inputs);
  judged.set(inputs, known.set(key, found));
  return found;
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

/** The cases of a group while they are chosen: each input once, with the flags that have been met. */
class Choice {
  readonly #tests = new Map<string, VectorTest>();
  readonly #tally: Tally = new Map();
  readonly #make: (candidate: Candidate, judged: Judged) => VectorTest;
  readonly #judge: (candidate: Candidate) => Judged;

  constructor(
    judgeOne: (candidate: Candidate) => Judged,
    make: (c: Candidate, judged: Judged) => VectorTest,
  ) {
    this.#judge = judgeOne;
    this.#make = make;
  }

  /** Takes a case that has a flag of which there are fewer than `least`. */
  take(candidate: Candidate, least: number): void {
    const judged = this.#judge(candidate);
    if (least !== ALL && !fewer(this.#tally, judged.flags, least)) return;
    const test = this.#make(candidate, judged);
    if (this.#tests.has(test.id)) return;
    this.#tests.set(test.id, test);
    for (const { name } of judged.flags) this.#tally.set(name, (this.#tally.get(name) ?? 0) + 1);
  }

  has = (flag: AnyFlag): boolean => this.#tally.has(flag.name);

  get tests(): VectorTest[] {
    return [...this.#tests.values()];
  }
}

const selected = new Map<string, readonly Candidate[]>();

/** Examples, and the boundary cases that give each flag `perFlag` cases under the default policy: every profile has these. */
function selectedOf(f: OracleFunction, perFlag: number): readonly Candidate[] {
  const key = `${f.name} ${perFlag}`;
  const known = selected.get(key);
  if (known !== undefined) return known;
  const tally: Tally = new Map();
  const list = candidatesOf(f).filter(({ kind, inputs }) => {
    const { flags } = judge(f, policyOf(f), inputs);
    if (kind === 'boundary' && !fewer(tally, flags, perFlag)) return false;
    for (const { name } of flags) tally.set(name, (tally.get(name) ?? 0) + 1);
    return true;
  });
  selected.set(key, list);
  return list;
}

/**
 * VEC-08. The cases of a profile or an output type: examples and boundary cases, whatever it takes to have every flag that
 * applies, then random ones.
 * @param profile where the cases say what the other profiles give
 */
export function testsOf(
  context: PackContext,
  f: OracleFunction,
  policy: AnyPolicy,
  { perFlag, random }: Amount,
  profile?: string,
): VectorTest[] {
  const choice = new Choice(
    ({ inputs }) => judge(f, policy, inputs),
    (candidate, judged) => testOf(context, f, policy, profile, candidate, judged),
  );
  const taken = perFlag === ALL ? candidatesOf(f) : selectedOf(f, perFlag);
  for (const candidate of taken) choice.take(candidate, ALL);
  const applicable = subjectOf(f).flags.filter((flag) => flag.applies(policy, typeOf(f)));
  for (const candidate of furtherCandidates(f)) {
    if (applicable.every(choice.has)) break;
    choice.take(candidate, 1);
  }
  for (const candidate of randomCases(f, context.seed, random)) choice.take(candidate, ALL);
  return choice.tests;
}

function* furtherCandidates(f: OracleFunction): Iterable<Candidate> {
  yield* candidatesOf(f);
  for (const boundary of f.boundary(2)) yield { kind: 'boundary', ...boundary };
}

/** The cases that two policies answer otherwise: examples, and one a flag. */
export function testsThatTell(
  context: PackContext,
  f: OracleFunction,
  policy: AnyPolicy,
  base: AnyPolicy,
): VectorTest[] {
  const differ = ({ inputs }: Candidate): boolean => {
    const [own, theirs] = [policy, base].map((under) => answered(() => f.fast(inputs, under)));
    return typeof own === 'string' || typeof theirs === 'string' ? own !== theirs : !same(own!, theirs!);
  };
  const choice = new Choice(
    ({ inputs }) => judge(f, policy, inputs),
    (candidate, judged) => testOf(context, f, policy, undefined, candidate, judged),
  );
  for (const candidate of candidatesOf(f)) {
    if (!differ(candidate)) continue;
    choice.take(candidate, candidate.kind === 'example' ? ALL : 1);
  }
  return choice.tests;
}
