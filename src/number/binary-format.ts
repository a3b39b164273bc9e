/**
 * Small binary floating-point formats as records, and the exact conversions between their codes and their values.
 * One definition serves E1M2 as well as binary32. Clauses: spec/conventions.md NUM-03 to NUM-07.
 * @module
 */
import { type Exact, exact, floorLog2, isZero } from './exact.ts';
import { type Position, roundsAway, split, type Ties } from './round.ts';

/** What the codes at the top of the exponent range mean (NUM-03). */
export type TopCodes =
  | 'ieee' // exponent all ones: infinity where the fraction is 0, else NaN
  | 'all-ones-nan' // only the code with all exponent and fraction bits set is a NaN; no infinity
  | 'negative-zero-nan' // the fnuz forms: the code of -0 is the only NaN; no infinity
  | 'finite'; // every code is a number

/** A format of at most 32 bits: sign, exponent and fraction bits from the top, value (-1)^s 2^(e - bias) 1.f. */
export interface BinaryFormat {
  readonly name: string;
  readonly signBits: 0 | 1;
  readonly exponentBits: number;
  readonly fractionBits: number;
  readonly bias: number;
  /** With subnormals, exponent field 0 means 2^(1 - bias) 0.f; without, there is a hidden one and no zero. */
  readonly subnormals: boolean;
  readonly top: TopCodes;
  /** The code a NaN gets; undefined where the format has none. */
  readonly canonicalNaN?: number;
}

/** What a code stands for. -0 is a finite value whose magnitude is zero. */
export type FloatValue =
  | { readonly kind: 'finite'; readonly negative: boolean; readonly magnitude: Exact }
  | { readonly kind: 'infinite'; readonly negative: boolean }
  | { readonly kind: 'nan' };

/** What becomes of a value beyond the largest finite one (NUM-05). */
export type Overflow = 'saturate' | 'nonfinite';

export const NAN: FloatValue = { kind: 'nan' };

export const finite = (magnitude: Exact, negative = false): FloatValue => ({
  kind: 'finite',
  negative,
  magnitude,
});

/** The signed exact value as a float value; zero is +0. */
export const fromExact = (x: Exact): FloatValue =>
  x.significand < 0n ? finite({ ...x, significand: -x.significand }, true) : finite(x);

export const codeBits = (f: BinaryFormat): number => f.signBits + f.exponentBits + f.fractionBits;

/** CON-01. Hex digits a code of the format takes in a stream. */
export const hexDigits = (f: BinaryFormat): number => Math.ceil(codeBits(f) / 4);

/** 2^0 to 2^32, looked up: this is asked of every code, and a power is slow. */
const POWERS = Array.from({ length: 33 }, (_, k) => 2 ** k);

/** The code of the largest finite magnitude. */
export function largestFinite(f: BinaryFormat): number {
  const codes = POWERS[f.exponentBits + f.fractionBits]!;
  if (f.top === 'ieee') return codes - POWERS[f.fractionBits]! - 1;
  return f.top === 'all-ones-nan' ? codes - 2 : codes - 1;
}

const signOf = (f: BinaryFormat): number => POWERS[f.exponentBits + f.fractionBits]!;

/** NUM-04. The value of a code. */
export function decode(f: BinaryFormat, code: number): FloatValue {
  const sign = signOf(f);
  const negative = f.signBits === 1 && code >= sign;
  const magnitude = code % sign;
  if (f.top === 'negative-zero-nan' && negative && magnitude === 0) return NAN;
  if (magnitude > largestFinite(f)) {
    const infinite = f.top === 'ieee' && magnitude === largestFinite(f) + 1;
    return infinite ? { kind: 'infinite', negative } : NAN;
  }
  const hidden = POWERS[f.fractionBits]!;
  const field = Math.floor(magnitude / hidden);
  const fraction = magnitude % hidden;
  const subnormal = f.subnormals && field === 0;
  const significand = subnormal ? fraction : hidden + fraction;
  return finite(exact(significand, (subnormal ? 1 : field) - f.bias - f.fractionBits), negative);
}

/** Where a magnitude lies among those of a format whose exponent is not bounded above. */
export interface Place {
  /** The code of the largest magnitude that is not above it; negative below the smallest number of a format without zero. */
  readonly index: number;
  readonly position: Position;
}

/**
 * NUM-05. The place of a magnitude. Codes are in the order of their magnitudes, so the neighbours of a value are two
 * consecutive indices.
 */
export function place(f: BinaryFormat, magnitude: Exact): Place {
  const lowest = f.subnormals ? 1 - f.bias : -f.bias; // exponent of the lowest binade
  if (isZero(magnitude)) return { index: f.subnormals ? 0 : -1, position: 'exact' };
  const exponent = Math.max(floorLog2(magnitude), lowest);
  const { lower, position } = split(magnitude, exponent - f.fractionBits);
  const hidden = f.subnormals ? 0 : 2 ** f.fractionBits;
  return { index: Number(lower) - hidden + (exponent - lowest) * 2 ** f.fractionBits, position };
}

/** The index of a magnitude rounded to the format with its exponent unbounded above: the code where it is in range. */
function roundedIndex(f: BinaryFormat, magnitude: Exact, negative: boolean, ties: Ties): number {
  const { index, position } = place(f, magnitude);
  // Without subnormals a magnitude below the smallest has no lower neighbour (NUM-06).
  if (index < 0) return 0;
  return roundsAway(position, index % 2 === 1, negative, ties) ? index + 1 : index;
}

/** NUM-05, NUM-06. A value rounded once to the format. */
export function encode(
  f: BinaryFormat,
  value: FloatValue,
  ties: Ties = 'even',
  overflow: Overflow = 'saturate',
): number {
  if (value.kind === 'nan') return f.canonicalNaN ?? 0;
  if (f.signBits === 0) return encodeUnsigned(f, value, ties);
  if (value.kind === 'infinite') return beyond(f, value.negative, overflow);
  const index = roundedIndex(f, value.magnitude, value.negative, ties);
  if (index > largestFinite(f)) return beyond(f, value.negative, overflow);
  const unsignedZero = index === 0 && f.top === 'negative-zero-nan';
  return value.negative && !unsignedZero ? signOf(f) + index : index;
}

/** NUM-05. What lies beyond the largest finite value: the largest, or else infinity, NaN, the largest, as the format has it. */
function beyond(f: BinaryFormat, negative: boolean, overflow: Overflow): number {
  if (overflow === 'nonfinite' && f.top !== 'finite' && f.top !== 'ieee') return f.canonicalNaN!;
  const magnitude = largestFinite(f) + (overflow === 'nonfinite' && f.top === 'ieee' ? 1 : 0);
  return negative ? signOf(f) + magnitude : magnitude;
}

/** NUM-06. Scales have no sign, zero or infinity, and a rule of their own for what lies outside their range. */
function encodeUnsigned(f: BinaryFormat, value: FloatValue, ties: Ties): number {
  if (value.kind !== 'finite') return f.canonicalNaN!;
  if (value.negative && !isZero(value.magnitude)) return f.canonicalNaN!;
  return Math.min(roundedIndex(f, value.magnitude, false, ties), largestFinite(f));
}
