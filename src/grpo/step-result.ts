/**
 * What a step gives, and how it is written: numbers in the shortest decimals that lead back to them. Clauses: spec/grpo.md GRP-18.
 * @module
 */
import type { Step } from './step-record.ts';

/** A number a token, or one for the answer where the framework has one. */
export type PerToken = Float64Array | number;

export interface AnswerResult {
  readonly advantage: number;
  readonly ratio: PerToken;
  readonly weight?: PerToken;
  /** After rejection. */
  readonly mask?: Uint8Array;
  readonly loss: PerToken;
  readonly kl?: Float64Array;
  /** Of the total, with respect to log_prob. */
  readonly grad: Float64Array;
}

export interface StepResult {
  readonly id: unknown;
  readonly groups: readonly { readonly id: unknown; readonly answers: readonly AnswerResult[] }[];
  readonly loss: Readonly<Record<string, number | null>>;
}

/** Results of answers in a row, back in their groups. */
export function grouped(step: Step, results: readonly AnswerResult[]): StepResult['groups'] {
  let start = 0;
  return step.groups.map(({ id, answers }) => {
    start += answers.length;
    return { id, answers: results.slice(start - answers.length, start) };
  });
}

/** GRP-18. -0 is written -0.0: a reader of JSON that knows whole numbers would lose the sign of -0. */
function formatNumber(x: number): string {
  if (!Number.isFinite(x)) return `"${x}"`;
  return Object.is(x, -0) ? '-0.0' : String(x);
}

type Writable =
  | undefined
  | null
  | number
  | Float64Array
  | Uint8Array
  | readonly Writable[]
  | { readonly [name: string]: Writable }
  | string;

function write(value: Writable): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Float64Array || value instanceof Uint8Array)
    return `[${Array.from(value, formatNumber).join(',')}]`;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(',')}}`;
}

/** An id as it came, whatever it is. */
const withId = (id: unknown): { id?: Writable } => (id === undefined ? {} : { id: id as Writable });

/** GRP-18. One line of JSON without its end. */
export function formatStepResult({ id, groups, loss }: StepResult): string {
  return write({
    ...withId(id),
    groups: groups.map((group) => ({
      ...withId(group.id),
      answers: group.answers as unknown as readonly Writable[],
    })),
    loss: loss as Writable,
  });
}

/** GRP-19. The losses alone, as JSON. */
export const formatLoss = ({ loss }: StepResult): string => write(loss as Writable);

/** GRP-18. Any value, numbers as everywhere here. */
export const formatJson = (value: unknown): string => write(value as Writable);
