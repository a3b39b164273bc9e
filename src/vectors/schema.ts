/**
 * The JSON schema (draft 2020-12) of every vector file: strict, so that a key that no clause names is an error.
 * Clauses: spec/vectors.md VEC-02, VEC-03.
 * @module
 */
import { SCHEMA } from './vector-file.ts';

type Schema = { readonly [key: string]: unknown };

const text: Schema = { type: 'string' };
const count: Schema = { type: 'integer', minimum: 0 };
const matching = (pattern: string): Schema => ({ type: 'string', pattern });
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });
const oneOf = (...values: string[]): Schema => ({ enum: values });

/** An object of exactly these keys; a key that ends in `?` may be absent. */
function record(properties: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace('?', ''), properties[name]])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  };
}

const id = matching('^[0-9a-f]{16}$');
const clauses: Schema = { ...listOf(matching('^[A-Z][A-Z0-9]*-[0-9]{2}$')), uniqueItems: true };
const bytes = matching('^([0-9a-f]{2})*$');
const words = matching('^[0-9a-f]+( [0-9a-f]+)*$');
const seed = matching('^[0-9a-f]{16}$');
const error = matching('^E_[A-Z_]+$');
const names = listOf(text);
const policy = mapOf(text);
const shape = listOf(count);
const exit: Schema = { type: 'integer', minimum: 0, maximum: 3 };
const fields = listOf(record({ name: text, kind: oneOf('word', 'codes'), count, digits: count }));
const fieldWords = mapOf(words);
const generator = record({ name: text, version: text, seed });
const notes = mapOf(record({ text, clauses, faults: listOf(matching('^[A-Z][0-9]+$')) }));
const invalid: Schema = { const: 'invalid' };
const valid: Schema = { const: 'valid' };

const file = (kind: string, properties: Readonly<Record<string, Schema>>): Schema =>
  record({ schema: { const: SCHEMA }, kind: { const: kind }, generator, ...properties });

const alternative = record({ profiles: names, 'expected?': fieldWords, 'error?': error });

const blocks = file('blocks', {
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

const scalars = file('scalars', {
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

/** Groups that are told apart by their subject. */
const subjects = (tests: Readonly<Record<string, Schema>>, list = 'tests'): Schema[] =>
  Object.entries(tests).map(([subject, test]) =>
    record({ subject: { const: subject }, clauses, [list]: listOf(test) }),
  );

const refusal = { id, comment: text, clauses, result: invalid, error, exit };
const linesOrBytes: Schema = { anyOf: [names, bytes] };

const invalidInputs = file('invalid', {
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

const stream = file('stream', {
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

const families = file('families', {
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

const tensors = file('tensors', {
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

const layouts = file('layouts', {
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

const folders = file('folders', {
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

const tieOrder: Schema = { anyOf: [oneOf('lowest-index', 'highest-index'), listOf(count)] };
const pattern = oneOf('2:4', '1:2', '4:8', 'channel', 'block');
const flagDigits = matching('^[01]*$');

const sparsity = file('sparsity', {
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

const gemm = file('gemm', {
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

const elementary = file('elementary', {
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

const adamw = file('adamw', {
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

const grpo = file('grpo', {
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
