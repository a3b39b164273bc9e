/**
 * The raw form of a case: the same fields as bytes, without separators. Words little-endian, in as many whole bytes as their
 * digits need; codes two a byte, low nibble first, an odd count ending with a zero nibble.
 * Clauses: spec/stream.md STR-04.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { type Field, largestElement, type Words } from './field.ts';

const bytesOf = (field: Field): number =>
  field.kind === 'codes' ? Math.ceil(field.count / 2) : field.count * Math.ceil(field.digits / 2);

/** Bytes of a record of these fields. */
export const recordLength = (fields: readonly Field[]): number =>
  fields.reduce((sum, f) => sum + bytesOf(f), 0);

/** STR-04. Fields as one record. */
export function formatRecord(fields: readonly Field[], values: readonly Words[]): Uint8Array {
  const record = new Uint8Array(recordLength(fields));
  let at = 0;
  for (const [k, field] of fields.entries()) {
    const words = values[k]!;
    if (field.kind === 'codes') {
      for (let j = 0; j < field.count; j++) record[at + (j >> 1)]! |= words[j]! << (4 * (j & 1));
      at += bytesOf(field);
      continue;
    }
    const width = Math.ceil(field.digits / 2);
    for (let j = 0; j < field.count; j++) {
      for (let b = 0; b < width; b++) record[at++] = words[j]! >>> (8 * b);
    }
  }
  return record;
}

/**
 * STR-04. The fields of one record.
 * @param at how messages name the record, such as `record 3`
 * @throws Fp4Error E_RECORD where bits are set that belong to no element
 */
export function parseRecord(record: Uint8Array, fields: readonly Field[], at: string): Words[] {
  let position = 0;
  return fields.map((field) => {
    const words = new Uint32Array(field.count);
    const bytes = record.subarray(position, position + bytesOf(field));
    position += bytes.length;
    if (field.kind === 'codes') {
      for (let j = 0; j < field.count; j++) words[j] = (bytes[j >> 1]! >> (4 * (j & 1))) & 15;
      if (field.count % 2 === 1 && bytes.at(-1)! > 15) {
        throw new Fp4Error('E_RECORD', `${at}: bits are set after the last of ${field.count} ${field.name}`);
      }
      return words;
    }
    const width = Math.ceil(field.digits / 2);
    for (let j = 0; j < field.count; j++) {
      let value = 0;
      for (let b = width - 1; b >= 0; b--) value = value * 256 + bytes[j * width + b]!;
      if (value > largestElement(field)) {
        const found = `0x${value.toString(16)}`;
        throw new Fp4Error(
          'E_RECORD',
          `${at}: ${field.name}[${j}] is ${found}; it has ${field.digits} hex digits`,
        );
      }
      words[j] = value;
    }
    return words;
  });
}
