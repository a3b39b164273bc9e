/**
 * Schemas of the vectors of elementary functions, optimizer and GRPO steps.
 * Clauses: spec/vectors.md VEC-02, VEC-03.
 * @module
 */
import {
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
  record,
  refusal,
  type Schema,
  shape,
  subjects,
  text,
  words,
} from './schema-parts.ts';

export const elementary = file('elementary', {
  groups: listOf(
    record({
      function: text,
      type: oneOf('binary64', 'binary32'),
      clauses,
      tests: listOf(record({ id, comment: text, clauses, x: words, y: words })),
    }),
  ),
});

const dtype = oneOf('float32', 'float64');
const hexNumber = matching('^([0-9a-f]{8}|[0-9a-f]{16})$');
const hexNumbers = listOf(hexNumber);

export const adamw = file('adamw', {
  groups: listOf({
    anyOf: subjects({
      adamw: record({
        id,
        comment: text,
        clauses,
        kernel: oneOf('fused', 'single-tensor', 'no-fma'),
        record: record({
          config: mapOf({}),
          dtype,
          param: hexNumbers,
          steps: listOf(record({ grad: hexNumbers, 'sqrt?': hexNumbers })),
        }),
        expected: listOf(
          record({
            param: hexNumbers,
            exp_avg: hexNumbers,
            exp_avg_sq: hexNumbers,
            'max_exp_avg_sq?': hexNumbers,
          }),
        ),
      }),
      clip: record({
        id,
        comment: text,
        clauses,
        norm: oneOf('torch', 'exact'),
        dtype,
        max_norm: { type: 'number' },
        grads: listOf(hexNumbers),
        expected: record({ total_norm: hexNumber, coefficient: hexNumber, grads: listOf(hexNumbers) }),
      }),
      refused: record({ id, comment: text, clauses, record: {}, result: invalid, error, exit }),
    }),
  }),
});

const given: Schema = { type: 'object' };
const hexOrList: Schema = { anyOf: [hexNumber, hexNumbers] };
const optionalHex: Schema = { anyOf: [hexNumber, { type: 'null' }] };
const stepExpected = record({
  groups: listOf(
    record({
      answers: listOf(
        record({
          advantage: hexNumber,
          ratio: hexOrList,
          'weight?': hexOrList,
          'mask?': listOf(count),
          loss: hexOrList,
          'kl?': hexNumbers,
          grad: hexNumbers,
        }),
      ),
    }),
  ),
  loss: mapOf(optionalHex),
});
const tensorOf = (data: Schema): Schema => mapOf(record({ shape, data: listOf(data) }));

export const grpo = file('grpo', {
  groups: listOf({
    anyOf: subjects({
      step: record({ id, comment: text, clauses, step: given, expected: stepExpected, warnings: names }),
      logits: record({
        id,
        comment: text,
        clauses,
        dtype,
        logits: listOf({ type: 'number' }),
        temperature: { type: 'number' },
        expected: mapOf(hexOrList),
      }),
      tensors: record({
        id,
        comment: text,
        clauses,
        config: given,
        tensors: tensorOf({ type: 'number' }),
        expected: tensorOf(hexNumber),
      }),
      mismatch: record({
        id,
        comment: text,
        clauses,
        step: given,
        expected: record({
          sequences: count,
          tokens: count,
          metrics: mapOf(hexNumber),
          ratio_percentiles: mapOf(hexNumber),
          effects: listOf(mapOf(text)),
          worst: listOf(mapOf(text)),
        }),
      }),
      refused: record({ ...refusal, step: {}, strict: { type: 'boolean' } }),
    }),
  }),
});
