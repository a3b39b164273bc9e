/**
 * How intermediates are shown: exact numbers as BF16 or FP32 words, rounded once half-even where the policy left them exact.
 * Clauses: spec/hif4.md HIF4-16, spec/mxfp4.md MX-16.
 * @module
 */
import type { Signed } from '../format/nonfinite.ts';
import { type BinaryFormat, encode, finite } from '../number/binary-format.ts';
import type { Exact } from '../number/exact.ts';

/** The word of a magnitude; beyond the format, an infinity. */
export const show = (format: BinaryFormat, magnitude: Exact): number =>
  encode(format, finite(magnitude), 'even', 'nonfinite');

/** The word of a signed value, the sign of zero kept. */
export const showSigned = (format: BinaryFormat, { magnitude, negative }: Signed): number =>
  encode(format, finite(magnitude, negative), 'even', 'nonfinite');

/** A list of one word, n times. */
export const repeat = (count: number, word: number): number[] => Array.from({ length: count }, () => word);
