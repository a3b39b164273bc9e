/**
 * The operations of one binary format on JavaScript numbers, each rounded once, half-even.
 * Clauses: spec/adamw.md ADW-01, spec/elementary.md ELE-06, ELE-07.
 * @module
 */
import { fma, fma32, sqrt, sqrt32 } from '../number/elementary.ts';

export const DTYPES = ['float32', 'float64'] as const;
/** PyTorch's names of binary32 and binary64. */
export type Dtype = (typeof DTYPES)[number];

export interface FloatArithmetic {
  /**
   * To the format. A sum, difference, product or quotient of two binary32 numbers may be formed in binary64 first: 53 bits are
   * at least 2 x 24 + 2, so two roundings are one (Figueroa).
   */
  readonly round: (x: number) => number;
  readonly fma: (a: number, b: number, c: number) => number;
  readonly sqrt: (x: number) => number;
  /** Hex digits of a number's bits. */
  readonly digits: 8 | 16;
}

export const ARITHMETIC: Readonly<Record<Dtype, FloatArithmetic>> = {
  float32: { round: Math.fround, fma: fma32, sqrt: sqrt32, digits: 8 },
  float64: { round: (x) => x, fma, sqrt, digits: 16 },
};
