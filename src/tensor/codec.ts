/**
 * The block formats a tensor can be quantized to, each as a record of sizes and functions on whole blocks.
 * Scales are bytes here, as a file holds them. Clauses: spec/tensors.md TEN-06, TEN-07.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import { hif4Codec } from '../fast/hif4.ts';
import { LITTLE_ENDIAN, littleEndianBytes } from '../fast/input-words.ts';
import { mxfp4Codec } from '../fast/mxfp4.ts';
import { UNIT } from '../format/hif4.ts';
import { hif4Policy, hif4Profiles } from '../format/hif4-policy.ts';
import { BLOCK } from '../format/mxfp4.ts';
import { mxfp4Policy, mxfp4Profiles } from '../format/mxfp4-policy.ts';
import type { NonfiniteRule } from '../format/nonfinite.ts';
import { hif4Saturation, mxfp4Saturation, type SaturationCount } from './saturation.ts';

/** Packed blocks: codes two a byte, the even element low; scales little-endian. */
export interface PackedBlocks {
  readonly codes: Uint8Array;
  readonly scales: Uint8Array;
}

/** What reading needs: it depends on the format alone. */
export interface Decoder {
  readonly format: FormatName;
  /** Elements of a block. */
  readonly blockSize: number;
  readonly scaleType: 'U8' | 'U32';
  readonly scaleBytes: number;
  /** FP32 words, `blockSize` a block. */
  readonly decode: (packed: PackedBlocks) => Uint32Array;
}

/** What writing needs: a format under one policy. */
export interface Codec extends Decoder {
  readonly profile: string;
  /** Every parameter in force. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly input: 'bf16' | 'f32';
  readonly nonfinite: NonfiniteRule;
  /** @param words FP32 words of whole blocks, after input rounding */
  readonly encode: (words: Uint32Array) => PackedBlocks;
  /** TEN-15. */
  readonly saturated: SaturationCount;
}

export const FORMATS = ['hif4', 'mxfp4'] as const;
export type FormatName = (typeof FORMATS)[number];

/** The words of bytes as a file holds them, copied, since bytes may lie anywhere. */
function bytesToWords(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(bytes.length / 4);
  if (LITTLE_ENDIAN) {
    new Uint8Array(words.buffer).set(bytes);
    return words;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < words.length; i++) words[i] = view.getUint32(4 * i, true);
  return words;
}

/** The scale of block `index`, as a number. */
export function scaleAt({ scaleBytes }: Decoder, scales: Uint8Array, index: number): number {
  let scale = 0;
  for (let b = scaleBytes - 1; b >= 0; b--) scale = (scale << 8) | scales[index * scaleBytes + b]!;
  return scale >>> 0;
}

const hif4: Decoder = {
  format: 'hif4',
  blockSize: UNIT,
  scaleType: 'U32',
  scaleBytes: 4,
  decode: ({ codes, scales }) => {
    const words = new Uint32Array(2 * codes.length);
    hif4Codec(hif4Policy()).dequantize(bytesToWords(scales), codes, words);
    return words;
  },
};

const mxfp4: Decoder = {
  format: 'mxfp4',
  blockSize: BLOCK,
  scaleType: 'U8',
  scaleBytes: 1,
  decode: ({ codes, scales }) => {
    const words = new Uint32Array(2 * codes.length);
    mxfp4Codec(mxfp4Policy()).dequantize(scales, codes, words);
    return words;
  },
};

type Overrides = Readonly<Record<string, string>>;

const CODECS: Record<FormatName, (profile: string | undefined, overrides: Overrides) => Codec> = {
  hif4: (profile, overrides) => {
    const policy = hif4Policy(profile, overrides);
    const blocks = hif4Codec(policy);
    return {
      ...hif4,
      profile: profile ?? hif4Profiles[0]!.name,
      parameters: policy,
      input: policy.input,
      nonfinite: policy.nonfinite,
      encode: (words) => {
        const scales = new Uint32Array(words.length / UNIT);
        const codes = new Uint8Array(words.length / 2);
        blocks.quantize(words, scales, codes);
        return { codes, scales: littleEndianBytes(scales) };
      },
      saturated: hif4Saturation(policy),
    };
  },
  mxfp4: (profile, overrides) => {
    const policy = mxfp4Policy(profile, overrides);
    const blocks = mxfp4Codec(policy);
    return {
      ...mxfp4,
      profile: profile ?? mxfp4Profiles[0]!.name,
      parameters: policy,
      input: policy.input,
      nonfinite: policy.nonfinite,
      encode: (words) => {
        const scales = new Uint8Array(words.length / BLOCK);
        const codes = new Uint8Array(words.length / 2);
        blocks.quantize(words, scales, codes);
        return { codes, scales };
      },
      saturated: mxfp4Saturation(policy),
    };
  },
};

const isFormat = (name: string): name is FormatName => (FORMATS as readonly string[]).includes(name);

function checkedFormat(name: string): FormatName {
  if (isFormat(name)) return name;
  throw new Fp4Error('E_USAGE', `unknown format "${name}"; ${knownNames(name, FORMATS)}`);
}

/**
 * The encoder and decoder of a format under a profile with single parameters overridden.
 * @throws Fp4Error E_USAGE, E_PROFILE, E_PARAMETER for names that do not exist
 */
export const codec = (format: string, profile?: string, overrides: Overrides = {}): Codec =>
  CODECS[checkedFormat(format)](profile, overrides);

/** The decoder of a format; no profile is needed to read. */
export const decoder = (format: string): Decoder => ({ hif4, mxfp4 })[checkedFormat(format)];
