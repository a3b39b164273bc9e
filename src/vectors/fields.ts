/**
 * Fields in a vector: hex by name, each as it stands on a line of the stream. Clauses: spec/vectors.md VEC-03.
 * @module
 */
import type { Field, Words } from '../functions/field.ts';
import { formatFields } from '../functions/line.ts';

/** VEC-03. The hex of each field, by name. */
export const hexByName = (
  fields: readonly Field[],
  values: readonly Words[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(fields.map((field, k) => [field.name, formatFields([field], [values[k]!])]));

/** What a reader needs to cut the hex of a field into elements. */
export const describeFields = (fields: readonly Field[]) =>
  fields.map(({ name, kind, count, digits }) => ({ name, kind, count, digits }));
