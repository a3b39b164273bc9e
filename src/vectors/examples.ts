/**
 * Inputs with a history: the worked examples of the specification, its counter-examples, and the smallest inputs that showed a
 * fault in real code. They stand first in every file, with their stages. Clauses: spec/vectors.md VEC-08.
 * @module
 */
import { UNIT } from '../format/hif4.ts';
import { BLOCK } from '../format/mxfp4.ts';
import type { BoundaryCase } from '../functions/oracle-function.ts';

const words = (text: string): number[] =>
  text
    .trim()
    .split(/\s+/)
    .map((w) => Number.parseInt(w, 16));

/** A block of zeros but for the words given by position. */
const block = (length: number, places: Readonly<Record<number, number>>): number[] =>
  Array.from({ length }, (_, i) => places[i] ?? 0);

const example = (note: string, text: string): BoundaryCase => ({ inputs: [words(text)], note });
/** BF16 words. */
export const hif4Examples: readonly BoundaryCase[] = [
  example(
    'Worked examples 1 and 2 of the specification: every stage',
    `
      4144 c0c0 4060 3f00 3fe0 bf60 3e60 8000
      40e0 c050 3fc0 bdcd 4028 3e80 bd80 0000
      4040 c000 3f80 3f40 c0a0 3e9a 3e4d c060
      0000 8000 0000 0000 8000 0000 0000 8000
      c100 408c 3f28 becd 3f80 ba83 3e57 bfa6
      400d bf8d 3f1a 40bd 4060 bfa8 3ee0 3f66
      c138 4110 c120 3f4d 3ea9 bde1 3d60 3fd8
      40df c0e1 409d c083 4061 4006 bfe1 3e61
    `,
  ),
  example(
    'Worked example 3 of the specification: ties at every stage',
    `
      40e0 c0d0 40c0 3f00 3f80 3fc0 bfff 3e80
      4080 4000 bf80 4040 3fff 3e00 bec0 3f20
      407f 4000 bf80 4040 4000 3e80 bf40 3fa0
      3e00 be00 3ec0 bf20 3f60 bf90 3fb0 3fd0
      3ff0 bff0 3fef bdff 3dff 3e00 8000 0000
      4010 c030 4050 c070 3e80 be7f 3f40 3fe0
      4090 c0b0 40d0 4060 4010 bf40 3fe0 3dcd
      ba83 3a83 bdfe 3dfe 0000 8000 3d80 bd80
    `,
  ),
  {
    inputs: [block(UNIT, { 0: 0x3f00 })],
    note: 'What scale word 000000c0 with one code 2 decodes to: it comes back as another word, code and value',
  },
  {
    inputs: [block(UNIT, { 0: 0x4144, 16: 0x3e60 })],
    note: '0.21875 at scale 1.75: code 0 with the BF16 reciprocal, 1 with the exact one',
  },
  {
    inputs: [block(UNIT, { 0: 0x40fd })],
    note: '7.90625: the scale is 1 through BF16, 1.25 without (fault H1)',
  },
  {
    inputs: [block(UNIT, { 0: 0x40d2 })],
    note: '6.5625: the scale is 1 through BF16, 0.875 by an unrounded product (fault H1)',
  },
  {
    inputs: [block(UNIT, { 0: 0x40e0, 8: 0x3dff })],
    note: '0.498046875 quarters: floor(x + 1/2) in BF16 makes it 1 (fault H10)',
  },
  {
    inputs: [block(UNIT, { 0: 0x40e0, 8: 0x4080, 16: 0x4000, 20: 0x407f })],
    note: 'Products of exactly 4 and 2 (fault H6)',
  },
];

/** FP32 words. */
export const mxfp4Examples: readonly BoundaryCase[] = [
  example(
    'Worked examples 1 and 2 of the specification: ties, saturation by the floor rule',
    `
      40ffffff be800000 3e800000 bf400000 3f400000 3fa00000 bfa00000 3fe00000
      bfe00000 40200000 c0200000 40600000 c0600000 40a00000 c0a00000 3e7fffff
      3e800001 bf3fffff bf400001 409fffff 40a00001 40c00000 c0c00000 c0e00000
      3f000000 bf800000 3fc00000 40000000 c0400000 bdcccccd 00000000 80000000
    `,
  ),
  example(
    'Worked example 3 of the specification: below the smallest scale',
    `
      00600000 80600000 00500000 00400000 80380000 00300000 80280000 00200000
      00180000 80140000 00100000 80100001 000fffff 80000001 00000000 80000000
      00580000 805fffff 003fffff 802fffff 001c0000 80140001 0013ffff 80240000
      00240001 0023ffff 802bffff 00340000 80480000 00080000 800c0000 00000400
    `,
  ),
  { inputs: [block(BLOCK, { 0: 0x40ffffff })], note: '7.9999995: not 8 in BF16 (fault S1)' },
  { inputs: [block(BLOCK, { 0: 0x42c00001 })], note: '96.00001: a logarithm in FP32 loses it (fault S2)' },
  { inputs: [block(BLOCK, { 0: 0x402ccccd })], note: '2.7 (fault S3)' },
  { inputs: [block(BLOCK, { 0: 0x40b00000 })], note: '5.5 (fault S3)' },
  { inputs: [block(BLOCK, { 0: 0x3f99999a })], note: '1.2 (fault S3)' },
  { inputs: [block(BLOCK, { 0: 0x40e00000 })], note: '7: 1/6 rounded first (fault S4)' },
  { inputs: [block(BLOCK, { 0: 0x43160000 })], note: '150: the scale rules mixed up (fault S5)' },
  { inputs: [block(BLOCK, { 0: 0x358637bd })], note: '1e-6: a hidden lower bound (fault S6)' },
  { inputs: [block(BLOCK, { 0: 0x03aa2425 })], note: '1e-36: a quotient that overflows (fault S7)' },
  { inputs: [block(BLOCK, { 0: 0x40400000 })], note: '3: ties of E8M0 (fault S9)' },
  {
    inputs: [block(BLOCK, { 0: 0x7f7f0000 })],
    note: 'the largest BF16: decodes to an infinity under ceil and rceil (fault S10)',
  },
  { inputs: [block(BLOCK, { 0: 0x04370000 })], note: 'a small amax, flushed (fault S11)' },
  {
    inputs: [block(BLOCK, { 0: 0x40c00000, 1: 0x3e800001, 2: 0xbe800001 })],
    note: '0.25000003 at scale 1: the subnormal step (fault R2)',
  },
  { inputs: [block(BLOCK, { 0: 0x3f800000, 1: 0x7fc00000 })], note: 'A NaN that a maximum drops (fault S8)' },
  { inputs: [block(BLOCK, { 0: 0x7f800000 })], note: 'An infinity (fault S12)' },
  {
    inputs: [block(BLOCK, { 0: 0x3f000000 })],
    note: 'What scale 7f with one code 1 decodes to: it comes back as scale 7c, code 6',
  },
];

/** Scale words and codes. */
export const hif4DecodingExamples: readonly BoundaryCase[] = [
  {
    inputs: [[0x000000c0], block(UNIT, { 0: 2 })],
    note: 'Decodes to 0.5, which is encoded to another word and code',
  },
  { inputs: [[0x000101b1], block(UNIT, { 0: 6 })], note: 'What 0.5 is encoded to: 0.46875' },
];

/** Scale bytes and codes. */
export const mxfp4DecodingExamples: readonly BoundaryCase[] = [
  {
    inputs: [[0x7f], block(BLOCK, { 0: 1 })],
    note: 'Decodes to 0.5, which is encoded to scale 7c and code 6',
  },
  { inputs: [[0x7c], block(BLOCK, { 0: 6 })], note: 'What 0.5 is encoded to: 0.5' },
];
