/**
 * Codes to and from bytes, as the typed-array codecs have them. Clauses: spec/stream.md STR-04.
 * @module
 */
import type { Words } from './field.ts';

/** Codes two a byte, even element in the low nibble. */
export const pack = (codes: Words): Uint8Array =>
  Uint8Array.from({ length: codes.length / 2 }, (_, j) => codes[2 * j]! | (codes[2 * j + 1]! << 4));

/** Codes of whole blocks as bytes. */
export function packInto(codes: Uint32Array, bytes: Uint8Array): void {
  for (let j = 0; j < bytes.length; j++) bytes[j] = codes[2 * j]! | (codes[2 * j + 1]! << 4);
}

/** Bytes as codes. */
export function unpackInto(bytes: Uint8Array, codes: Uint32Array): void {
  for (let j = 0; j < bytes.length; j++) {
    codes[2 * j] = bytes[j]! & 15;
    codes[2 * j + 1] = bytes[j]! >> 4;
  }
}

export function unpack(bytes: Uint8Array): Uint8Array {
  const codes = new Uint8Array(2 * bytes.length);
  for (let j = 0; j < bytes.length; j++) {
    codes[2 * j] = bytes[j]! & 15;
    codes[2 * j + 1] = bytes[j]! >> 4;
  }
  return codes;
}
