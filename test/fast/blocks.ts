/** Whole units and blocks, fast path against definition, for one policy. */
import { dequantizeUnits, quantizeUnits } from '../../src/fast/hif4.ts';
import { dequantizeBlocks, quantizeBlocks } from '../../src/fast/mxfp4.ts';
import { decodeUnit, encodeUnit } from '../../src/format/hif4.ts';
import type { HiF4Policy } from '../../src/format/hif4-policy.ts';
import { decodeBlock, encodeBlock } from '../../src/format/mxfp4.ts';
import type { Mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { f32Value } from '../../src/format/scalar.ts';
import { encode, type FloatValue } from '../../src/number/binary-format.ts';
import { FP32 } from '../../src/number/floats.ts';

const nibbles = (bytes: Uint8Array): number[] => [...bytes].flatMap((b) => [b & 15, b >> 4]);
const words = (values: readonly FloatValue[]): number[] =>
  values.map((v) => encode(FP32, v, 'even', 'nonfinite'));

/** What both paths give for one unit of FP32 words, encoded and decoded again. */
export function bothHiF4(x: Uint32Array, policy: HiF4Policy) {
  const defined = encodeUnit(Array.from(x, f32Value), policy);
  const fast = quantizeUnits(x, policy);
  return {
    defined: [defined.word, ...defined.codes, ...words(decodeUnit(defined.word, defined.codes))],
    fast: [...fast.scales, ...nibbles(fast.codes), ...dequantizeUnits(fast.scales, fast.codes)],
  };
}

export function bothMxfp4(x: Uint32Array, policy: Mxfp4Policy) {
  const defined = encodeBlock(Array.from(x, f32Value), policy);
  const fast = quantizeBlocks(x, policy);
  return {
    defined: [defined.scale, ...defined.codes, ...words(decodeBlock(defined.scale, defined.codes))],
    fast: [...fast.scales, ...nibbles(fast.codes), ...dequantizeBlocks(fast.scales, fast.codes)],
  };
}
