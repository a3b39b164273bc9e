/**
 * The small pieces of the WebAssembly binary format. Standard: WebAssembly Core Specification 2.0, chapter 5.
 * @module
 */

/** Bytes to be flattened when a module is finished, so that nesting expressions copies nothing. */
export type Code = readonly (number | Code)[];

export type ValueType = 'i32' | 'i64' | 'f32' | 'v128';

export const VALUE_TYPES: Record<ValueType, number> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, v128: 0x7b };

/** An unsigned LEB128 number below 2^32. */
export function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return bytes;
}

/** A signed LEB128 number of at most 64 bits. */
export function signed(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    if (rest === (low & 0x40 ? -1n : 0n)) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

/** A vector: how many, then each. */
export const vector = (items: readonly Code[]): Code => [unsigned(items.length), items];

const ascii = (text: string): number[] => Array.from(text, (c) => c.charCodeAt(0));

/** A name of ASCII characters. */
export const name = (text: string): Code => vector(ascii(text).map((c) => [c]));

export function flatten(code: Code, out: number[] = []): number[] {
  for (const item of code) {
    if (typeof item === 'number') out.push(item);
    else flatten(item, out);
  }
  return out;
}

/** Something that says its length in bytes first. */
export function sized(code: Code): number[] {
  const bytes = flatten(code);
  return [...unsigned(bytes.length), ...bytes];
}
