/**
 * Intermediates that a whole block or its groups share, one stage a line, in hex and as numbers.
 * @module
 */
import type { Field, Words } from '../functions/field.ts';
import { decode } from '../number/binary-format.ts';
import { decimal, hex, table } from './table.ts';

export type ShownStage = readonly [field: Field, values: Words];

/** One a group; what is one an element is shown with the elements. */
const LARGEST_GROUPS = 16;

export function stageLines(stages: readonly ShownStage[]): string[] {
  const rows = stages
    .filter(([field]) => field.count <= LARGEST_GROUPS)
    .map(([field, values]) => {
      const words = Array.from(values, (v) => hex(v, field.digits)).join(' ');
      if (field.format === undefined) return [field.name, words];
      const numbers = Array.from(values, (v) => decimal(decode(field.format!, v))).join(' ');
      return [field.name, `${words} = ${numbers}`];
    });
  return table(rows, [0, 1]);
}
