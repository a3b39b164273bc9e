/**
 * What a block quantizer takes in: values rounded to the input format, with NaN and infinity dealt with by name.
 * The standards leave NaN and infinity open; each rule here is what some implementation does. Clauses: spec/conventions.md
 * CON-04, CON-05.
 * @module
 */
import { Fp4Error } from '../error.ts';
import {
  type BinaryFormat,
  decode,
  encode,
  type FloatValue,
  largestFinite,
} from '../number/binary-format.ts';
import { type Exact, ZERO } from '../number/exact.ts';
import { BF16, FP32 } from '../number/floats.ts';

/** A number with a sign that zero has too. */
export interface Signed {
  readonly negative: boolean;
  readonly magnitude: Exact;
}

/** CON-05. The rules by the names of the parameter `nonfinite`. */
export const NONFINITE = {
  /** A NaN or an infinity makes the whole block NaN. */
  nan: { nan: 'nan-block', infinity: 'nan-block' },
  /** A NaN gives code 0 and does not count; an infinity counts as the largest finite value and gives the largest code. */
  saturate: { nan: 'zero', infinity: 'largest' },
  /** Either is refused. */
  error: { nan: 'error', infinity: 'error' },
  /** A NaN makes the block NaN; an infinity is as under saturate. */
  'nan-saturate': { nan: 'nan-block', infinity: 'largest' },
  /** A NaN is as under saturate; under an infinity the whole block counts as zeros. */
  'zero-block': { nan: 'zero', infinity: 'zero-block' },
  /** A NaN is refused; an infinity takes the largest scale and the largest code. */
  'top-scale': { nan: 'error', infinity: 'top-scale' },
  /** A NaN gives the largest code and does not count; an infinity gives scale ff, code f for itself and zeros for the rest. */
  'nan-scale': { nan: 'largest-code', infinity: 'nan-scale' },
} as const;
export type NonfiniteRule = keyof typeof NONFINITE;

/** What an infinity, or a NaN, made of the block as a whole. */
export type BlockKind = 'finite' | 'nan-block' | 'zero-block' | 'top-scale' | 'nan-scale';

export interface BlockInput {
  readonly kind: BlockKind;
  readonly values: readonly Signed[];
  /** Codes that the rule dictates whatever the scale, by element. */
  readonly dictated: ReadonlyMap<number, number>;
}

const INPUT_FORMATS: Record<'bf16' | 'f32', BinaryFormat> = { bf16: BF16, f32: FP32 };
const LARGEST_MAGNITUDE_CODE = 7;
const SIGN = 8;
const PLUS_ZERO: Signed = { negative: false, magnitude: ZERO };

/** CON-04. A value rounded half-even to the input format; beyond its largest finite value it is an infinity. */
export function roundInput(value: FloatValue, input: 'bf16' | 'f32'): FloatValue {
  const format = INPUT_FORMATS[input];
  return decode(format, encode(format, value, 'even', 'nonfinite'));
}

/** CON-04, CON-05. Input rounding, then the nonfinite rule. */
export function blockInput(x: readonly FloatValue[], input: 'bf16' | 'f32', rule: NonfiniteRule): BlockInput {
  const policy = NONFINITE[rule];
  const format = INPUT_FORMATS[input];
  const largest = decode(format, largestFinite(format)) as Extract<FloatValue, { kind: 'finite' }>;
  const dictated = new Map<number, number>();
  let kind = 'finite' as BlockKind;
  const values = x.map((raw, index): Signed => {
    const value = roundInput(raw, input);
    if (value.kind === 'finite') return value;
    const action = value.kind === 'nan' ? policy.nan : policy.infinity;
    const sign = value.kind === 'infinite' && value.negative ? SIGN : 0;
    switch (action) {
      case 'error': {
        const found = value.kind === 'nan' ? 'a NaN' : 'an infinity';
        throw new Fp4Error('E_NONFINITE', `element ${index} is ${found}, which nonfinite=${rule} refuses`);
      }
      case 'zero':
        break;
      case 'largest':
      case 'top-scale':
        dictated.set(index, sign + LARGEST_MAGNITUDE_CODE);
        if (action === 'top-scale') kind = action;
        return { negative: sign !== 0, magnitude: largest.magnitude };
      case 'largest-code':
        dictated.set(index, LARGEST_MAGNITUDE_CODE);
        break;
      case 'nan-scale':
        dictated.set(index, SIGN + LARGEST_MAGNITUDE_CODE);
        kind = action;
        break;
      default:
        kind = action;
    }
    return PLUS_ZERO;
  });
  // Every element of a zero-block is 0, so that the encoder's own rule for all-zero blocks gives the rest.
  if (kind === 'zero-block') return { kind, values: x.map(() => PLUS_ZERO), dictated };
  return { kind, values, dictated };
}
