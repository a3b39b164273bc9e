/**
 * fp4-oracle: HiF4 and MXFP4, from values to bytes and back, bit for bit.
 * The same in Node and in a browser; no dependency. Contract: README.md, spec/.
 * @module
 */

import { expectArray, expectName, expectOptions } from './arguments.ts';
import { Fp4Error } from './error.ts';
import { valuesOf, wordsOf } from './fast/f32.ts';
import { dequantizeUnits, quantizeUnits } from './fast/hif4.ts';
import { dequantizeBlocks, quantizeBlocks } from './fast/mxfp4.ts';
import { decodeUnit, encodeUnit } from './format/hif4.ts';
import { type HiF4Policy, hif4Parameters, hif4Policy, hif4Profiles } from './format/hif4-policy.ts';
import { decodeBlock, encodeBlock } from './format/mxfp4.ts';
import { type Mxfp4Policy, mxfp4Parameters, mxfp4Policy, mxfp4Profiles } from './format/mxfp4-policy.ts';

export { Fp4Error, type Fp4ErrorCode } from './error.ts';
export type { HiF4Policy, HiF4Profile } from './format/hif4-policy.ts';
export type { Mxfp4Policy, Mxfp4Profile } from './format/mxfp4-policy.ts';

/** Which encoder: a profile by name (the default one if absent), and single parameters that differ from it. */
export interface EncoderOptions<P> {
  readonly profile?: string;
  readonly parameters?: Partial<P>;
}

/** Quantized units or blocks: the scales, and the codes two a byte with the even element in the low nibble. */
export interface Quantized<S, P> {
  readonly scales: S;
  readonly codes: Uint8Array;
  /** Every parameter in force. */
  readonly parameters: P;
}

const QUANTIZED = ['scales', 'codes', 'parameters'];

/** The profile and the overrides that options name. */
function encoder(options: unknown): [string | undefined, Record<string, string>] {
  const { profile, parameters = {} } = expectOptions(options, ['profile', 'parameters'], 'options');
  if (typeof parameters !== 'object' || parameters === null) {
    throw new Fp4Error('E_ARGUMENT', `options.parameters is ${parameters}; expected an object`);
  }
  return [expectName(profile, 'options.profile'), parameters as Record<string, string>];
}

/** HiF4: units of 64 values, a 32-bit scale word each (spec/hif4.md). */
export const hif4 = {
  /**
   * @param values whole units, 64 values each
   * @throws Fp4Error E_ARGUMENT, E_LENGTH, E_PROFILE, E_PARAMETER, E_NONFINITE
   */
  quantize(
    values: Float32Array,
    options: EncoderOptions<HiF4Policy> = {},
  ): Quantized<Uint32Array, HiF4Policy> {
    const x = expectArray(values, 'Float32Array', 'values');
    const parameters = hif4Policy(...encoder(options));
    return { ...quantizeUnits(wordsOf(x), parameters), parameters };
  },
  /**
   * @returns 64 values a unit; a NaN scale gives NaN
   * @throws Fp4Error E_ARGUMENT, E_LENGTH
   */
  dequantize(quantized: { readonly scales: Uint32Array; readonly codes: Uint8Array }): Float32Array {
    const { scales, codes } = expectOptions(quantized, QUANTIZED, 'quantized');
    return valuesOf(
      dequantizeUnits(
        expectArray(scales, 'Uint32Array', 'scales'),
        expectArray(codes, 'Uint8Array', 'codes'),
      ),
    );
  },
  /** The definition, on exact numbers: one unit with every intermediate. */
  encodeUnit,
  decodeUnit,
  policy: hif4Policy,
  profiles: hif4Profiles,
  parameters: hif4Parameters,
} as const;

/** MXFP4: blocks of 32 values, an E8M0 scale each (spec/mxfp4.md). */
export const mxfp4 = {
  /**
   * @param values whole blocks, 32 values each
   * @throws Fp4Error E_ARGUMENT, E_LENGTH, E_PROFILE, E_PARAMETER, E_NONFINITE
   */
  quantize(
    values: Float32Array,
    options: EncoderOptions<Mxfp4Policy> = {},
  ): Quantized<Uint8Array, Mxfp4Policy> {
    const x = expectArray(values, 'Float32Array', 'values');
    const parameters = mxfp4Policy(...encoder(options));
    return { ...quantizeBlocks(wordsOf(x), parameters), parameters };
  },
  /**
   * @returns 32 values a block; a NaN scale gives NaN, a value beyond FP32 an infinity
   * @throws Fp4Error E_ARGUMENT, E_LENGTH
   */
  dequantize(quantized: { readonly scales: Uint8Array; readonly codes: Uint8Array }): Float32Array {
    const { scales, codes } = expectOptions(quantized, QUANTIZED, 'quantized');
    return valuesOf(
      dequantizeBlocks(
        expectArray(scales, 'Uint8Array', 'scales'),
        expectArray(codes, 'Uint8Array', 'codes'),
      ),
    );
  },
  /** The definition, on exact numbers: one block with every intermediate. */
  encodeBlock,
  decodeBlock,
  policy: mxfp4Policy,
  profiles: mxfp4Profiles,
  parameters: mxfp4Parameters,
} as const;
