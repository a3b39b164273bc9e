/**
 * Schemas of the vectors of families, tensors, layouts and case folders.
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
  invalid,
  listOf,
  mapOf,
  matching,
  names,
  oneOf,
  policy,
  record,
  type Schema,
  seed,
  shape,
  subjects,
  text,
  words,
} from './schema-parts.ts';

export const families = file('families', {
  groups: listOf({
    anyOf: subjects({
      'philox4x32-10': record({ id, clauses, key: words, counter: words, words }),
      families: record({
        id,
        clauses,
        family: text,
        number: count,
        type: oneOf('bf16', 'f32', 'u4', 'u8', 'u32'),
        seed,
        operand: count,
        first: count,
        channels: count,
        'range?': listOf({ type: 'integer' }),
        words,
      }),
    }),
  }),
});

const figure: Schema = { type: ['number', 'null'] };

export const tensors = file('tensors', {
  groups: listOf({
    anyOf: subjects({
      quantize: record({
        id,
        comment: text,
        clauses,
        format: oneOf('hif4', 'mxfp4'),
        profile: text,
        set: policy,
        axis: { type: 'integer' },
        'layout?': text,
        'pack-axis?': count,
        bf16: { type: 'boolean' },
        input: bytes,
        metadata: policy,
        codes: bytes,
        scales: bytes,
        output: bytes,
        report: record({
          elements: count,
          blocks: count,
          mse: figure,
          sqnr_db: figure,
          underflow: figure,
          saturated: figure,
          nonfinite: count,
        }),
        back: bytes,
      }),
      foreign: record({
        id,
        comment: text,
        clauses,
        format: text,
        layout: text,
        shape,
        axis: { type: 'integer' },
        codes: bytes,
        scales: bytes,
        back: bytes,
      }),
      diff: record({ id, comment: text, clauses, a: bytes, b: bytes, stdout: names, exit }),
      verify: record({
        id,
        comment: text,
        clauses,
        format: text,
        profile: text,
        input: bytes,
        quantized: bytes,
        stdout: names,
        exit,
      }),
      tensor: record({ id, clauses, family: text, dtype: oneOf('f32', 'bf16'), shape, seed, output: bytes }),
    }),
  }),
});

const where = { layout: text, format: text, shape, axis: count, 'pack-axis?': count };

export const layouts = file('layouts', {
  groups: listOf({
    anyOf: subjects({
      layouts: record({
        id,
        clauses,
        ...where,
        codes: bytes,
        scales: bytes,
        arrays: listOf(record({ name: text, type: oneOf('U8', 'U32'), shape, bytes })),
      }),
      refused: record({
        id,
        comment: text,
        clauses,
        ...where,
        lengths: mapOf(count),
        result: invalid,
        error,
      }),
    }),
  }),
});

export const folders = file('folders', {
  groups: listOf({
    anyOf: subjects({
      export: record({
        id,
        comment: text,
        clauses,
        command: names,
        files: listOf(
          record({ name: text, bytes: count, sha256: matching('^[0-9a-f]{64}$'), 'content?': bytes }),
        ),
      }),
      judged: record({
        id,
        comment: text,
        clauses,
        command: names,
        'actual?': mapOf(bytes),
        'changed?': mapOf(bytes),
        exit,
        stdout: names,
      }),
    }),
  }),
});
