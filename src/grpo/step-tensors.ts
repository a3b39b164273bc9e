/**
 * A step as the padded [B, T] tensors that a trainer dumps, under verl's names. Clauses: spec/grpo.md GRP-19.
 * @module
 */
import { excerpt, Fp4Error, knownNames } from '../error.ts';
import type { TokenField } from './step-record.ts';
import type { PerToken, StepResult } from './step-result.ts';

/** A tensor's numbers, row by row. */
export interface NumberTensor {
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

/** verl's names of the token fields. */
const TENSOR_OF: Readonly<Record<TokenField, string>> = {
  log_prob: 'log_probs',
  old_log_prob: 'old_log_probs',
  rollout_log_prob: 'rollout_log_probs',
  ref_log_prob: 'ref_log_prob',
  entropy: 'entropys',
};
const MASK = 'response_mask';
const SCORES = 'token_level_scores';
const UID = 'uid';

/** GRP-19. Every tensor that is read; others are passed over. */
export const STEP_TENSORS: readonly string[] = [MASK, SCORES, UID, ...Object.values(TENSOR_OF)];

/** A step as JSON would have it, and which row of the tensors each answer is. */
export interface TensorStep {
  readonly value: Readonly<Record<string, unknown>>;
  /** Of the answers in the order of the groups. */
  readonly rows: readonly number[];
  readonly tokens: number;
}

const fail = (place: string, message: string): Fp4Error => new Fp4Error('E_SHAPE', `${place}${message}`);

/**
 * GRP-19. The step of a file's tensors. Rows of one uid are a group, in the order in which uids first appear.
 * @throws Fp4Error E_SHAPE, E_JSON, E_USAGE
 */
export function stepOfTensors(
  tensors: ReadonlyMap<string, NumberTensor>,
  metadata: ReadonlyMap<string, string>,
  place: string,
): TensorStep {
  const mask = tensors.get(MASK);
  if (mask === undefined)
    throw new Fp4Error('E_USAGE', `${place}no tensor ${MASK}; ${knownNames(MASK, [...tensors.keys()])}`);
  if (mask.shape.length !== 2)
    throw fail(place, `${MASK}: its shape is [${mask.shape.join(', ')}], expected [B, T]`);
  const [batch, tokens] = mask.shape as [number, number];
  const expectShape = (name: string, shape: readonly number[]): NumberTensor | undefined => {
    const tensor = tensors.get(name);
    if (tensor !== undefined && tensor.shape.join() !== shape.join())
      throw fail(
        place,
        `${name}: its shape is [${tensor.shape.join(', ')}], expected [${shape.join(', ')}] as ${MASK} has it`,
      );
    return tensor;
  };
  const fields = Object.entries(TENSOR_OF).flatMap(([field, name]) => {
    const tensor = expectShape(name, mask.shape);
    return tensor ? [{ field, tensor }] : [];
  });
  const scores = expectShape(SCORES, mask.shape);
  const uid = expectShape(UID, [batch]);
  if (uid === undefined)
    throw new Fp4Error('E_USAGE', `${place}no tensor ${UID}, which says who is in a group`);
  const row = (tensor: NumberTensor, i: number): number[] =>
    Array.from(tensor.data.subarray(i * tokens, (i + 1) * tokens));
  const groups = new Map<number, number[]>();
  uid.data.forEach((id, i) => {
    groups.set(id, [...(groups.get(id) ?? []), i]);
  });
  const answer = (i: number): Record<string, unknown> => ({
    // Zeros behind the score do not change it; a sum of several is rounded to binary64 as it goes.
    reward: scores && row(scores, i).reduce((a, b) => a + b, 0),
    mask: row(mask, i),
    ...Object.fromEntries(fields.map(({ field, tensor }) => [field, row(tensor, i)])),
  });
  return {
    value: {
      ...textFields(metadata, place),
      groups: [...groups].map(([id, rows]) => ({ id, answers: rows.map(answer) })),
    },
    rows: [...groups.values()].flat(),
    tokens,
  };
}

function textFields(metadata: ReadonlyMap<string, string>, place: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of ['framework', 'dtype']) if (metadata.has(name)) fields[name] = metadata.get(name);
  const text = metadata.get('config');
  if (text === undefined) return fields;
  try {
    fields.config = JSON.parse(text);
  } catch {
    throw new Fp4Error('E_JSON', `${place}metadata config: found ${excerpt(text)}, expected JSON`);
  }
  return fields;
}

export interface NamedTensor extends NumberTensor {
  readonly name: string;
}

/** GRP-19. The result as tensors in the rows of the input: [B, T], or [B, 1] for what is one number an answer. */
export function tensorsOfResult(result: StepResult, { rows, tokens, value }: TensorStep): NamedTensor[] {
  const answers = result.groups.flatMap((group) => group.answers);
  const masks = (value.groups as { answers: { mask: number[] }[] }[]).flatMap((g) =>
    g.answers.map((a) => a.mask),
  );
  const tensor = (name: string, of: (i: number) => PerToken | undefined): NamedTensor[] => {
    const parts = answers.map((_, i) => of(i));
    if (parts.length === 0 || parts[0] === undefined) return [];
    const width = typeof parts[0] === 'number' ? 1 : tokens;
    const data = new Float64Array(rows.length * width);
    parts.forEach((part, i) => {
      data.set(typeof part === 'number' ? [part] : part!, rows[i]! * width);
    });
    return [{ name, shape: [rows.length, width], data }];
  };
  return [
    ...tensor('advantages', (i) => Float64Array.from(masks[i]!, (bit) => answers[i]!.advantage * bit)),
    ...tensor('ratio', (i) => answers[i]!.ratio),
    ...tensor('rollout_is_weights', (i) => answers[i]!.weight),
    ...tensor(MASK, (i) => answers[i]!.mask && Float64Array.from(answers[i]!.mask!)),
    ...tensor('loss', (i) => answers[i]!.loss),
    ...tensor('kl', (i) => answers[i]!.kl),
    ...tensor('grad', (i) => answers[i]!.grad),
  ];
}
