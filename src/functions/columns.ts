/**
 * Many cases at once, each field a column of a typed array, to and from the bytes of the stream. It does what line.ts and
 * record.ts do, for lines and records as programs write them; whatever looks different is left to those.
 * Clauses: spec/stream.md STR-01, STR-03, STR-04.
 * @module
 */
import type { Field } from './field.ts';

/** Elements of each field, case after case. */
export type Columns = readonly Uint32Array[];

/** Room for `count` cases. */
export const columnsFor = (fields: readonly Field[], count: number): Columns =>
  fields.map((field) => new Uint32Array(count * field.count));

/** The first `count` cases of columns. */
export const firstCases = (fields: readonly Field[], columns: Columns, count: number): Columns =>
  columns.map((column, k) => column.subarray(0, count * fields[k]!.count));

/** Case j of columns, as functions take one. */
export const caseOf = (fields: readonly Field[], columns: Columns, j: number): Uint32Array[] =>
  columns.map((column, k) => column.subarray(j * fields[k]!.count, (j + 1) * fields[k]!.count));

/** Whether every element fits in a column. */
export const fitColumns = (fields: readonly Field[]): boolean => fields.every(({ digits }) => digits <= 8);

/** Characters of a line of these fields, without its end. */
export const lineLength = (fields: readonly Field[]): number =>
  fields.reduce(
    (sum, { kind, count, digits }) => sum + 1 + (kind === 'codes' ? count : count * (digits + 1) - 1),
    -1,
  );

const SPACE = 0x20;
const NEWLINE = 0x0a;

/** The value of a hex digit's byte; anything else has bits above the lower four, which stay when values are combined. */
const NOT_A_DIGIT = 0x100;
const VALUE = new Uint16Array(256).fill(NOT_A_DIGIT);
const DIGIT = new Uint8Array(16);
for (let d = 0; d < 16; d++) {
  const digit = d.toString(16);
  DIGIT[d] = digit.charCodeAt(0);
  VALUE[digit.charCodeAt(0)] = d;
  VALUE[digit.toUpperCase().charCodeAt(0)] = d;
}
/** The two digits of a byte. */
const UPPER_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => DIGIT[byte >> 4]!);
const LOWER_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => DIGIT[byte & 15]!);

/**
 * Reads the fields of a line into case j of the columns.
 * @param at where the line begins; as many bytes as `lineLength` says must be there
 * @returns whether all was as it should be; if not, the case holds anything
 */
export function parseText(
  bytes: Uint8Array,
  at: number,
  fields: readonly Field[],
  columns: Columns,
  j: number,
) {
  let wrong = 0;
  let p = at;
  for (let k = 0; k < fields.length; k++) {
    const { kind, count, digits } = fields[k]!;
    const column = columns[k]!;
    const first = j * count;
    if (k > 0) wrong |= bytes[p++]! ^ SPACE;
    if (kind === 'codes') {
      for (let i = 0; i < count; i++) {
        const value = VALUE[bytes[p++]!]!;
        wrong |= value & NOT_A_DIGIT;
        column[first + i] = value;
      }
      continue;
    }
    for (let i = 0; i < count; i++) {
      if (i > 0) wrong |= bytes[p++]! ^ SPACE;
      let value = 0;
      for (let d = 0; d < digits; d++) {
        const digit = VALUE[bytes[p++]!]!;
        wrong |= digit & NOT_A_DIGIT;
        value = (value << 4) | digit;
      }
      column[first + i] = value;
    }
  }
  return wrong === 0;
}

/** STR-01. The first `count` cases as lines. */
export function formatText(fields: readonly Field[], columns: Columns, count: number): Uint8Array {
  const bytes = new Uint8Array(count * (lineLength(fields) + 1));
  let p = 0;
  for (let j = 0; j < count; j++) {
    for (let k = 0; k < fields.length; k++) {
      const { kind, count: elements, digits } = fields[k]!;
      const column = columns[k]!;
      const first = j * elements;
      if (k > 0) bytes[p++] = SPACE;
      for (let i = 0; i < elements; i++) {
        if (i > 0 && kind !== 'codes') bytes[p++] = SPACE;
        const value = column[first + i]!;
        if (digits & 1) bytes[p++] = DIGIT[(value >>> (4 * digits - 4)) & 15]!;
        for (let shift = 4 * (digits & ~1) - 8; shift >= 0; shift -= 8) {
          const byte = (value >>> shift) & 255;
          bytes[p++] = UPPER_DIGIT[byte]!;
          bytes[p++] = LOWER_DIGIT[byte]!;
        }
      }
    }
    bytes[p++] = NEWLINE;
  }
  return bytes;
}

/** Bytes of one element of words. */
const widthOf = ({ digits }: Field): number => Math.ceil(digits / 2);

/**
 * STR-04. Reads one record into case j of the columns.
 * @returns whether no bit was set that belongs to no element
 */
export function parseRaw(
  bytes: Uint8Array,
  at: number,
  fields: readonly Field[],
  columns: Columns,
  j: number,
) {
  let wrong = 0;
  let p = at;
  for (let k = 0; k < fields.length; k++) {
    const field = fields[k]!;
    const { kind, count, digits } = field;
    const column = columns[k]!;
    const first = j * count;
    if (kind === 'codes') {
      for (let i = 0; i < count; i++) column[first + i] = (bytes[p + (i >> 1)]! >> (4 * (i & 1))) & 15;
      p += (count + 1) >> 1;
      if (count & 1) wrong |= bytes[p - 1]! >> 4;
      continue;
    }
    const width = widthOf(field);
    for (let i = 0; i < count; i++) {
      let value = 0;
      for (let b = 0; b < width; b++) value |= bytes[p++]! << (8 * b);
      if (digits & 1) wrong |= bytes[p - 1]! >> 4;
      column[first + i] = value;
    }
  }
  return wrong === 0;
}

/** STR-04. The first `count` cases as records of `length` bytes. */
export function formatRaw(
  fields: readonly Field[],
  columns: Columns,
  count: number,
  length: number,
): Uint8Array {
  const bytes = new Uint8Array(count * length);
  let p = 0;
  for (let j = 0; j < count; j++) {
    for (let k = 0; k < fields.length; k++) {
      const field = fields[k]!;
      const { kind, count: elements } = field;
      const column = columns[k]!;
      const first = j * elements;
      if (kind === 'codes') {
        for (let i = 0; i < elements; i++) bytes[p + (i >> 1)]! |= column[first + i]! << (4 * (i & 1));
        p += (elements + 1) >> 1;
        continue;
      }
      const width = widthOf(field);
      for (let i = 0; i < elements; i++) {
        for (let b = 0; b < width; b++) bytes[p++] = column[first + i]! >>> (8 * b);
      }
    }
  }
  return bytes;
}
