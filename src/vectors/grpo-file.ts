/**
 * Vectors of GRPO steps: every mode and edge, logits, tensors, mismatch reports, and what is refused.
 * Clauses: spec/grpo.md GRP-01 to GRP-21.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { DTYPES, type Dtype } from '../grpo/float-arithmetic.ts';
import { formatHexNumbers } from '../grpo/hex-numbers.ts';
import {
  entropy,
  entropyGradient,
  logitGradient,
  logProbs,
  logSumExp,
  scaledLogits,
} from '../grpo/log-prob.ts';
import { mismatch } from '../grpo/mismatch.ts';
import { refuseStrange, runStep } from '../grpo/step.ts';
import { STEP_FLOAT } from '../grpo/step-float.ts';
import { parseStep } from '../grpo/step-record.ts';
import { type NumberTensor, stepOfTensors, tensorsOfResult } from '../grpo/step-tensors.ts';
import type { PackContext } from './block-cases.ts';
import { REFUSED_STEPS } from './grpo-refused-steps.ts';
import { VECTOR_STEPS, type VectorStep } from './grpo-steps.ts';
import { idOf } from './hash.ts';
import { SCHEMA } from './vector-file.ts';

/** The same structure with numbers as the hex digits of their bits; masks stay as they are. */
function inHex(value: unknown, dtype: Dtype): unknown {
  const hex = (list: Float64Array): string[] => formatHexNumbers(list, dtype);
  if (typeof value === 'number') return hex(Float64Array.of(value))[0];
  if (value instanceof Float64Array) return hex(value);
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map((one) => inHex(one, dtype));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name, member]) => name !== 'id' && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, inHex(member, dtype)]));
}

function stepTest(context: PackContext, { comment, clauses, step }: VectorStep) {
  const parsed = parseStep(step, '');
  return {
    id: idOf(context.sha256, 'grpo', JSON.stringify(step)),
    comment,
    clauses: [...clauses, 'GRP-18'],
    step,
    expected: inHex(runStep(parsed), parsed.config.dtype),
    warnings: parsed.warnings,
  };
}

const LOGITS = [
  { comment: 'the temperature divides first', logits: [2, 0], temperature: 0.5 },
  { comment: 'equal logits', logits: [0.3, 0.3, 0.3], temperature: 1 },
  { comment: 'wide apart', logits: [5.5, -7.25, 10.75, 1.125], temperature: 0.75 },
  { comment: 'one token', logits: [3], temperature: 1 },
];

function logitsTest(context: PackContext, { comment, ...given }: (typeof LOGITS)[number], dtype: Dtype) {
  const f = STEP_FLOAT[dtype];
  const { logits, temperature } = given;
  const expected = {
    logsumexp: logSumExp(scaledLogits(logits, temperature, f), f),
    log_prob: logProbs(logits, f, { temperature }),
    log_softmax: logProbs(logits, f, { temperature, form: 'log-softmax' }),
    entropy_verl: entropy(logits, 'verl', f, temperature),
    entropy_trl: entropy(logits, 'trl', f, temperature),
    grad_log_prob_0: logitGradient(logits, 0, 1, f, temperature),
    grad_entropy: entropyGradient(logits, f, temperature),
  };
  return {
    id: idOf(context.sha256, 'logits', dtype, JSON.stringify(given)),
    comment,
    clauses: ['GRP-16'],
    dtype,
    ...given,
    expected: inHex(expected, dtype),
  };
}

/** Rows of two groups, not one after the other. */
const TENSORS: Readonly<Record<string, { shape: number[]; data: number[] }>> = {
  response_mask: { shape: [4, 2], data: [1, 1, 1, 0, 1, 1, 0, 0] },
  log_probs: { shape: [4, 2], data: [-1, -0.5, -2, 0, -0.25, -1.5, 0, 0] },
  old_log_probs: { shape: [4, 2], data: [-1.1, -0.7, -2, 0, -0.2, -1.6, 0, 0] },
  rollout_log_probs: { shape: [4, 2], data: [-1, -0.9, -2.2, 0, -0.2, -1.5, 0, 0] },
  token_level_scores: { shape: [4, 2], data: [0, 1, 0.5, 0, 0, 0, 0.25, 0] },
  uid: { shape: [4], data: [7, 9, 7, 9] },
};

function tensorsTest(context: PackContext, comment: string, config: object) {
  const tensors = new Map<string, NumberTensor>(
    Object.entries(TENSORS).map(([name, { shape, data }]) => [
      name,
      { shape, data: Float64Array.from(data) },
    ]),
  );
  const source = stepOfTensors(tensors, new Map([['config', JSON.stringify(config)]]), '');
  const result = runStep(parseStep(source.value, ''));
  const expected = tensorsOfResult(result, source).map(({ name, shape, data }) => [
    name,
    { shape, data: formatHexNumbers(data, 'float64') },
  ]);
  return {
    id: idOf(context.sha256, 'tensors', JSON.stringify(config)),
    comment,
    clauses: ['GRP-19'],
    config,
    tensors: TENSORS,
    expected: Object.fromEntries(expected) as unknown,
  };
}

function mismatchTest(context: PackContext, comment: string, config: object) {
  const { groups } = VECTOR_STEPS[0]!.step;
  const step = { config, groups };
  const parsed = parseStep(step, '');
  const { points: _, id: __, sequences, tokens, effects, worst, ...rest } = mismatch(parsed, 2);
  const hex = inHex(
    {
      ...rest,
      effects: effects.map(({ correction: ___, ...numbers }) => numbers),
      worst: worst.map(({ path: ___, ...numbers }) => numbers),
    },
    parsed.config.dtype,
  ) as { effects: object[]; worst: object[] };
  return {
    id: idOf(context.sha256, 'mismatch', JSON.stringify(step)),
    comment,
    clauses: ['GRP-21'],
    step,
    expected: {
      sequences,
      tokens,
      ...hex,
      effects: hex.effects.map((e, k) => ({ correction: effects[k]!.correction, ...e })),
      worst: hex.worst.map((w, k) => ({ path: worst[k]!.path, ...w })),
    },
  };
}

function refusal(context: PackContext, comment: string, clauses: string[], step: unknown, strict: boolean) {
  try {
    const parsed = parseStep(step, '');
    if (strict) refuseStrange(parsed);
    runStep(parsed);
  } catch (error) {
    if (!(error instanceof Fp4Error)) throw error;
    const id = idOf(context.sha256, 'grpo', String(strict), JSON.stringify(step));
    return { id, comment, clauses, step, strict, result: 'invalid', error: error.code, exit: 2 };
  }
  throw new Error(`${comment}: accepted`);
}

export function grpoFile(context: PackContext) {
  const strange = VECTOR_STEPS.filter(({ step }) => parseStep(step, '').warnings.length > 0);
  return {
    schema: SCHEMA,
    kind: 'grpo' as const,
    generator: context.generator,
    groups: [
      {
        subject: 'step',
        clauses: ['GRP-01', 'GRP-18'],
        tests: VECTOR_STEPS.map((one) => stepTest(context, one)),
      },
      {
        subject: 'logits',
        clauses: ['GRP-16'],
        tests: DTYPES.flatMap((dtype) => LOGITS.map((one) => logitsTest(context, one, dtype))),
      },
      {
        subject: 'tensors',
        clauses: ['GRP-19'],
        tests: [
          tensorsTest(context, 'verl, with weights and rejection', {
            rollout_is: 'token',
            rollout_rs: 'token_k1',
            rollout_rs_threshold: '0.9_1.2',
          }),
          tensorsTest(context, 'TRL, one number an answer', {
            preset: 'trl',
            importance_sampling_level: 'sequence',
          }),
        ],
      },
      {
        subject: 'mismatch',
        clauses: ['GRP-21'],
        tests: [
          mismatchTest(context, 'token weights, the default', {}),
          mismatchTest(context, 'sequence weights in a band, and two rules', {
            rollout_is: 'sequence',
            rollout_is_threshold: '0.5_2.0',
            rollout_is_batch_normalize: true,
            rollout_rs: 'token_k1,seq_mean_k3',
            rollout_rs_threshold: '0.5_2.0,0.2',
          }),
          mismatchTest(context, 'in binary32', { dtype: 'float32', rollout_is: 'token' }),
        ],
      },
      {
        subject: 'refused',
        clauses: ['GRP-17', 'GRP-18', 'GRP-20'],
        tests: [
          ...REFUSED_STEPS.map(({ comment, step }) =>
            refusal(context, comment, ['GRP-17', 'GRP-18'], step, false),
          ),
          ...strange.map(({ comment, step }) =>
            refusal(context, `${comment}, strict`, ['GRP-20'], step, true),
          ),
        ],
      },
    ],
  };
}
