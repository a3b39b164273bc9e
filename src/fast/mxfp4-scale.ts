/**
 * The E8M0 byte of a block from the FP32 word of its largest magnitude: each rule goes to the next exponent at one significand,
 * so that an addition carries into the exponent field exactly where the rule does. Made from the definition, by that threshold.
 * Clauses: spec/mxfp4.md MX-05 to MX-11.
 * @module
 */
import { type Mxfp4Trace, mxfp4Stages } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { BINADE, firstReaching, INFINITY_WORD, magnitudeOf, ONE } from './thresholds.ts';

/** The byte of a normal word w is bytes[(w + carry) >>> 23]. */
export interface ScaleTable {
  readonly carry: number;
  readonly bytes: Uint8Array;
  /** The byte of an all-zero block. */
  readonly zero: number;
  /** The byte where the largest magnitude is subnormal in FP32. */
  readonly subnormal: (word: number) => number;
}

function traced(word: number, policy: Mxfp4Policy): Mxfp4Trace {
  const input = { kind: 'finite', values: [], dictated: new Map() };
  const trace = { input, amax: magnitudeOf(word) } as unknown as Mxfp4Trace;
  trace.exponent = mxfp4Stages.exponent(trace, policy);
  trace.scale = mxfp4Stages.scale(trace, policy);
  return trace;
}

/** The table of a policy: some 300 questions to the definition, about a millisecond. */
export function scaleTable(policy: Mxfp4Policy): ScaleTable {
  const byte = (word: number): number => traced(word, policy).scale;
  const exponent = (word: number): number => traced(word, policy).exponent;
  const lowest = exponent(ONE);
  const step = firstReaching(ONE, ONE + BINADE, (word) => exponent(word) > lowest);
  const carry = ONE + BINADE - step;
  const bytes = new Uint8Array(256);
  for (let field = 1; field < 256; field++) {
    // The smallest normal word that is carried into this field.
    const word = Math.max(field * BINADE - carry, BINADE);
    if (word < INFINITY_WORD) bytes[field] = byte(word);
  }
  return { carry, bytes, zero: byte(0), subnormal: byte };
}

/** MX-10, MX-11. The byte of a block whose largest magnitude, after input rounding, has this FP32 word. */
export function scaleByte(table: ScaleTable, amax: number): number {
  if (amax < BINADE) return amax === 0 ? table.zero : table.subnormal(amax);
  return table.bytes[(amax + table.carry) >>> 23]!;
}
