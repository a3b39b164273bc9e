/**
 * MXFP4 blocks: 32 E2M1 codes under one E8M0 scale.
 * Standard: OCP Microscaling Formats (MX) v1.0. Clauses: spec/mxfp4.md.
 * The encoder is a list of named stages, each a function of the policy and of what came before it.
 * @module
 */
import { decode, encode, type FloatValue, finite } from '../number/binary-format.ts';
import {
  atLeast,
  ceilLog2,
  compare,
  divide,
  type Exact,
  exact,
  floorLog2,
  isZero,
  maximum,
  multiply,
  powerOfTwo,
  scale,
} from '../number/exact.ts';
import type { Mxfp4Policy } from './mxfp4-policy.ts';
import { type BlockInput, blockInput, type Signed } from './nonfinite.ts';
import { E2M1, E8M0 } from './scalar.ts';
import { signBit } from './zero-sign.ts';

/** MX-01. Elements of a block. */
export const BLOCK = 32;

/** Every intermediate of one encoding, in order (MX-04), by the name it is shown under (MX-16). */
export interface Mxfp4Trace {
  input: BlockInput;
  amax: Exact;
  /** The scale's exponent before it is clamped; -127 for an all-zero block. */
  exponent: number;
  scale: number;
  /** V / scale, what the codes are rounded from. */
  scaled: readonly Signed[];
  codes: readonly number[];
}

type Stage<K extends keyof Mxfp4Trace> = (trace: Mxfp4Trace, policy: Mxfp4Policy) => Mxfp4Trace[K];

/** One function a stage. A fault of an implementation is this list with one stage replaced. */
export type Mxfp4Stages = { readonly [K in Exclude<keyof Mxfp4Trace, 'input'>]: Stage<K> };

/** Exponent of the largest binade of E2M1: 4 and 6 lie in [2^2, 2^3). */
const E2M1_EMAX = 2;
const SIX = exact(6);
const BIAS = E8M0.bias;
const NAN_SCALE = E8M0.canonicalNaN!;
const TOP_SCALE = 0xfe;

/** Whether amax, rounded to one fraction bit, reaches the next power of two: amax >= 1.75 x 2^floor(log2 amax). */
const roundsUpToPowerOfTwo = (amax: Exact): boolean => atLeast(scale(amax, -floorLog2(amax)), exact(7, -2));

/** The exponent rules, on the real number amax > 0. */
export const SCALE_RULES: Record<Mxfp4Policy['scale'], (amax: Exact) => number> = {
  /** MX-05. */
  floor: (amax) => floorLog2(amax) - E2M1_EMAX,
  /** MX-06. */
  ceil: (amax) => ceilLog2(amax) - E2M1_EMAX,
  /** MX-07. */
  even: (amax) => floorLog2(amax) - E2M1_EMAX + Number(roundsUpToPowerOfTwo(amax)),
  /** MX-08. */
  rceil: (amax) => ceilLog2(divide(amax, SIX)),
  /** MX-09. log2(amax / 6) is above n + 1/2 exactly where (amax / 6)^2 is above 2^(2n + 1); equality is impossible. */
  nearest: (amax) => {
    const ratio = divide(amax, SIX);
    const floor = floorLog2(ratio);
    return floor + Number(compare(multiply(ratio, ratio), powerOfTwo(2 * floor + 1)) > 0);
  },
};

const overflowsF32 = (t: Mxfp4Trace): boolean => floorLog2(t.amax) === 127 && roundsUpToPowerOfTwo(t.amax);

/** MX-04. The encoder, stage by stage. */
export const mxfp4Stages: Mxfp4Stages = {
  /** MX-04. The largest magnitude; it does not pass through a narrower type. */
  amax: (t) => maximum(t.input.values.map((v) => v.magnitude)),

  exponent: (t, policy) => (isZero(t.amax) ? -BIAS : SCALE_RULES[policy.scale](t.amax)),

  /** MX-10, MX-11. The exponent as an E8M0 byte. */
  scale: (t, policy) => {
    if (t.input.kind === 'top-scale') return TOP_SCALE;
    if (isZero(t.amax)) return Number.parseInt(policy['zero-scale'], 16);
    if (policy.scale === 'even' && policy['even-range'] === 'f32' && overflowsF32(t)) return NAN_SCALE;
    if (policy['scale-range'] === 'wrap') return (t.exponent + BIAS) & 0xff;
    return Math.min(Math.max(t.exponent + BIAS, Number.parseInt(policy['scale-min'], 16)), TOP_SCALE);
  },

  /** MX-12. Each element over the scale, exactly. */
  scaled: (t) =>
    t.input.values.map((v) => ({ negative: v.negative, magnitude: scale(v.magnitude, BIAS - t.scale) })),

  /** MX-12. Rounded once to E2M1, saturated at 6, with the sign of the input. */
  codes: (t, policy) =>
    t.scaled.map((s, i) => {
      const magnitude = encode(E2M1, finite(s.magnitude, s.negative), policy.ties, 'saturate') & 7;
      const input = t.input.values[i]!;
      return t.input.dictated.get(i) ?? signBit(input, magnitude, policy['zero-sign']) + magnitude;
    }),
};

export interface EncodedBlock {
  readonly scale: number;
  readonly codes: readonly number[];
  /** Undefined for a block whose scale or codes a NaN or an infinity dictates (MX-13). */
  readonly trace: Mxfp4Trace | undefined;
}

const filled = (scaleCode: number, code: number): EncodedBlock => ({
  scale: scaleCode,
  codes: Array.from({ length: BLOCK }, () => code),
  trace: undefined,
});

/**
 * MX-04. Encodes one block.
 * @param x 32 values, before input rounding
 * @param stages the encoder's stages; another list describes a faulty encoder
 * @throws Fp4Error E_NONFINITE under nonfinite=error
 */
export function encodeBlock(
  x: readonly FloatValue[],
  policy: Mxfp4Policy,
  stages: Mxfp4Stages = mxfp4Stages,
): EncodedBlock {
  if (x.length !== BLOCK) throw new RangeError(`a block has ${BLOCK} elements, not ${x.length}`);
  const trace = { input: blockInput(x, policy.input, policy.nonfinite) } as Mxfp4Trace;
  const nanCode = Number(policy['nan-code']);
  if (trace.input.kind === 'nan-block') return filled(NAN_SCALE, nanCode);
  if (trace.input.kind === 'nan-scale')
    return { ...filled(NAN_SCALE, 0), codes: zerosAround(trace.input, policy) };
  trace.amax = stages.amax(trace, policy);
  trace.exponent = stages.exponent(trace, policy);
  trace.scale = stages.scale(trace, policy);
  if (trace.scale === NAN_SCALE) return filled(NAN_SCALE, nanCode);
  trace.scaled = stages.scaled(trace, policy);
  trace.codes = stages.codes(trace, policy);
  return { scale: trace.scale, codes: trace.codes, trace };
}

/** MX-13, CON-06. Under nonfinite=nan-scale: the dictated codes, and a zero for every finite element, its sign by zero-sign. */
const zerosAround = (input: BlockInput, policy: Mxfp4Policy): number[] =>
  input.values.map((v, i) => input.dictated.get(i) ?? signBit(v, 0, policy['zero-sign']));

/** MX-02. The value of an element: 2^(scale - 127) x E2M1; a NaN scale makes it NaN. */
export function decodeElement(scaleCode: number, code: number): FloatValue {
  const blockScale = decode(E8M0, scaleCode);
  const element = decode(E2M1, code);
  if (blockScale.kind !== 'finite' || element.kind !== 'finite') return { kind: 'nan' };
  return finite(multiply(blockScale.magnitude, element.magnitude), element.negative);
}

/** MX-02. The 32 values of a block. */
export const decodeBlock = (scaleCode: number, codes: readonly number[]): FloatValue[] =>
  codes.map((code) => decodeElement(scaleCode, code));
