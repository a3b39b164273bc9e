/**
 * Many blocks of an input family, every path against the encoders by arithmetic of test/independent, which are themselves held
 * equal to the definition on 10^5 blocks a family (test/exhaustive/blocks.test.ts).
 * @module
 */

import type { Path } from '../../src/fast/paths.ts';
import { type Family, fillFamily } from '../../src/random/families.ts';

/** A format, and the third implementation of it. */
export interface Third<P, S extends Uint32Array | Uint8Array> {
  readonly size: 32 | 64;
  readonly paths: readonly Path<P, S>[];
  readonly scales: (count: number) => S;
  readonly encode: (x: Uint32Array, at: number, policy: P, codes: Uint8Array) => number;
  readonly decode: (scale: number, codes: Uint8Array, out: Float32Array) => void;
}

/** Blocks that share a policy, and are drawn and quantized together. */
const CHUNK = 2048;
const SEED = 20260731n;
/** The least FP32 magnitude that BF16 rounds to an infinity. */
const BEYOND_BF16 = 0x7f7f8000;

/** Fills x with blocks from the `first`th on whose every value stays finite; the others, which go to the definition, are left out. */
function finiteBlocks(family: Family, first: number, size: number, narrow: boolean, x: Uint32Array): number {
  const draw = { family, seed: SEED, operand: 0, type: narrow ? 'bf16' : 'f32', channels: 4096 } as const;
  fillFamily(draw, first * size, x);
  let kept = 0;
  for (let at = 0; at < x.length; at += size) {
    let largest = 0;
    for (let q = at; q < at + size; q++) {
      if (narrow) x[q] = x[q]! << 16;
      largest = Math.max(largest, x[q]! & 0x7fffffff);
    }
    if (largest < BEYOND_BF16) x.copyWithin(kept++ * size, at, at + size);
  }
  return kept;
}

/**
 * Compares `count` drawn blocks, chunk by chunk under one policy after another, half of them BF16 words and half FP32 words.
 * @returns how many were compared, or a message about the first difference
 */
export function compareMany<P, S extends Uint32Array | Uint8Array>(
  third: Third<P, S>,
  family: Family,
  policies: readonly P[],
  count: number,
): number | string {
  const { size } = third;
  const drawn = new Uint32Array(CHUNK * size);
  const scales = third.scales(CHUNK);
  const bytes = new Uint8Array((CHUNK * size) / 2);
  const back = new Uint32Array(CHUNK * size);
  const codes = new Uint8Array(size);
  const values = new Float32Array(size);
  const valueWords = new Uint32Array(values.buffer);
  let compared = 0;
  for (let chunk = 0; chunk * CHUNK < count; chunk++) {
    const policy = policies[(chunk >> 1) % policies.length]!;
    const kept = finiteBlocks(family, chunk * CHUNK, size, chunk % 2 === 0, drawn);
    const x = drawn.subarray(0, kept * size);
    const s = scales.subarray(0, kept) as S;
    const b = bytes.subarray(0, x.length / 2);
    for (const { name, codec } of third.paths) {
      const made = codec(policy);
      made.quantize(x, s, b);
      made.dequantize(s, b, back.subarray(0, x.length));
      for (let block = 0; block < kept; block++) {
        const at = block * size;
        let same = third.encode(x, at, policy, codes) === s[block];
        third.decode(s[block]!, codes, values);
        for (let q = 0; q < size; q += 2) {
          if (b[(at + q) >> 1] !== (codes[q]! | (codes[q + 1]! << 4))) same = false;
        }
        for (let q = 0; q < size; q++) if (back[at + q] !== valueWords[q]) same = false;
        if (!same) {
          const input = Array.from(x.subarray(at, at + size), (w) => w.toString(16)).join(' ');
          return `${name}, ${family}, chunk ${chunk}, block ${block}, ${JSON.stringify(policy)}\n${input}`;
        }
      }
      compared += kept;
    }
  }
  return compared;
}
