/**
 * Fields: what a function takes in and gives out, as words or code strings of fixed width.
 * Clauses: spec/stream.md STR-01.
 * @module
 */
import type { BinaryFormat } from '../number/binary-format.ts';
import { BF16, FP16, FP32 } from '../number/floats.ts';

export interface Field {
  readonly name: string;
  /** Words stand apart; codes are one string, a digit an element. */
  readonly kind: 'word' | 'codes';
  readonly count: number;
  /** Hex digits of one element. */
  readonly digits: number;
  /** The float format of the element, so that NaNs can be recognized and families drawn. */
  readonly format?: BinaryFormat;
}

/** The elements of one field. */
export type Words = ArrayLike<number>;

export const word = (name: string, digits: number): Field => ({ name, kind: 'word', count: 1, digits });

export const codes = (name: string, count: number): Field => ({ name, kind: 'codes', count, digits: 1 });

/** Elements of a float format. */
export const floats = (name: string, count: number, format: BinaryFormat): Field => ({
  name,
  kind: 'word',
  count,
  digits: Math.ceil((format.signBits + format.exponentBits + format.fractionBits) / 4),
  format,
});

/** The formats of the parameter `output`. */
export const OUTPUT_FORMATS = { f32: FP32, bf16: BF16, f16: FP16 } as const;

/** Largest value an element of the field can hold. */
export const largestElement = (field: Field): number => 16 ** field.digits - 1;
