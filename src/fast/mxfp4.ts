/**
 * MXFP4 on typed arrays: integers and small tables, proven equal to src/format/mxfp4.ts. A block with a NaN or an infinity goes to
 * the definition. Clauses: spec/mxfp4.md.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { BLOCK, decodeElement, encodeBlock } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { f32Value } from '../format/scalar.ts';
import { type BlockCodec, expectLengths } from './block-codec.ts';
import { encodeBlock as encodeFast, LEFT_TO_DEFINITION, mxfp4Tables } from './mxfp4-quantize.ts';
import { perPolicy } from './policy-cache.ts';
import { rowStart, throughPairs, type ValueRows, valueRows } from './value-rows.ts';

/** CON-05. The definition's answer for one block. */
function encodeByDefinition(x: Uint32Array, block: number, policy: Mxfp4Policy, codes: Uint8Array): number {
  const values = Array.from(x.subarray(block * BLOCK, (block + 1) * BLOCK), f32Value);
  try {
    const encoded = encodeBlock(values, policy);
    for (let i = 0; i < BLOCK; i += 2) {
      codes[(block * BLOCK + i) >> 1] = encoded.codes[i]! | (encoded.codes[i + 1]! << 4);
    }
    return encoded.scale;
  } catch (error) {
    if (!(error instanceof Fp4Error) || x.length === BLOCK) throw error;
    throw new Fp4Error(error.code, `block ${block}: ${error.message}`);
  }
}

const SCALES = 256;
/** MX-02. A row for each scale byte. */
let rows: ValueRows | undefined;

function decodeBlocks(scales: Uint8Array, codes: Uint8Array, table: ValueRows, out: Float64Array): void {
  const { pairs } = table;
  for (let block = 0; block < scales.length; block++) {
    const row = rowStart(table, scales[block]!);
    const end = (block + 1) * (BLOCK / 2);
    for (let at = block * (BLOCK / 2); at < end; at += 2) {
      out[at] = pairs[row + codes[at]!]!;
      out[at + 1] = pairs[row + codes[at + 1]!]!;
    }
  }
}

/** MX-02. The values of whole blocks; no policy is needed to read. Lengths are the caller's to check. */
function decodeInto(scales: Uint8Array, codes: Uint8Array, words: Uint32Array): void {
  rows ??= valueRows(SCALES, decodeElement);
  const table = rows;
  throughPairs(words, (out) => decodeBlocks(scales, codes, table, out));
}

function makeCodec(policy: Mxfp4Policy): BlockCodec<Uint8Array> {
  const tables = mxfp4Tables(policy);
  return {
    blockSize: BLOCK,
    quantize(words, scales, codes) {
      expectLengths('block', BLOCK, words.length, scales.length, codes.length);
      for (let block = 0; block < scales.length; block++) {
        const scale = encodeFast(words, block * BLOCK, tables, codes);
        scales[block] =
          scale === LEFT_TO_DEFINITION ? encodeByDefinition(words, block, policy, codes) : scale;
      }
    },
    dequantize(scales, codes, words) {
      expectLengths('block', BLOCK, words.length, scales.length, codes.length);
      decodeInto(scales, codes, words);
    },
  };
}

/** The codec of a policy, its tables made at first use. */
export const mxfp4Codec = perPolicy(makeCodec);

/**
 * Quantizes whole blocks.
 * @param x FP32 words, 32 a block, before input rounding
 * @returns one E8M0 scale a block, and the codes two a byte, even element in the low nibble
 * @throws Fp4Error E_LENGTH when x is not whole blocks, E_NONFINITE under nonfinite=error
 */
export function quantizeBlocks(
  x: Uint32Array,
  policy: Mxfp4Policy,
): { scales: Uint8Array; codes: Uint8Array } {
  const scales = new Uint8Array(Math.floor(x.length / BLOCK));
  const codes = new Uint8Array(scales.length * (BLOCK / 2));
  mxfp4Codec(policy).quantize(x, scales, codes);
  return { scales, codes };
}

/**
 * MX-02. The values of whole blocks.
 * @param scales one E8M0 byte a block
 * @param codes two a byte, even element in the low nibble, 16 bytes a block
 * @returns FP32 words, 32 a block; a value beyond FP32 is an infinity of its sign
 * @throws Fp4Error E_LENGTH when the two do not belong together
 */
export function dequantizeBlocks(scales: Uint8Array, codes: Uint8Array): Uint32Array {
  expectLengths('block', BLOCK, scales.length * BLOCK, scales.length, codes.length);
  const words = new Uint32Array(scales.length * BLOCK);
  decodeInto(scales, codes, words);
  return words;
}
