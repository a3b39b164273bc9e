/**
 * What schemas of vector files are made of: strict records, hex, ids and refusals.
 * Clauses: spec/vectors.md VEC-02, VEC-03.
 * @module
 */
import { SCHEMA } from './vector-file.ts';

export type Schema = { readonly [key: string]: unknown };

export const text: Schema = { type: 'string' };
export const count: Schema = { type: 'integer', minimum: 0 };
export const matching = (pattern: string): Schema => ({ type: 'string', pattern });
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });
export const oneOf = (...values: string[]): Schema => ({ enum: values });

/** An object of exactly these keys; a key that ends in `?` may be absent. */
export function record(properties: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace('?', ''), properties[name]])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  };
}

export const id = matching('^[0-9a-f]{16}$');
export const clauses: Schema = { ...listOf(matching('^[A-Z][A-Z0-9]*-[0-9]{2}$')), uniqueItems: true };
export const bytes = matching('^([0-9a-f]{2})*$');
export const words = matching('^[0-9a-f]+( [0-9a-f]+)*$');
export const seed = matching('^[0-9a-f]{16}$');
export const error = matching('^E_[A-Z_]+$');
export const names = listOf(text);
export const policy = mapOf(text);
export const shape = listOf(count);
export const exit: Schema = { type: 'integer', minimum: 0, maximum: 3 };
export const fields = listOf(record({ name: text, kind: oneOf('word', 'codes'), count, digits: count }));
export const fieldWords = mapOf(words);
export const generator = record({ name: text, version: text, seed });
export const notes = mapOf(record({ text, clauses, faults: listOf(matching('^[A-Z][0-9]+$')) }));
export const invalid: Schema = { const: 'invalid' };
export const valid: Schema = { const: 'valid' };

export const file = (kind: string, properties: Readonly<Record<string, Schema>>): Schema =>
  record({ schema: { const: SCHEMA }, kind: { const: kind }, generator, ...properties });

/** Groups that are told apart by their subject. */
export const subjects = (tests: Readonly<Record<string, Schema>>, list = 'tests'): Schema[] =>
  Object.entries(tests).map(([subject, test]) =>
    record({ subject: { const: subject }, clauses, [list]: listOf(test) }),
  );

export const refusal = { id, comment: text, clauses, result: invalid, error, exit };
export const linesOrBytes: Schema = { anyOf: [names, bytes] };
