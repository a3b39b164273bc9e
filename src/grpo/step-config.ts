/**
 * The parameters of a step under the frameworks' own names, and the presets that give their defaults.
 * Clauses: spec/grpo.md GRP-17.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import { DTYPES, type Dtype } from './float-arithmetic.ts';
import { shown } from './hex-numbers.ts';
import { KL_TYPES } from './kl.ts';
import { REJECTIONS, type Rejection, type RejectionRule } from './rejection.ts';
import { type Threshold, TRL_MODES, type TrlMode } from './rollout-weights.ts';
import { AGGREGATIONS, type Aggregation } from './verl-aggregation.ts';

export const PRESETS = ['verl', 'trl', 'paper'] as const;
export type Preset = (typeof PRESETS)[number];

/** What a field takes: one of some names, true or false, a number (its condition in words), or text that is parsed later. */
type Kind =
  | readonly string[]
  | 'boolean'
  | 'threshold'
  | 'text'
  | { readonly number: string; readonly holds: (x: number) => boolean };

const finite: Kind = { number: 'a finite number', holds: Number.isFinite };
const positive: Kind = { number: 'a positive number', holds: (x) => x > 0 && Number.isFinite(x) };
const notNegative: Kind = { number: 'a number not below 0', holds: (x) => x >= 0 && Number.isFinite(x) };
const aboveOne: Kind = { number: 'a number above 1', holds: (x) => x > 1 && Number.isFinite(x) };
const whole: Kind = { number: 'a positive whole number', holds: (x) => Number.isSafeInteger(x) && x > 0 };
/** A trainer counts it, and may find none. */
const tally: Kind = { number: 'a whole number not below 0', holds: (x) => Number.isSafeInteger(x) && x >= 0 };

export interface Field {
  readonly kind: Kind;
  /** What an absent field means; null where something else stands in for it, or nothing does. */
  readonly default: string | number | boolean | null;
}
type Fields = Readonly<Record<string, Field>>;

const field = (kind: Kind, value: Field['default'] = null): Field => ({ kind, default: value });

/** GRP-17. verl's names. */
const VERL: Fields = {
  adv_estimator: field(['grpo', 'grpo_vectorized'], 'grpo'),
  norm_adv_by_std_in_grpo: field('boolean', true),
  epsilon: field(notNegative, 1e-6),
  loss_mode: field(['vanilla', 'gspo'], 'vanilla'),
  clip_ratio: field(notNegative, 0.2),
  clip_ratio_low: field(notNegative),
  clip_ratio_high: field(notNegative),
  clip_ratio_c: field(aboveOne, 3),
  loss_agg_mode: field(AGGREGATIONS, 'token-mean'),
  loss_scale_factor: field(positive),
  use_kl_loss: field('boolean', false),
  kl_loss_type: field(KL_TYPES, 'low_var_kl'),
  kl_loss_coef: field(finite, 0.001),
  entropy_coeff: field(finite, 0),
  rollout_is: field(['token', 'sequence']),
  rollout_is_threshold: field('threshold', 2),
  rollout_is_batch_normalize: field('boolean', false),
  rollout_rs: field('text'),
  rollout_rs_threshold: field('threshold'),
  dp_size: field(whole, 1),
  batch_num_tokens: field(tally),
  global_batch_size: field(tally),
  response_length: field(whole),
};

/** GRP-17. The mission's paper (arXiv 2607.26515): verl, with these in force. */
const PAPER: Fields = {
  ...VERL,
  loss_agg_mode: field(AGGREGATIONS, 'seq-mean-token-mean'),
  rollout_is: field(['token', 'sequence'], 'token'),
  rollout_is_threshold: field('threshold', 5),
};

/** GRP-17. TRL's names. */
const TRL: Fields = {
  loss_type: field(['grpo', 'bnpo', 'dr_grpo', 'dapo'], 'dapo'),
  epsilon: field(notNegative, 0.2),
  epsilon_high: field(notNegative),
  delta: field(positive),
  beta: field(finite, 0),
  scale_rewards: field(['group', 'batch', 'none'], 'group'),
  importance_sampling_level: field(['token', 'sequence'], 'token'),
  use_bias_correction_kl: field('boolean', false),
  vllm_importance_sampling_correction: field('boolean', true),
  vllm_importance_sampling_mode: field(TRL_MODES, 'sequence_mask'),
  vllm_importance_sampling_clip_max: field(positive, 3),
  vllm_importance_sampling_clip_min: field(notNegative),
  entropy_coef: field(finite, 0),
  gradient_accumulation_steps: field(whole, 1),
  num_processes: field(whole, 1),
  multi_objective_aggregation: field(['sum_then_normalize'], 'sum_then_normalize'),
  max_completion_length: field(whole, 256),
  num_generations: field(whole, 8),
  num_items_in_batch: field(tally),
};

export const FIELDS: Readonly<Record<Preset, Fields>> = { verl: VERL, trl: TRL, paper: PAPER };

/** Fields that null switches off, although they have a default. */
const OFF_BY_NULL: readonly string[] = ['rollout_is', 'vllm_importance_sampling_clip_max'];

export interface VerlConfig {
  readonly preset: 'verl' | 'paper';
  readonly dtype: Dtype;
  readonly divideByStd: boolean;
  readonly epsilon: number;
  readonly lossMode: 'vanilla' | 'gspo';
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly clipC: number;
  readonly aggregation: Aggregation;
  readonly lossScaleFactor: number | undefined;
  readonly klType: string | undefined;
  readonly klCoef: number;
  readonly entropyCoef: number;
  readonly rollout:
    | {
        readonly level: 'token' | 'sequence';
        readonly threshold: Threshold;
        readonly normalize: boolean;
        /** The config names the level; otherwise the preset does, for steps that have rollout log-probs. */
        readonly asked: boolean;
      }
    | undefined;
  readonly rejection: readonly RejectionRule[];
  readonly dpSize: number;
  readonly batchTokens: number | undefined;
  readonly globalBatch: number | undefined;
  readonly responseLength: number | undefined;
}

export interface TrlConfig {
  readonly preset: 'trl';
  readonly dtype: Dtype;
  readonly lossType: 'grpo' | 'bnpo' | 'dr_grpo' | 'dapo';
  readonly epsilon: number;
  readonly epsilonHigh: number;
  readonly delta: number | undefined;
  readonly beta: number;
  readonly scale: 'group' | 'batch' | 'none';
  readonly level: 'token' | 'sequence';
  readonly biasCorrection: boolean;
  readonly rollout:
    | {
        readonly mode: TrlMode;
        readonly max: number | undefined;
        readonly min: number | undefined;
        readonly asked: boolean;
      }
    | undefined;
  readonly entropyCoef: number;
  readonly accumulation: number;
  readonly processes: number;
  readonly maxCompletionLength: number;
  readonly itemsInBatch: number | undefined;
}

export type StepConfig = VerlConfig | TrlConfig;

const bad = (path: string, found: unknown, expected: string): Fp4Error =>
  new Fp4Error('E_PARAMETER', `${path}: ${shown(found)}, expected ${expected}`);

/** Numbers as Python's float() takes them. */
function parsed(text: string, path: string, found: unknown): number {
  const x = /^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
  if (!(x > 0 && Number.isFinite(x)))
    throw bad(path, found, 'positive numbers, as 2.0 or "0.5_2.0" (lower_upper)');
  return x;
}

function band(text: string, path: string, found: unknown): Threshold {
  const at = text.indexOf('_');
  if (at < 0) return { upper: parsed(text, path, found) };
  const lower = parsed(text.slice(0, at), path, found);
  const upper = parsed(text.slice(at + 1), path, found);
  return { lower, upper };
}

/** GRP-13. `rollout_is_threshold`: a cap, or "lower_upper". */
export function parseThreshold(value: string | number, path: string): Threshold {
  const threshold = band(String(value), path, value);
  if (threshold.lower !== undefined && threshold.lower > threshold.upper)
    throw bad(path, value, 'a lower bound that is not above the upper one');
  return threshold;
}

const parts = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** GRP-14. `rollout_rs` with its thresholds: one for all rules, or one each; a rule named twice counts once. */
export function parseRejection(
  rules: string,
  thresholds: string | number | null,
  path: (name: string) => string,
): RejectionRule[] {
  const names = [...new Set(parts(rules))];
  const rulePath = path('rollout_rs');
  if (names.length === 0) throw bad(rulePath, rules, `rules separated by commas: ${REJECTIONS.join(', ')}`);
  for (const name of names) {
    if (!REJECTIONS.includes(name as Rejection))
      throw new Fp4Error(
        'E_PARAMETER',
        `${rulePath}: no rule ${JSON.stringify(name)}; ${knownNames(name, REJECTIONS)}`,
      );
  }
  const at = path('rollout_rs_threshold');
  const given = thresholds === null ? [] : parts(String(thresholds));
  if (given.length !== 1 && given.length !== names.length)
    throw bad(
      at,
      thresholds,
      `one threshold, or ${names.length} separated by commas, as rollout_rs names rules`,
    );
  return names.map((name, i) => {
    const bounds = band(given[given.length === 1 ? 0 : i]!, at, thresholds);
    const rule = name as Rejection;
    if (rule.endsWith('k1')) return { rule, lower: bounds.lower ?? 1 / bounds.upper, upper: bounds.upper };
    if (bounds.lower !== undefined) throw bad(at, thresholds, `one upper bound for ${rule}`);
    return { rule, upper: bounds.upper };
  });
}

function checkKind(kind: Kind, value: unknown, path: string): void {
  if (Array.isArray(kind)) {
    if (typeof value !== 'string' || !kind.includes(value)) {
      const hint = typeof value === 'string' ? knownNames(value, kind) : `known: ${kind.join(', ')}`;
      throw new Fp4Error('E_PARAMETER', `${path}: ${shown(value)}; ${hint}`);
    }
  } else if (kind === 'boolean') {
    if (typeof value !== 'boolean') throw bad(path, value, 'true or false');
  } else if (kind === 'text') {
    if (typeof value !== 'string') throw bad(path, value, 'text');
  } else if (kind === 'threshold') {
    if (typeof value !== 'number' && typeof value !== 'string') throw bad(path, value, 'a number or text');
  } else {
    const { number, holds } = kind as Extract<Kind, { number: string }>;
    if (typeof value !== 'number' || !holds(value)) throw bad(path, value, number);
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a field as the config gives it, or its default; null where neither does. */
type Reader = <T>(name: string) => T | null;

function reader(config: Record<string, unknown>, fields: Fields): Reader {
  return <T>(name: string): T | null => {
    const given = config[name];
    if (given === null && OFF_BY_NULL.includes(name)) return null;
    return (given ?? fields[name]!.default) as T | null;
  };
}

/**
 * GRP-17. The config of a step.
 * @param outer the step itself: `framework` and `dtype` stand in for what the config leaves out
 * @param place what every path starts with, for messages
 * @throws Fp4Error E_PARAMETER for a name or value that does not exist, E_JSON for what is no object
 */
export function parseStepConfig(
  config: unknown,
  outer: { framework?: unknown; dtype?: unknown },
  place: string,
): StepConfig {
  const given = config ?? {};
  if (!isRecord(given)) throw new Fp4Error('E_JSON', `${place}config: ${shown(config)}, expected an object`);
  const path = (name: string): string => `${place}config.${name}`;
  const choice = <T extends string>(name: string, names: readonly T[], other: unknown, last: T): T => {
    const value = given[name] ?? other ?? last;
    checkKind(
      names,
      value,
      given[name] === undefined || given[name] === null
        ? `${place}${name === 'preset' ? 'framework' : name}`
        : path(name),
    );
    return value as T;
  };
  const preset = choice('preset', PRESETS, outer.framework, 'verl');
  const dtype = choice('dtype', DTYPES, outer.dtype, 'float64');
  const fields = FIELDS[preset];
  for (const [name, value] of Object.entries(given)) {
    if (name === 'preset' || name === 'dtype') continue;
    if (!Object.hasOwn(fields, name)) {
      const known = ['preset', 'dtype', ...Object.keys(fields)];
      throw new Fp4Error(
        'E_PARAMETER',
        `${path(name)}: not known under preset ${preset}; ${knownNames(name, known)}`,
      );
    }
    if (value !== null) checkKind(fields[name]!.kind, value, path(name));
  }
  const read = reader(given, fields);
  return preset === 'trl' ? trlConfig(read, dtype, given) : verlConfig(read, dtype, preset, given, path);
}

function verlConfig(
  read: Reader,
  dtype: Dtype,
  preset: 'verl' | 'paper',
  given: Record<string, unknown>,
  path: (name: string) => string,
): VerlConfig {
  const either = read<number>('clip_ratio')!;
  const level = read<'token' | 'sequence'>('rollout_is');
  const rules = read<string>('rollout_rs');
  const config: VerlConfig = {
    preset,
    dtype,
    divideByStd: read<boolean>('norm_adv_by_std_in_grpo')!,
    epsilon: read<number>('epsilon')!,
    lossMode: read<VerlConfig['lossMode']>('loss_mode')!,
    clipLow: read<number>('clip_ratio_low') ?? either,
    clipHigh: read<number>('clip_ratio_high') ?? either,
    clipC: read<number>('clip_ratio_c')!,
    aggregation: read<Aggregation>('loss_agg_mode')!,
    lossScaleFactor: read<number>('loss_scale_factor') ?? undefined,
    klType: read<boolean>('use_kl_loss') ? read<string>('kl_loss_type')! : undefined,
    klCoef: read<number>('kl_loss_coef')!,
    entropyCoef: read<number>('entropy_coeff')!,
    rollout:
      level === null
        ? undefined
        : {
            level,
            threshold: parseThreshold(
              read<string | number>('rollout_is_threshold')!,
              path('rollout_is_threshold'),
            ),
            normalize: read<boolean>('rollout_is_batch_normalize')!,
            asked: typeof given.rollout_is === 'string',
          },
    rejection:
      rules === null ? [] : parseRejection(rules, read<string | number>('rollout_rs_threshold'), path),
    dpSize: read<number>('dp_size')!,
    batchTokens: read<number>('batch_num_tokens') ?? undefined,
    globalBatch: read<number>('global_batch_size') ?? undefined,
    responseLength: read<number>('response_length') ?? undefined,
  };
  checkGlobal(config, path);
  return config;
}

/** Several processes cannot see each other's tokens: the denominators of what is aggregated must be given. */
function checkGlobal(config: VerlConfig, path: (name: string) => string): void {
  if (config.dpSize === 1) return;
  const modes = [config.lossMode === 'gspo' ? 'seq-mean-token-mean' : config.aggregation, config.aggregation];
  for (const mode of modes) {
    const name = mode === 'token-mean' ? 'batch_num_tokens' : 'global_batch_size';
    const value = mode === 'token-mean' ? config.batchTokens : config.globalBatch;
    if (mode !== 'token-sum' && value === undefined)
      throw new Fp4Error(
        'E_PARAMETER',
        `${path(name)}: it is missing; ${mode} needs it where dp_size is above 1 (found ${config.dpSize})`,
      );
  }
}

function trlConfig(read: Reader, dtype: Dtype, given: Record<string, unknown>): TrlConfig {
  const epsilon = read<number>('epsilon')!;
  return {
    preset: 'trl',
    dtype,
    lossType: read<TrlConfig['lossType']>('loss_type')!,
    epsilon,
    epsilonHigh: read<number>('epsilon_high') ?? epsilon,
    delta: read<number>('delta') ?? undefined,
    beta: read<number>('beta')!,
    scale: read<TrlConfig['scale']>('scale_rewards')!,
    level: read<TrlConfig['level']>('importance_sampling_level')!,
    biasCorrection: read<boolean>('use_bias_correction_kl')!,
    rollout: read<boolean>('vllm_importance_sampling_correction')
      ? {
          mode: read<TrlMode>('vllm_importance_sampling_mode')!,
          max: read<number>('vllm_importance_sampling_clip_max') ?? undefined,
          min: read<number>('vllm_importance_sampling_clip_min') ?? undefined,
          asked: given.vllm_importance_sampling_correction === true,
        }
      : undefined,
    entropyCoef: read<number>('entropy_coef')!,
    accumulation: read<number>('gradient_accumulation_steps')!,
    processes: read<number>('num_processes')!,
    maxCompletionLength: read<number>('max_completion_length')!,
    itemsInBatch: read<number>('num_items_in_batch') ?? undefined,
  };
}
