/**
 * The elements of an encoded block, one a line: what went in, what it was rounded from, what came out, what was lost.
 * @module
 */
import type { BlockInput, Signed } from '../format/nonfinite.ts';
import type { Field, Words } from '../functions/field.ts';
import { decode, type FloatValue, finite, fromExact } from '../number/binary-format.ts';
import { compare, type Exact, isZero, negate, subtract } from '../number/exact.ts';
import { decimal, hex, ranges, table } from './table.ts';

export interface ShownElements {
  readonly input: Field;
  readonly words: Words;
  readonly rounded: BlockInput;
  readonly scaled: readonly Signed[];
  readonly codes: readonly number[];
  readonly values: readonly FloatValue[];
  /** The largest magnitude an element can hold in its own scale. */
  readonly largest: Exact;
}

const signedExact = (s: Signed): Exact => (s.negative ? negate(s.magnitude) : s.magnitude);

/** Value minus input, where both are numbers. */
function error(value: FloatValue, input: Signed): string {
  if (value.kind !== 'finite') return '';
  return decimal(fromExact(subtract(signedExact(value), signedExact(input))));
}

/** The table, then a line on what was lost. */
export function elementLines(e: ShownElements): string[] {
  const header = ['element', 'input', 'V', 'scaled', 'code', 'value', 'error', ''];
  const underflow: number[] = [];
  const saturated: number[] = [];
  let nonzero = 0;
  const rows = e.codes.map((code, q) => {
    const input = e.rounded.values[q]!;
    const scaled = e.scaled[q]!;
    const value = e.values[q]!;
    const lost = !isZero(input.magnitude) && value.kind === 'finite' && isZero(value.magnitude);
    const clipped = compare(scaled.magnitude, e.largest) > 0;
    if (!isZero(input.magnitude)) nonzero++;
    if (lost) underflow.push(q);
    if (clipped) saturated.push(q);
    return [
      `${q}`,
      hex(e.words[q]!, e.input.digits),
      decimal(decode(e.input.format!, e.words[q]!)),
      decimal(finite(scaled.magnitude, scaled.negative)),
      hex(code, 1),
      decimal(value),
      error(value, input),
      clipped ? 'saturated' : lost ? 'underflow' : '',
    ];
  });
  return [
    ...table([header, ...rows], [7]),
    '',
    `underflow: ${underflow.length} of ${nonzero} nonzero${underflow.length > 0 ? ` (elements ${ranges(underflow)})` : ''}`,
    `saturated: ${saturated.length} of ${e.codes.length}${saturated.length > 0 ? ` (elements ${ranges(saturated)})` : ''}`,
  ];
}
