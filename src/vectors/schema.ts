/**
 * The JSON schema (draft 2020-12) of every vector file: strict, so that a key that no clause names is an error.
 * Clauses: spec/vectors.md VEC-02, VEC-03.
 * @module
 */
import { blocks, invalidInputs, scalars, stream } from './schema-functions.ts';
import { adamw, elementary, grpo } from './schema-grpo.ts';
import { clauses, count, file, listOf, matching, record, type Schema, text } from './schema-parts.ts';
import { gemm, sparsity } from './schema-products.ts';
import { families, folders, layouts, tensors } from './schema-tensors.ts';
import { SCHEMA } from './vector-file.ts';

const index = file('index', {
  clauses,
  counts: record({ files: count, bytes: count }),
  files: listOf(record({ name: text, bytes: count, entries: count, sha256: matching('^[0-9a-f]{64}$') })),
});

/** One schema for all files; `kind` says which part is meant. */
export const schema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: SCHEMA,
  oneOf: [
    blocks,
    scalars,
    invalidInputs,
    stream,
    families,
    tensors,
    layouts,
    folders,
    sparsity,
    elementary,
    adamw,
    grpo,
    gemm,
    index,
  ],
};
