/**
 * The definition's answer for a block that a quick loop leaves to it. Clauses: spec/conventions.md CON-05.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { f32Value } from '../format/scalar.ts';
import type { FloatValue } from '../number/binary-format.ts';

/** Where it stands: how a message calls a block, and how many elements it has. */
export interface BlockKind {
  readonly noun: 'unit' | 'block';
  readonly size: number;
}

/**
 * Encodes block `index` of FP32 words and writes its codes, two a byte.
 * @param encode the definition's encoder under a policy
 * @returns what `encode` gave
 * @throws Fp4Error E_NONFINITE, which names the block unless it is the only one
 */
export function encodeByDefinition<E extends { readonly codes: readonly number[] }>(
  x: Uint32Array,
  index: number,
  { noun, size }: BlockKind,
  encode: (values: readonly FloatValue[]) => E,
  codes: Uint8Array,
): E {
  const values = Array.from(x.subarray(index * size, (index + 1) * size), f32Value);
  try {
    const encoded = encode(values);
    for (let q = 0; q < size; q += 2) {
      codes[(index * size + q) >> 1] = encoded.codes[q]! | (encoded.codes[q + 1]! << 4);
    }
    return encoded;
  } catch (error) {
    if (!(error instanceof Fp4Error) || x.length === size) throw error;
    throw new Fp4Error(error.code, `${noun} ${index}: ${error.message}`);
  }
}
