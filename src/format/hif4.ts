/**
 * HiF4 units: 64 E1M2 codes under a three-level scale word.
 * Standard: arXiv 2602.11287; layout of the word: PTO ISA. Clauses: spec/hif4.md.
 * The encoder is a list of named stages, each a function of the policy and of what came before it.
 * @module
 */
import { decode, encode, type FloatValue, finite, fromExact } from '../number/binary-format.ts';
import {
  add,
  atLeast,
  divide,
  type Exact,
  exact,
  floorLog2,
  HALF,
  isZero,
  maximum,
  multiply,
  powerOfTwo,
  scale,
} from '../number/exact.ts';
import { BF16, roundTo } from '../number/floats.ts';
import { roundMagnitude, type Ties } from '../number/round.ts';
import type { HiF4Policy } from './hif4-policy.ts';
import { type BlockInput, blockInput, type Signed } from './nonfinite.ts';
import { bf16Value, E1M2, E6M2, e6m2_to_bf16_reciprocal } from './scalar.ts';
import { signBit } from './zero-sign.ts';

/** HIF4-01. Elements of a unit, and of the groups that share a level-2 and a level-3 exponent bit. */
export const UNIT = 64;
export const OCTET = 8;
export const QUAD = 4;

/** Every intermediate of one encoding, in order (HIF4-05), by the name it is shown under (HIF4-16). */
export interface HiF4Trace {
  input: BlockInput;
  /** Largest magnitude of each 4, of each 8, and of all. */
  max4: readonly Exact[];
  max8: readonly Exact[];
  max64: Exact;
  sf: Exact;
  e6m2: number;
  rcp: Exact;
  /** Level-2 bits: bit k covers elements 8k to 8k + 7. */
  e1_8: number;
  /** Level-3 bits: bit k covers elements 4k to 4k + 3. */
  e1_16: number;
  /** V x REC x 2^-(E1_8 + E1_16), what the codes are rounded from. */
  scaled: readonly Signed[];
  codes: readonly number[];
}

/** A stage sees the stages before it, and the policy. */
type Stage<K extends keyof HiF4Trace> = (trace: HiF4Trace, policy: HiF4Policy) => HiF4Trace[K];

/** One function a stage. A fault of an implementation is this list with one stage replaced. */
export type HiF4Stages = { readonly [K in Exclude<keyof HiF4Trace, 'input'>]: Stage<K> };

const FOUR = exact(4);
const TWO = exact(2);
const SEVEN = exact(7);

/** HIF4-06. bf16(1/7) = 3e12. */
const BF16_ONE_SEVENTH = magnitudeOf(bf16Value(0x3e12));

/** HIF4-12. The largest magnitude of E1M2, 1.75, in quarters. */
const LARGEST_CODE = 7;

function magnitudeOf(value: FloatValue): Exact {
  if (value.kind !== 'finite') throw new RangeError('a finite value was expected');
  return value.magnitude;
}

const groupsOf = (values: readonly Exact[], size: number): Exact[] =>
  Array.from({ length: values.length / size }, (_, k) => maximum(values.slice(size * k, size * (k + 1))));

const bit = (word: number, k: number): number => (word >> k) & 1;

/** Bits from their conditions, bit k from condition k. */
const bits = (conditions: readonly boolean[]): number =>
  conditions.reduce((word, set, k) => word | (Number(set) << k), 0);

/** A number that stands for an infinity of BF16: halving it twice brings it back into no format's range. */
const INFINITE = powerOfTwo(1000);

/** HIF4-09. A magnitude times the reciprocal: exact, or rounded to BF16. Only under a wrapped scale is it ever infinite. */
function product(magnitude: Exact, reciprocal: Exact, policy: HiF4Policy): Exact {
  const unrounded = multiply(magnitude, reciprocal);
  if (policy.products === 'exact') return unrounded;
  const rounded = decode(BF16, encode(BF16, finite(unrounded), 'even', 'nonfinite'));
  return rounded.kind === 'infinite' ? INFINITE : magnitudeOf(rounded);
}

/** HIF4-07. SF with three significant bits and no limit on its exponent, as the low 8 bits of 4(e + 48) + f. */
function wrappedE6M2(sf: Exact, ties: Ties): number {
  if (isZero(sf)) return 0x00;
  const exponent = floorLog2(sf);
  const significand = Number(roundMagnitude(sf, exponent - 2, false, ties)); // 4 to 8; 8 carries into the exponent
  return (4 * (exponent + 48) + significand - 4) & 0xff;
}

/** HIF4-12. A magnitude in units of 2^-2 rounded to an integer, saturated at 7. */
function quarters({ magnitude, negative }: Signed, ties: HiF4Policy['ties']): number {
  const rounded =
    ties === 'away-bf16'
      ? roundMagnitude(roundTo(BF16, add(scale(magnitude, 2), HALF)), 0, negative, 'truncate')
      : roundMagnitude(magnitude, -2, negative, ties);
  return rounded > LARGEST_CODE ? LARGEST_CODE : Number(rounded);
}

/** HIF4-05. The encoder, stage by stage. */
export const hif4Stages: HiF4Stages = {
  /** HIF4-05. Maxima over 4 consecutive elements, over 8, over all 64. */
  max4: (t) =>
    groupsOf(
      t.input.values.map((v) => v.magnitude),
      QUAD,
    ),
  max8: (t) => groupsOf(t.max4, 2),
  max64: (t) => maximum(t.max8),

  /** HIF4-06. The scale factor, a seventh of the largest magnitude. */
  sf: (t, policy) => {
    if (policy.sf === 'quotient') return divide(t.max64, SEVEN);
    const unrounded = multiply(t.max64, BF16_ONE_SEVENTH);
    return policy.sf === 'bf16' ? roundTo(BF16, unrounded) : unrounded;
  },

  /** HIF4-07, HIF4-14. SF rounded to E6M2; below 2^-48 it is 00, above 49152 fe, unless the byte wraps. */
  e6m2: (t, policy) =>
    policy['e6m2-range'] === 'wrap'
      ? wrappedE6M2(t.sf, policy['e6m2-ties'])
      : encode(E6M2, fromExact(t.sf), policy['e6m2-ties'], 'saturate'),

  /** HIF4-08. The reciprocal of the scale. */
  rcp: (t, policy) =>
    policy.reciprocal === 'bf16'
      ? magnitudeOf(bf16Value(e6m2_to_bf16_reciprocal(t.e6m2)))
      : divide(exact(1), magnitudeOf(decode(E6M2, t.e6m2))),

  /** HIF4-10. An octet whose largest magnitude reaches 4 scales gets a level-2 bit. */
  e1_8: (t, policy) => bits(t.max8.map((max) => atLeast(product(max, t.rcp, policy), FOUR))),

  /** HIF4-11. A quad that, after its octet's bit, still reaches 2 scales gets a level-3 bit. */
  e1_16: (t, policy) =>
    bits(t.max4.map((max, k) => atLeast(scale(product(max, t.rcp, policy), -bit(t.e1_8, k >> 1)), TWO))),

  /** HIF4-12. Each element over its own scale. */
  scaled: (t, policy) =>
    t.input.values.map((v, q) => {
      const increment = bit(t.e1_8, Math.floor(q / OCTET)) + bit(t.e1_16, Math.floor(q / QUAD));
      return { negative: v.negative, magnitude: scale(product(v.magnitude, t.rcp, policy), -increment) };
    }),

  /** HIF4-12. Rounded to quarters, saturated at 1.75, with the sign of the input. */
  codes: (t, policy) =>
    t.scaled.map((s, q) => {
      const magnitude = quarters(s, policy.ties);
      const input = t.input.values[q]!;
      return t.input.dictated.get(q) ?? signBit(input, magnitude, policy['zero-sign']) + magnitude;
    }),
};

const NAN_UNIT = {
  e6m2: E6M2.canonicalNaN!,
  e1_8: 0,
  e1_16: 0,
  codes: Array.from({ length: UNIT }, () => 0),
};

export interface EncodedUnit {
  /** HIF4-02. The 32-bit scale word. */
  readonly word: number;
  readonly codes: readonly number[];
  /** Undefined for a NaN unit, whose every intermediate is NaN or zero (HIF4-13). */
  readonly trace: HiF4Trace | undefined;
}

/** HIF4-02. The scale word of its fields. */
export const packScaleWord = (e6m2: number, e1_8: number, e1_16: number): number =>
  (e6m2 | (e1_8 << 8) | (e1_16 << 16)) >>> 0;

export const unpackScaleWord = (word: number): { e6m2: number; e1_8: number; e1_16: number } => ({
  e6m2: word & 0xff,
  e1_8: (word >>> 8) & 0xff,
  e1_16: word >>> 16,
});

const nanUnit = (): EncodedUnit => ({
  word: packScaleWord(NAN_UNIT.e6m2, NAN_UNIT.e1_8, NAN_UNIT.e1_16),
  codes: NAN_UNIT.codes,
  trace: undefined,
});

/**
 * HIF4-05. Encodes one unit. No inverse of decodeUnit, in either order (HIF4-15).
 * @param x 64 values, before input rounding
 * @param stages the encoder's stages; another list describes a faulty encoder
 * @throws Fp4Error E_NONFINITE under nonfinite=error
 */
export function encodeUnit(
  x: readonly FloatValue[],
  policy: HiF4Policy,
  stages: HiF4Stages = hif4Stages,
): EncodedUnit {
  if (x.length !== UNIT) throw new RangeError(`a unit has ${UNIT} elements, not ${x.length}`);
  const trace = { input: blockInput(x, policy.input, policy.nonfinite) } as HiF4Trace;
  if (trace.input.kind === 'nan-block') return nanUnit();
  trace.max4 = stages.max4(trace, policy);
  trace.max8 = stages.max8(trace, policy);
  trace.max64 = stages.max64(trace, policy);
  trace.sf = stages.sf(trace, policy);
  trace.e6m2 = stages.e6m2(trace, policy);
  if (trace.e6m2 === E6M2.canonicalNaN) return nanUnit();
  trace.rcp = stages.rcp(trace, policy);
  trace.e1_8 = stages.e1_8(trace, policy);
  trace.e1_16 = stages.e1_16(trace, policy);
  trace.scaled = stages.scaled(trace, policy);
  trace.codes = stages.codes(trace, policy);
  return { word: packScaleWord(trace.e6m2, trace.e1_8, trace.e1_16), codes: trace.codes, trace };
}

/** HIF4-03. The value of element q: E6M2 x 2^(E1_8[q div 8] + E1_16[q div 4]) x E1M2; a NaN scale makes it NaN. */
export function decodeElement(word: number, code: number, q: number): FloatValue {
  const { e6m2, e1_8, e1_16 } = unpackScaleWord(word);
  const level1 = decode(E6M2, e6m2);
  const element = decode(E1M2, code);
  if (level1.kind !== 'finite' || element.kind !== 'finite') return { kind: 'nan' };
  const increment = powerOfTwo(bit(e1_8, Math.floor(q / OCTET)) + bit(e1_16, Math.floor(q / QUAD)));
  const magnitude = multiply(multiply(level1.magnitude, increment), element.magnitude);
  return finite(magnitude, element.negative);
}

/** HIF4-03. The 64 values of a unit. */
export const decodeUnit = (word: number, codes: readonly number[]): FloatValue[] =>
  codes.map((code, q) => decodeElement(word, code, q));
