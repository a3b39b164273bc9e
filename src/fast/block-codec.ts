/**
 * What every implementation of a block format offers: whole blocks into and out of arrays that the caller owns, so that
 * streams and files quantize without allocating. One path is as good as another: tests hold all of them to the definition.
 * @module
 */
import { Fp4Error } from '../error.ts';

/** One scale a block: 32-bit words in HiF4, bytes in MXFP4. */
export type Scales = Uint32Array | Uint8Array;

/** A block format under one policy. Arrays must belong together: n blocks, n scales, n x blockSize / 2 code bytes. */
export interface BlockCodec<S extends Scales = Scales> {
  /** Elements of a block. */
  readonly blockSize: number;
  /**
   * @param words FP32 words of whole blocks, before input rounding; not changed
   * @param scales receives one scale a block
   * @param codes receives the codes two a byte, even element in the low nibble
   * @throws Fp4Error E_LENGTH, and E_NONFINITE where the policy refuses a NaN or an infinity; blocks before it are written
   */
  quantize(words: Uint32Array, scales: S, codes: Uint8Array): void;
  /**
   * @param words receives the FP32 words; a NaN scale gives 7fc00000, a value beyond FP32 an infinity
   * @throws Fp4Error E_LENGTH
   */
  dequantize(scales: S, codes: Uint8Array, words: Uint32Array): void;
}

/** Makes the codec of a policy. */
export type CodecOf<P, S extends Scales> = (policy: P) => BlockCodec<S>;

/** @throws Fp4Error E_LENGTH unless the three arrays are those of the same whole blocks */
export function expectLengths(
  name: 'unit' | 'block',
  blockSize: number,
  words: number,
  scales: number,
  codes: number,
): void {
  if (words % blockSize !== 0) {
    throw new Fp4Error('E_LENGTH', `${words} values are no whole number of ${name}s of ${blockSize}`);
  }
  if (scales !== words / blockSize) {
    throw new Fp4Error(
      'E_LENGTH',
      `${words} values are ${words / blockSize} ${name}s and need as many scales, not ${scales}`,
    );
  }
  if (codes !== words / 2) {
    throw new Fp4Error('E_LENGTH', `${scales} ${name}s need ${words / 2} code bytes, not ${codes}`);
  }
}
