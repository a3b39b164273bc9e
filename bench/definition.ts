/** The definitions behind the interface of the paths, so that they are timed doing the same work. */
import type { BlockCodec } from '../src/fast/block-codec.ts';
import { decodeUnit, encodeUnit, UNIT } from '../src/format/hif4.ts';
import type { HiF4Policy } from '../src/format/hif4-policy.ts';
import { BLOCK, decodeBlock, encodeBlock } from '../src/format/mxfp4.ts';
import type { Mxfp4Policy } from '../src/format/mxfp4-policy.ts';
import { f32Value } from '../src/format/scalar.ts';
import { encode, type FloatValue } from '../src/number/binary-format.ts';
import { FP32 } from '../src/number/floats.ts';

type Encoded = readonly [scale: number, codes: readonly number[]];

function codecOf<S extends Uint32Array | Uint8Array>(
  blockSize: number,
  define: (values: readonly FloatValue[]) => Encoded,
  decode: (scale: number, codes: readonly number[]) => readonly FloatValue[],
): BlockCodec<S> {
  return {
    blockSize,
    quantize(words, scales, codes) {
      for (let at = 0; at < words.length; at += blockSize) {
        const [scale, encoded] = define(Array.from(words.subarray(at, at + blockSize), f32Value));
        scales[at / blockSize] = scale;
        for (let i = 0; i < blockSize; i += 2) codes[(at + i) / 2] = encoded[i]! | (encoded[i + 1]! << 4);
      }
    },
    dequantize(scales, codes, words) {
      for (let at = 0; at < words.length; at += blockSize) {
        const bytes = [...codes.subarray(at / 2, (at + blockSize) / 2)];
        const values = decode(
          scales[at / blockSize]!,
          bytes.flatMap((b) => [b & 15, b >> 4]),
        );
        for (const [i, value] of values.entries()) words[at + i] = encode(FP32, value, 'even', 'nonfinite');
      }
    },
  };
}

export const hif4Definition = (policy: HiF4Policy): BlockCodec<Uint32Array> =>
  codecOf(
    UNIT,
    (values) => {
      const { word, codes } = encodeUnit(values, policy);
      return [word, codes];
    },
    decodeUnit,
  );

export const mxfp4Definition = (policy: Mxfp4Policy): BlockCodec<Uint8Array> =>
  codecOf(
    BLOCK,
    (values) => {
      const { scale, codes } = encodeBlock(values, policy);
      return [scale, codes];
    },
    decodeBlock,
  );
