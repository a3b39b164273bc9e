/**
 * A run of AdamW as one JSON object: configuration, first parameters, gradients step by step.
 * Clauses: spec/adamw.md ADW-02, ADW-11, ADW-12.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import { type AdamWConfig, adamwStep, initialState, type Kernel } from './adamw.ts';
import { DTYPES, type Dtype } from './float-arithmetic.ts';
import { formatHexNumbers, parseHexNumbers, shown } from './hex-numbers.ts';

interface Step {
  readonly grad: Float64Array;
  readonly sqrt?: Float64Array;
}

export interface AdamWRecord {
  readonly id?: unknown;
  readonly config: AdamWConfig;
  readonly dtype: Dtype;
  readonly param: Float64Array;
  readonly steps: readonly Step[];
}

type Members = Readonly<Record<string, unknown>>;

function members(value: unknown, path: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new Fp4Error('E_JSON', `${path}: ${shown(value)}; expected an object`);
}

/** ADW-02. PyTorch's names in the order of its signature, with verl's values. */
export const DEFAULT_CONFIG: AdamWConfig = {
  lr: 1e-6,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weight_decay: 0.01,
  amsgrad: false,
  maximize: false,
};

/** ADW-02. Names that choose PyTorch's code path, which is the kernel's business here, and the values that are modelled. */
const PATHS: Readonly<Record<string, readonly boolean[]>> = {
  foreach: [false, true],
  fused: [false, true],
  capturable: [false],
  differentiable: [false],
  decoupled_weight_decay: [true],
};

function numberWithin(value: unknown, path: string, limit: number): number {
  if (typeof value === 'number' && value >= 0 && value < limit) return value;
  const range = limit === 1 ? 'from 0 up to, not including, 1' : 'of at least 0';
  throw new Fp4Error('E_PARAMETER', `${path}: ${shown(value)}; expected a finite number ${range}`);
}

function flag(value: unknown, path: string, values: readonly boolean[] = [false, true]): boolean {
  if (values.includes(value as boolean)) return value as boolean;
  throw new Fp4Error('E_PARAMETER', `${path}: ${shown(value)}; expected ${values.join(' or ')}`);
}

function betas(value: unknown, path: string): [number, number] {
  if (!Array.isArray(value) || value.length !== 2) {
    throw new Fp4Error('E_PARAMETER', `${path}: ${shown(value)}; expected a list of two numbers`);
  }
  return [numberWithin(value[0], `${path}[0]`, 1), numberWithin(value[1], `${path}[1]`, 1)];
}

/**
 * ADW-02. A configuration by PyTorch's names; null means absent.
 * @throws Fp4Error E_PARAMETER for a name that is not known or a value out of range
 */
export function parseAdamWConfig(value: unknown, path: string): AdamWConfig {
  const given = value === undefined || value === null ? {} : members(value, path);
  const known = [...Object.keys(DEFAULT_CONFIG), ...Object.keys(PATHS)];
  for (const name of Object.keys(given)) {
    if (!known.includes(name))
      throw new Fp4Error('E_PARAMETER', `${path}.${name}: not known; ${knownNames(name, known)}`);
  }
  for (const [name, values] of Object.entries(PATHS)) {
    if (given[name] !== undefined && given[name] !== null) flag(given[name], `${path}.${name}`, values);
  }
  const all = {
    ...DEFAULT_CONFIG,
    ...Object.fromEntries(Object.entries(given).filter(([, v]) => v !== null)),
  };
  return {
    lr: numberWithin(all.lr, `${path}.lr`, Number.POSITIVE_INFINITY),
    betas: betas(all.betas, `${path}.betas`),
    eps: numberWithin(all.eps, `${path}.eps`, Number.POSITIVE_INFINITY),
    weight_decay: numberWithin(all.weight_decay, `${path}.weight_decay`, Number.POSITIVE_INFINITY),
    amsgrad: flag(all.amsgrad, `${path}.amsgrad`),
    maximize: flag(all.maximize, `${path}.maximize`),
  };
}

function dtypeOf(value: unknown, path: string): Dtype {
  if (value === undefined || value === null) return 'float64';
  if (DTYPES.includes(value as Dtype)) return value as Dtype;
  throw new Fp4Error('E_DTYPE', `${path}: ${shown(value)}; expected ${DTYPES.join(' or ')}`);
}

/** As many numbers as there are parameters. */
function fitting(value: unknown, dtype: Dtype, path: string, count: number): Float64Array {
  const numbers = parseHexNumbers(value, dtype, path);
  if (numbers.length === count) return numbers;
  throw new Fp4Error('E_LENGTH', `${path}: ${numbers.length} numbers; param has ${count}`);
}

/**
 * ADW-11. A record from its parsed JSON; members of the record and of its steps that are not known are passed over.
 * @param place what stands before the JSON path in messages: `line 3: `
 * @throws Fp4Error
 */
export function parseAdamWRecord(value: unknown, place: string): AdamWRecord {
  const record = members(value, `${place}$`);
  const dtype = dtypeOf(record.dtype, `${place}dtype`);
  const param = parseHexNumbers(record.param, dtype, `${place}param`);
  if (!Array.isArray(record.steps)) {
    throw new Fp4Error('E_JSON', `${place}steps: ${shown(record.steps)}; expected a list`);
  }
  const steps = record.steps.map((one: unknown, i): Step => {
    const path = `${place}steps[${i}]`;
    const { grad, sqrt } = members(one, path);
    return {
      grad: fitting(grad, dtype, `${path}.grad`, param.length),
      ...(sqrt === undefined || sqrt === null
        ? {}
        : { sqrt: fitting(sqrt, dtype, `${path}.sqrt`, param.length) }),
    };
  });
  const config = parseAdamWConfig(record.config, `${place}config`);
  return { ...(record.id === undefined ? {} : { id: record.id }), config, dtype, param, steps };
}

/** ADW-11. What comes of a record, ready for JSON: per step the parameters and moments after it. */
export function runAdamW({ id, config, dtype, param, steps }: AdamWRecord, kernel: Kernel): object {
  const state = initialState(param, config);
  const hex = (values: Float64Array): string[] => formatHexNumbers(values, dtype);
  const done = steps.map(({ grad, sqrt }) => {
    // ADW-08. The other kernels take roots of their own.
    adamwStep(state, grad, config, dtype, kernel, kernel === 'single-tensor' ? sqrt : undefined);
    return {
      param: hex(state.param),
      exp_avg: hex(state.exp_avg),
      exp_avg_sq: hex(state.exp_avg_sq),
      ...(state.max_exp_avg_sq ? { max_exp_avg_sq: hex(state.max_exp_avg_sq) } : {}),
    };
  });
  return { ...(id === undefined ? {} : { id }), dtype, kernel, steps: done };
}
