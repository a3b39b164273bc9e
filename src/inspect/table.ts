/**
 * Text for a person: aligned columns, numbers, hex.
 * @module
 */
import { decode, type FloatValue } from '../number/binary-format.ts';
import { FP32, toNumber } from '../number/floats.ts';

/** Rows as lines, every column as wide as its widest cell; cells are flush right unless the column says left. */
export function table(rows: readonly (readonly string[])[], left: readonly number[] = []): string[] {
  const widths = rows.reduce<number[]>(
    (w, row) => row.map((cell, k) => Math.max(w[k] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, k) => (left.includes(k) ? cell.padEnd(widths[k]!) : cell.padStart(widths[k]!)))
      .join('  ')
      .trimEnd(),
  );
}

export const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** Bits of a word, most significant first. */
export const binary = (value: number, digits: number): string => value.toString(2).padStart(digits, '0');

/** A value as a decimal number: the shortest that gives the same binary64; every value of both formats is one. */
export function decimal(value: FloatValue): string {
  if (value.kind === 'nan') return 'NaN';
  if (value.kind === 'infinite') return value.negative ? '-Infinity' : 'Infinity';
  const magnitude = toNumber(value.magnitude);
  return value.negative ? `-${magnitude}` : `${magnitude}`;
}

/** The number that an FP32 word stands for, as a decimal. */
export const decimalOfWord = (word: number): string => decimal(decode(FP32, word));

/** Element numbers as ranges: 0-2, 5. */
export function ranges(elements: readonly number[]): string {
  const parts: string[] = [];
  for (let j = 0; j < elements.length; ) {
    let end = j;
    while (elements[end + 1] === elements[end]! + 1) end++;
    parts.push(end === j ? `${elements[j]}` : `${elements[j]}-${elements[end]}`);
    j = end + 1;
  }
  return parts.join(', ');
}
