/**
 * Many blocks of an input family, every path against the encoders by arithmetic of test/independent, which are themselves held
 * equal to the definition on 10^5 blocks a family (test/exhaustive/blocks.test.ts).
 * @module
 */
import { hif4Parameters } from '../../src/format/hif4-policy.ts';
import { mxfp4Parameters } from '../../src/format/mxfp4-policy.ts';
import { type Family, fillFamily } from '../../src/random/families.ts';
import { pairwise } from './policies.ts';
import { HIF4_THIRD, MXFP4_THIRD, type Third } from './third.ts';

/** Elements that are drawn together and share a policy. */
const DRAWN = 2048 * 64;
const SEED = 20260731n;
/** The least FP32 magnitude that BF16 rounds to an infinity. */
const BEYOND_BF16 = 0x7f7f8000;

/** Moves the blocks all of whose values stay finite to the front; the others go to the definition and are left out. */
function keepFinite(x: Uint32Array, size: number): Uint32Array {
  let kept = 0;
  for (let at = 0; at < x.length; at += size) {
    let largest = 0;
    for (let q = at; q < at + size; q++) largest = Math.max(largest, x[q]! & 0x7fffffff);
    if (largest < BEYOND_BF16) x.copyWithin(kept++ * size, at, at + size);
  }
  return x.subarray(0, kept * size);
}

/** Compares blocks under one policy: how many there were; throws at the first that differs. */
function comparer<P, S extends Uint32Array | Uint8Array>(third: Third<P, S>) {
  const { size } = third;
  const given = third.paths.map(({ name, codec }) => ({
    name,
    codec,
    scales: third.scales(DRAWN / size),
    bytes: new Uint8Array(DRAWN / 2),
    back: new Uint32Array(DRAWN),
  }));
  const codes = new Uint8Array(size);
  const values = new Float32Array(size);
  const valueWords = new Uint32Array(values.buffer);

  /** Whether block `index` of what a path gave is what the third implementation gave. */
  function same({ scales, bytes, back }: (typeof given)[number], index: number, scale: number): boolean {
    if (scale !== scales[index]) return false;
    const at = index * size;
    for (let q = 0; q < size; q += 2) {
      if (bytes[(at + q) >> 1] !== (codes[q]! | (codes[q + 1]! << 4))) return false;
    }
    for (let q = 0; q < size; q++) if (back[at + q] !== valueWords[q]) return false;
    return true;
  }

  return (x: Uint32Array, policy: P): number => {
    const count = x.length / size;
    for (const { codec, scales, bytes, back } of given) {
      const made = codec(policy);
      const some = scales.subarray(0, count) as S;
      made.quantize(x, some, bytes.subarray(0, x.length / 2));
      made.dequantize(some, bytes.subarray(0, x.length / 2), back.subarray(0, x.length));
    }
    for (let index = 0; index < count; index++) {
      const scale = third.encode(x, index * size, policy, codes);
      third.decode(scale, codes, values);
      for (const path of given) {
        if (same(path, index, scale)) continue;
        const input = Array.from(x.subarray(index * size, (index + 1) * size), (w) => w.toString(16));
        throw new Error(`${path.name} differs under ${JSON.stringify(policy)} on ${input.join(' ')}`);
      }
    }
    return count;
  };
}

/**
 * Draws at least `count` units, under one pair of parameter values after another, half of them BF16 words and half FP32 words;
 * and takes every second draw as blocks of MXFP4 too, which makes as many of them.
 * @returns how many of each stayed finite and were compared
 */
export function compareMany(family: Family, count: number): { units: number; blocks: number } {
  const unitPolicies = pairwise(hif4Parameters);
  const blockPolicies = pairwise(mxfp4Parameters);
  const compareUnits = comparer(HIF4_THIRD);
  const compareBlocks = comparer(MXFP4_THIRD);
  const drawn = new Uint32Array(DRAWN);
  const compared = { units: 0, blocks: 0 };
  for (let draw = 0; draw * DRAWN < count * 64; draw++) {
    const type = draw % 2 === 0 ? 'bf16' : 'f32';
    fillFamily({ family, seed: SEED, operand: 0, type, channels: 4096 }, draw * DRAWN, drawn);
    const x = type === 'bf16' ? drawn.map((word) => word << 16) : drawn;
    const policy = draw >> 1;
    if (draw % 4 < 2) {
      const blocks = keepFinite(x.slice(), 32);
      compared.blocks += compareBlocks(blocks, blockPolicies[(draw >> 2) % blockPolicies.length]!);
    }
    compared.units += compareUnits(keepFinite(x, 64), unitPolicies[policy % unitPolicies.length]!);
  }
  return compared;
}
