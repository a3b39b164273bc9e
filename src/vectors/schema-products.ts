/**
 * Schemas of the vectors of sparsity and products.
 * Clauses: spec/vectors.md VEC-02, VEC-03.
 * @module
 */
import {
  bytes,
  clauses,
  count,
  error,
  exit,
  file,
  id,
  listOf,
  mapOf,
  matching,
  names,
  oneOf,
  record,
  type Schema,
  shape,
  subjects,
  text,
  words,
} from './schema-parts.ts';

const tieOrder: Schema = { anyOf: [oneOf('lowest-index', 'highest-index'), listOf(count)] };
const pattern = oneOf('2:4', '1:2', '4:8', 'channel', 'block');
const flagDigits = matching('^[01]*$');

export const sparsity = file('sparsity', {
  groups: listOf({
    anyOf: subjects({
      values: record({
        ...{ id, comment: text, clauses, pattern, axis: count, ties: tieOrder, odd: text, shape },
        ...{ input: listOf(matching('^[0-9a-f]{16}$')), kept: flagDigits, report: mapOf({ type: 'number' }) },
      }),
      quantized: record({
        ...{
          id,
          comment: text,
          clauses,
          format: text,
          pattern,
          axis: count,
          ties: tieOrder,
          odd: text,
          shape,
        },
        ...{
          'block-axis': count,
          codes: bytes,
          scales: bytes,
          pruned: bytes,
          report: mapOf({ type: 'number' }),
        },
      }),
      metadata: record({
        ...{ id, clauses, pattern, convention: text, overfull: text, ties: text, nonzero: flagDigits },
        ...{
          result: oneOf('valid', 'invalid'),
          'nibble?': matching('^[0-9a-f]$'),
          'stored?': listOf({ type: 'integer' }),
          'error?': error,
        },
      }),
      words: record({
        ...{ id, clauses, form: text, rows: count, groups: count, empty: matching('^[0-9a-f]$') },
        ...{ nibbles: matching('^[0-9a-f]+$'), words },
      }),
    }),
  }),
});

const operandFormat = oneOf('hif4', 'mxfp4', 'bf16', 'f16', 'f32');
const operand = record({ format: operandFormat, 'codes?': bytes, 'scales?': bytes, 'words?': words });
const number: Schema = { type: 'number' };

export const gemm = file('gemm', {
  groups: listOf({
    anyOf: subjects({
      products: record({
        id,
        comment: text,
        clauses,
        rows: count,
        columns: count,
        depth: count,
        a: operand,
        b: operand,
        'c?': words,
        'alpha?': number,
        'beta?': number,
        output: oneOf('f32', 'bf16', 'f16'),
        expected: words,
        'low?': words,
        'high?': words,
      }),
      verdicts: record({
        id,
        comment: text,
        clauses,
        depth: count,
        a: operand,
        b: operand,
        found: words,
        acceptance: text,
        'model?': record({
          group: count,
          fractionBits: count,
          outputFractionBits: count,
          outputRounding: oneOf('truncate', 'even'),
          exponentFloor: { type: 'integer' },
        }),
        admitted: { type: 'boolean' },
        'conditions?': record({ inexact: count, overflow: count, subnormal: count }),
      }),
      commands: record({
        id,
        comment: text,
        clauses,
        args: names,
        files: mapOf(bytes),
        exit,
        'error?': error,
        'output?': bytes,
      }),
    }),
  }),
});
