/**
 * One function under one policy: evaluating cases, comparing them, and drawing inputs for them. Pure; the streams around it
 * are in src/node. Clauses: spec/stream.md STR-06 to STR-09, spec/conventions.md CON-03.
 * @module
 */
import { decode } from '../number/binary-format.ts';
import { BF16, FP32 } from '../number/floats.ts';
import { type DrawType, type Family, fillFamily } from '../random/families.ts';
import type { Field, Words } from './field.ts';
import type { AnyPolicy, OracleFunction } from './oracle-function.ts';

/** The outputs of a case, and its stages where they are asked for. */
export interface Answer {
  readonly outputs: readonly Words[];
  readonly stages: readonly Words[];
}

/** The outputs by the fast path, or with the stages by the definition. */
export function answer(
  f: OracleFunction,
  policy: AnyPolicy,
  inputs: readonly Words[],
  withStages: boolean,
): Answer {
  return withStages ? f.define(inputs, policy) : { outputs: f.fast(inputs, policy), stages: [] };
}

export interface Difference {
  readonly field: Field;
  readonly index: number;
  readonly expected: number;
  readonly found: number;
}

const isNaNWord = (field: Field, word: number): boolean =>
  field.format !== undefined && decode(field.format, word).kind === 'nan';

/** CON-03. The first difference of a field; a NaN equals every NaN of its type unless payloads are kept. */
function differenceIn(field: Field, expected: Words, found: Words, payload: boolean): Difference | undefined {
  for (let index = 0; index < field.count; index++) {
    const wanted = expected[index]!;
    const got = found[index]!;
    if (wanted === got) continue;
    if (!payload && isNaNWord(field, wanted) && isNaNWord(field, got)) continue;
    return { field, index, expected: wanted, found: got };
  }
  return undefined;
}

/** STR-08. The first difference, in the order of the fields. */
export function firstDifference(
  fields: readonly Field[],
  expected: readonly Words[],
  found: readonly Words[],
  policy: AnyPolicy,
): Difference | undefined {
  for (const [k, field] of fields.entries()) {
    const difference = differenceIn(field, expected[k]!, found[k]!, policy['nan'] === 'payload');
    if (difference) return difference;
  }
  return undefined;
}

export interface Generation {
  /** Without one: the boundary cases, then ladder. */
  readonly family?: Family;
  readonly seed: bigint;
  readonly level: 1 | 2;
  readonly range?: readonly [number, number];
  /** Cases in all; undefined means 1000, or all boundary cases if they are more. */
  readonly count?: number;
  /** Only the cases j with j mod `of` = `shard` - 1. */
  readonly shard: number;
  readonly of: number;
}

const DEFAULT_COUNT = 1000;

/** RND-03. What the elements of an input are drawn as: floats of the two input types, low bits of a word for the rest. */
const drawType = (field: Field): DrawType =>
  field.format === BF16 ? 'bf16' : field.format === FP32 ? 'f32' : { bits: 4 * field.digits };

/** RND-02. Case j of a family: each operand's elements are numbered on from case to case. */
function drawCase(f: OracleFunction, g: Generation, j: number): Words[] {
  return f.inputs.map((field, operand) => {
    const out = new Uint32Array(field.count);
    const range = g.range === undefined ? {} : { range: g.range };
    const type = drawType(field);
    const draw = {
      family: g.family ?? (typeof type === 'object' ? ('bits' as const) : ('ladder' as const)),
      seed: g.seed,
      operand,
      type,
      channels: field.count,
      ...range,
    };
    fillFamily(draw, j * field.count, out);
    return out;
  });
}

/** STR-09. The inputs of the cases of a shard, in order: boundary cases first where no family is asked for. */
export function* generate(f: OracleFunction, g: Generation): Generator<readonly Words[]> {
  const mine = (j: number): boolean => j % g.of === g.shard - 1;
  const limit = g.count ?? Number.POSITIVE_INFINITY;
  let j = 0;
  if (g.family === undefined) {
    for (const { inputs } of f.boundary(g.level)) {
      if (j >= limit) return;
      if (mine(j++)) yield inputs;
    }
  }
  const end = g.count ?? Math.max(DEFAULT_COUNT, j);
  for (; j < end; j++) if (mine(j)) yield drawCase(f, g, j);
}
