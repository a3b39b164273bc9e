/**
 * A step as JSON has it: groups of answers with a reward, a mask and log-probs. Clauses: spec/grpo.md GRP-18, GRP-20.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { shown } from './hex-numbers.ts';
import { parseStepConfig, type StepConfig } from './step-config.ts';
import { STEP_FLOAT } from './step-float.ts';

export const TOKEN_FIELDS = [
  'log_prob',
  'old_log_prob',
  'rollout_log_prob',
  'ref_log_prob',
  'entropy',
] as const;
export type TokenField = (typeof TOKEN_FIELDS)[number];

export interface Answer {
  /** Where it stands, for messages: `groups[0].answers[2]`. */
  readonly path: string;
  /** Undefined where it is absent. */
  readonly reward: number | undefined;
  readonly mask: Uint8Array;
  /** Of the mask's length each, rounded to the step's dtype; those absent are left out. */
  readonly tokens: Readonly<Partial<Record<TokenField, Float64Array>>>;
}

export interface Group {
  readonly id: unknown;
  readonly answers: readonly Answer[];
}

export interface Step {
  /** What every path starts with in messages. */
  readonly place: string;
  /** Undefined where the step has none. */
  readonly id: unknown;
  readonly config: StepConfig;
  readonly groups: readonly Group[];
  /** GRP-20. Data that a sound run does not have, by path. */
  readonly warnings: readonly string[];
}

const NAMED: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fail = (path: string, found: unknown, expected: string): Fp4Error =>
  new Fp4Error('E_JSON', `${path}: ${shown(found)}, expected ${expected}`);

function number(value: unknown, path: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && Object.hasOwn(NAMED, value)) return NAMED[value]!;
  throw fail(path, value, 'a number, "NaN", "Infinity" or "-Infinity"');
}

function list(value: unknown, path: string, of: string): unknown[] {
  if (!Array.isArray(value)) throw fail(path, value, `a list of ${of}`);
  return value;
}

/** The data of one step, with what is strange about it. */
class StepReader {
  readonly warnings: string[] = [];
  readonly #place: string;
  readonly #round: (x: number) => number;

  constructor(place: string, config: StepConfig) {
    this.#place = place;
    this.#round = STEP_FLOAT[config.dtype].round;
  }

  group(value: unknown, path: string): Group {
    if (!isRecord(value)) throw fail(this.#place + path, value, 'an object with answers');
    const answers = list(value.answers, `${this.#place}${path}.answers`, 'answers');
    if (answers.length === 0)
      throw new Fp4Error('E_LENGTH', `${this.#place}${path}.answers: found none, expected at least one`);
    return {
      id: value.id,
      answers: answers.map((answer, k) => this.#answer(answer, `${path}.answers[${k}]`)),
    };
  }

  #answer(value: unknown, path: string): Answer {
    if (!isRecord(value)) throw fail(this.#place + path, value, 'an object');
    const maskPath = `${this.#place}${path}.mask`;
    const mask = Uint8Array.from(list(value.mask, maskPath, '0 and 1'), (bit, j) => {
      if (bit !== 0 && bit !== 1) throw fail(`${maskPath}[${j}]`, bit, '0 or 1');
      return bit;
    });
    const tokens: Partial<Record<TokenField, Float64Array>> = {};
    for (const name of TOKEN_FIELDS) {
      const numbers = value[name];
      if (numbers !== undefined && numbers !== null)
        tokens[name] = this.#tokens(numbers, name, `${path}.${name}`, mask.length);
    }
    const given = value.reward;
    const reward =
      given === undefined || given === null
        ? undefined
        : this.#checked(number(given, `${this.#place}${path}.reward`), `${path}.reward`, false);
    return { path, reward, mask, tokens };
  }

  #tokens(value: unknown, name: TokenField, path: string, length: number): Float64Array {
    const at = this.#place + path;
    const numbers = list(value, at, 'numbers');
    if (numbers.length !== length)
      throw new Fp4Error('E_LENGTH', `${at}: found ${numbers.length} numbers, expected ${length} as in mask`);
    return Float64Array.from(numbers, (x, j) =>
      this.#checked(number(x, `${at}[${j}]`), `${path}[${j}]`, name !== 'entropy'),
    );
  }

  #checked(exact: number, path: string, isLogProb: boolean): number {
    const x = this.#round(exact);
    if (!Number.isFinite(x)) this.warnings.push(`${path}: ${x}`);
    else if (isLogProb && x > 0) this.warnings.push(`${path}: ${x} is positive; a log-prob is at most 0`);
    return x;
  }
}

/**
 * GRP-18. A step from parsed JSON.
 * @param place what every path in a message starts with, as `FILE: ` or `FILE: line 3: `
 * @throws Fp4Error E_JSON, E_LENGTH, E_PARAMETER
 */
export function parseStep(value: unknown, place: string): Step {
  if (!isRecord(value))
    throw new Fp4Error('E_JSON', `${place}${shown(value)}, expected an object with groups`);
  const config = parseStepConfig(value.config, value, place);
  const groups = list(value.groups, `${place}groups`, 'groups');
  if (groups.length === 0)
    throw new Fp4Error('E_LENGTH', `${place}groups: found none, expected at least one`);
  const reader = new StepReader(place, config);
  return {
    place,
    id: value.id,
    config,
    groups: groups.map((group, k) => reader.group(group, `groups[${k}]`)),
    warnings: reader.warnings,
  };
}

/** A token field that the step needs. */
export function needed(step: Step, answer: Answer, name: TokenField, why: string): Float64Array {
  const numbers = answer.tokens[name];
  if (numbers === undefined)
    throw new Fp4Error('E_JSON', `${step.place}${answer.path}.${name}: it is missing; ${why}`);
  return numbers;
}

/** A token field of every answer; undefined where no answer has it, an error where only some do. */
export function ifAny(step: Step, name: TokenField): Float64Array[] | undefined {
  const answers = step.groups.flatMap((group) => group.answers);
  if (answers.every((answer) => answer.tokens[name] === undefined)) return undefined;
  return answers.map((answer) => needed(step, answer, name, 'other answers have it'));
}
