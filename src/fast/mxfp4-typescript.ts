/**
 * MXFP4 on typed arrays: integers and small tables, proven equal to src/format/mxfp4.ts. A block with a NaN or an infinity goes to
 * the definition. Clauses: spec/mxfp4.md.
 * @module
 */
import { BLOCK, decodeElement, encodeBlock } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import type { FloatValue } from '../number/binary-format.ts';
import { type BlockCodec, expectLengths } from './block-codec.ts';
import { encodeByDefinition } from './by-definition.ts';
import { encodeBlock as encodeFast, LEFT_TO_DEFINITION, mxfp4Tables } from './mxfp4-quantize.ts';
import { perPolicy } from './policy-cache.ts';
import { rowStart, throughPairs, type ValueRows, valueRows } from './value-rows.ts';

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

/**
 * MX-02. The values of whole blocks; no policy is needed to read.
 * @throws Fp4Error E_LENGTH
 */
export function mxfp4DequantizeTypeScript(scales: Uint8Array, codes: Uint8Array, words: Uint32Array): void {
  expectLengths('block', BLOCK, words.length, scales.length, codes.length);
  rows ??= valueRows(SCALES, decodeElement);
  const table = rows;
  throughPairs(words, (out) => decodeBlocks(scales, codes, table, out));
}

function makeCodec(policy: Mxfp4Policy): BlockCodec<Uint8Array> {
  const kind = { noun: 'block', size: BLOCK } as const;
  const define = (values: readonly FloatValue[]) => encodeBlock(values, policy);
  const tables = mxfp4Tables(policy);
  return {
    blockSize: BLOCK,
    quantize(words, scales, codes) {
      expectLengths('block', BLOCK, words.length, scales.length, codes.length);
      for (let block = 0; block < scales.length; block++) {
        const scale = encodeFast(words, block * BLOCK, tables, codes);
        scales[block] =
          scale === LEFT_TO_DEFINITION ? encodeByDefinition(words, block, kind, define, codes).scale : scale;
      }
    },
    dequantize: mxfp4DequantizeTypeScript,
  };
}

/** The TypeScript codec of a policy, its tables made at first use. */
export const mxfp4TypeScript = perPolicy(makeCodec);
