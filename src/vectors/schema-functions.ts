/**
 * Schemas of the vectors of functions of the stream: cases, tables, malformed input, and the stream itself.
 * Clauses: spec/vectors.md VEC-02, VEC-03.
 * @module
 */
import {
  bytes,
  clauses,
  count,
  error,
  exit,
  fields,
  fieldWords,
  file,
  id,
  linesOrBytes,
  listOf,
  mapOf,
  matching,
  names,
  notes,
  oneOf,
  policy,
  record,
  refusal,
  type Schema,
  shape,
  subjects,
  text,
  valid,
} from './schema-parts.ts';

const alternative = record({ profiles: names, 'expected?': fieldWords, 'error?': error });

export const blocks = file('blocks', {
  function: text,
  profile: text,
  clauses,
  inputs: fields,
  counts: record({ groups: count, tests: count, valid: count, acceptable: count, invalid: count }),
  notes,
  groups: listOf(
    record({
      policy,
      outputs: fields,
      source: text,
      shape: text,
      clauses,
      tests: listOf(
        record({
          id,
          comment: text,
          flags: names,
          clauses,
          inputs: fieldWords,
          result: oneOf('valid', 'acceptable', 'invalid'),
          'expected?': fieldWords,
          'stages?': fieldWords,
          'error?': error,
          'alternatives?': listOf(alternative),
        }),
      ),
    }),
  ),
});

const pairs = matching('^[0-9a-f]+=[0-9a-f]+( [0-9a-f]+=[0-9a-f]+)*$');
const layout = (name: string, properties: Readonly<Record<string, Schema>>): Schema =>
  record({ id, policy, layout: { const: name }, clauses, count, ...properties });

export const scalars = file('scalars', {
  function: text,
  profile: { const: 'any' },
  clauses,
  inputs: fields,
  outputs: fields,
  counts: record({ groups: count, entries: count }),
  'notes?': notes,
  groups: listOf({
    anyOf: [
      layout('table', { table: listOf(matching('^[0-9a-f]+$')) }),
      layout('runs', { runs: listOf(pairs) }),
      layout('cases', {
        tests: listOf(record({ id, comment: text, flags: names, clauses, result: valid, cases: pairs })),
      }),
    ],
  }),
});

export const invalidInputs = file('invalid', {
  groups: listOf({
    anyOf: subjects({
      stream: record({
        ...refusal,
        function: text,
        set: policy,
        encoding: oneOf('text', 'raw'),
        input: linesOrBytes,
        answered: linesOrBytes,
        at: count,
      }),
      arguments: record({ ...refusal, function: text, 'profile?': text, set: policy }),
      files: record({ ...refusal, format: oneOf('npy', 'safetensors', 'quantized'), bytes }),
      shapes: record({ ...refusal, shape, axis: { type: 'integer' } }),
    }),
  }),
});

export const stream = file('stream', {
  groups: listOf({
    anyOf: [
      ...subjects({
        sessions: record({
          id,
          comment: text,
          clauses,
          args: names,
          encoding: oneOf('text', 'raw'),
          stdin: linesOrBytes,
          result: valid,
          stdout: linesOrBytes,
          exit,
        }),
      }),
      ...subjects(
        {
          functions: record({
            id,
            clauses,
            description: record({
              name: text,
              summary: text,
              inputs: fields,
              outputs: fields,
              stages: fields,
              parameters: mapOf(record({ values: names, default: text })),
              profiles: names,
              clauses,
            }),
          }),
        },
        'functions',
      ),
    ],
  }),
});
