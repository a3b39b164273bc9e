/**
 * Quantized rows as an operand: codes and scales of whole blocks to integers under group scales.
 * Clauses: spec/gemm.md GEM-01.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { decoder, type PackedBlocks, scaleAt } from '../tensor/codec.ts';
import { blocksOf } from '../tensor/geometry.ts';
import { FINITE, NAN, type Operand } from './operand.ts';

/** E2M1 magnitudes in halves. */
const HALVES = [0, 1, 2, 3, 4, 6, 8, 12] as const;
const SCALE_NAN = 0xff;
const E6M2_BIAS = 48;
const E8M0_BIAS = 127;

/** How a format's block becomes integers: the exponent of a code's unit, and what its scale word does to each code. */
interface BlockForm {
  readonly significand: (scale: number) => number;
  readonly exponent: (scale: number) => number;
  /** Magnitude of the element at place k of the block. */
  readonly magnitude: (code: number, scale: number, k: number) => number;
}

const FORMS: Readonly<Record<string, BlockForm>> = {
  // HIF4-02. Two fraction bits of E6M2 and two of E1M2: the unit is 2^-4 below the scale's exponent.
  hif4: {
    significand: (word) => 4 + (word & 3),
    exponent: (word) => ((word & 0xff) >>> 2) - E6M2_BIAS - 4,
    magnitude: (code, word, k) =>
      code << (((word >>> (8 + (k >> 3))) & 1) + ((word >>> (16 + (k >> 2))) & 1)),
  },
  // MX-01. E2M1 counts in halves.
  mxfp4: {
    significand: () => 1,
    exponent: (byte) => byte - E8M0_BIAS - 1,
    magnitude: (code) => HALVES[code]!,
  },
};

/**
 * GEM-01. Rows of whole blocks as an operand. Elements at and after `depth` count as zeros whatever their codes are, so that
 * padding changes nothing; a NaN scale of a block that holds an element counts.
 * @param packed `rows` rows of ceil(depth / block) blocks each, linear
 * @param depth K, without padding
 * @throws Fp4Error E_USAGE for a format that does not exist, E_LENGTH
 */
export function blockOperand(format: string, packed: PackedBlocks, rows: number, depth: number): Operand {
  const d = decoder(format);
  const { significand, exponent, magnitude } = FORMS[d.format]!;
  const group = d.blockSize;
  const groups = blocksOf(depth, group);
  const blocks = rows * groups;
  if (packed.codes.length !== (blocks * group) / 2 || packed.scales.length !== blocks * d.scaleBytes) {
    const found = `${packed.codes.length} code bytes and ${packed.scales.length} scale bytes`;
    throw new Fp4Error('E_LENGTH', `${rows} rows of ${groups} ${format} blocks do not have ${found}`);
  }
  const integers = new Int8Array(blocks * group);
  const significands = new Uint8Array(blocks).fill(1);
  const exponents = new Int16Array(blocks);
  const marks = new Uint8Array(blocks).fill(FINITE);
  for (let h = 0; h < blocks; h++) {
    const scale = scaleAt(d, packed.scales, h);
    if ((scale & 0xff) === SCALE_NAN) {
      marks[h] = NAN;
      continue;
    }
    significands[h] = significand(scale);
    exponents[h] = exponent(scale);
    const count = Math.min(group, depth - (h % groups) * group);
    for (let k = 0; k < count; k++) {
      const at = h * group + k;
      const code = (packed.codes[at >> 1]! >>> (4 * (at & 1))) & 15;
      const m = magnitude(code & 7, scale, k);
      integers[at] = code & 8 ? -m : m;
    }
  }
  return { format, rows, depth, group, groups, integers, significands, exponents, marks };
}
