/**
 * One function under one policy: evaluating cases, comparing them, and drawing inputs for them. Pure; the streams around it
 * are in src/node. Clauses: spec/stream.md STR-06 to STR-09, spec/conventions.md CON-03.
 * @module
 */
import { decode } from '../number/binary-format.ts';
import { BF16, FP32 } from '../number/floats.ts';
import { type DrawType, type Family, fillFamily } from '../random/families.ts';
import { type Columns, columnsFor, firstCases } from './columns.ts';
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
export const drawType = (field: Field): DrawType =>
  field.format === BF16 ? 'bf16' : field.format === FP32 ? 'f32' : { bits: 4 * field.digits };

/** RND-02. Cases from j on, of a family: each operand's elements are numbered on from case to case. */
function drawCases(f: OracleFunction, g: Generation, j: number, columns: readonly Uint32Array[]): void {
  for (const [operand, field] of f.inputs.entries()) {
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
    fillFamily(draw, j * field.count, columns[operand]!);
  }
}

const isMine = (g: Generation, j: number): boolean => j % g.of === g.shard - 1;

/** STR-09. The boundary cases of a shard; returns how many cases they are in all shards. */
function* boundaryCases(f: OracleFunction, g: Generation): Generator<readonly Words[], number> {
  let j = 0;
  if (g.family !== undefined) return j;
  for (const { inputs } of f.boundary(g.level)) {
    if (j >= (g.count ?? Number.POSITIVE_INFINITY)) break;
    if (isMine(g, j++)) yield inputs;
  }
  return j;
}

/** STR-09. The inputs of the cases of a shard, in order: boundary cases first where no family is asked for. */
export function* generate(f: OracleFunction, g: Generation): Generator<readonly Words[]> {
  const first = yield* boundaryCases(f, g);
  const end = g.count ?? Math.max(DEFAULT_COUNT, first);
  for (let j = first; j < end; j++) {
    if (!isMine(g, j)) continue;
    const inputs = f.inputs.map((field) => new Uint32Array(field.count));
    drawCases(f, g, j, inputs);
    yield inputs;
  }
}

/** The same in columns of at most `capacity` cases, which are valid until the next ones are asked for. */
export function* generateColumns(
  f: OracleFunction,
  g: Generation,
  capacity: number,
): Generator<{ columns: Columns; count: number }> {
  const fields = f.inputs;
  const room = columnsFor(fields, capacity);
  let count = 0;
  const taken = () => {
    const columns = firstCases(fields, room, count);
    const cases = { columns, count };
    count = 0;
    return cases;
  };
  const boundary = boundaryCases(f, g);
  let next = boundary.next();
  for (; !next.done; next = boundary.next()) {
    const inputs = next.value;
    room.forEach((column, k) => {
      column.set(inputs[k]!, count * fields[k]!.count);
    });
    if (++count === capacity) yield taken();
  }
  const end = g.count ?? Math.max(DEFAULT_COUNT, next.value);
  for (let j = next.value; j < end; ) {
    if (!isMine(g, j)) {
      j++;
      continue;
    }
    // Cases that follow one another are drawn together.
    const together = g.of === 1 ? Math.min(end - j, capacity - count) : 1;
    const into = room.map((column, k) => {
      const { count: elements } = fields[k]!;
      return column.subarray(count * elements, (count + together) * elements);
    });
    drawCases(f, g, j, into);
    j += together;
    count += together;
    if (count === capacity) yield taken();
  }
  if (count > 0) yield taken();
}
