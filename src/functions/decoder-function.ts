/**
 * A block decoder of the stream: scale and codes in, values out; the parameter `output` says in which format.
 * Clauses: spec/hif4.md HIF4-03, spec/mxfp4.md MX-02.
 * @module
 */
import type { BlockCodec } from '../fast/block-codec.ts';
import { encodeF32 } from '../fast/scalar.ts';
import { defaultPolicy, type Profile } from '../format/policy.ts';
import { type BinaryFormat, encode, type FloatValue } from '../number/binary-format.ts';
import { FP32 } from '../number/floats.ts';
import { scalesOf } from './encoder-function.ts';
import { type Field, floats, OUTPUT_FORMATS, type Words } from './field.ts';
import type { AnyPolicy, BoundaryCase, OracleFunction } from './oracle-function.ts';
import { pack, packInto } from './packing.ts';

/** What a decoder gives: FP32, or the exact value rounded once, half-even, to BF16 or FP16. */
const outputParameter = { output: Object.keys(OUTPUT_FORMATS) } as const;

export const outputFormat = (policy: AnyPolicy): BinaryFormat =>
  OUTPUT_FORMATS[policy['output'] as keyof typeof OUTPUT_FORMATS];

/** FP32 words, which hold every value exactly or as an infinity, as words of another format. */
const narrowed = (words: Uint32Array, format: BinaryFormat): Words =>
  format === FP32 ? words : Array.from(words, (w) => encodeF32(format, w, 'even', 'nonfinite'));

export interface BlockDecoder {
  readonly name: string;
  readonly summary: string;
  readonly clauses: readonly string[];
  readonly scale: Field;
  readonly codes: Field;
  /** Every encoder's bytes are decoded by the same rules, so a decoder takes any encoder's name. */
  readonly encoders: readonly Profile<AnyPolicy>[];
  /** The definition. */
  readonly values: (scale: number, codes: readonly number[]) => readonly FloatValue[];
  /** The fast path: FP32 words of one block from its scale and its packed codes. */
  readonly words: (scale: number, codes: Uint8Array) => Uint32Array;
  /** The same for many blocks. */
  readonly codec: () => BlockCodec<Uint32Array> | BlockCodec<Uint8Array>;
  readonly boundary: (level: 1 | 2) => Iterable<BoundaryCase>;
}

export const decoderFunction = ({
  name,
  summary,
  clauses,
  scale,
  codes,
  ...d
}: BlockDecoder): OracleFunction => ({
  name,
  summary,
  clauses,
  parameters: outputParameter,
  profiles: d.encoders.map((profile) => ({ ...profile, policy: defaultPolicy(outputParameter) })),
  inputs: [scale, codes],
  outputs: (policy) => [floats('y', codes.count, outputFormat(policy))],
  stages: () => [],
  define: ([s, c], policy) => {
    const values = d.values(s![0]!, Array.from(c!));
    return { outputs: [values.map((v) => encode(outputFormat(policy), v, 'even', 'nonfinite'))], stages: [] };
  },
  fast: ([s, c], policy) => [narrowed(d.words(s![0]!, pack(c!)), outputFormat(policy))],
  batch: (policy) => {
    const codec = d.codec() as BlockCodec;
    const format = outputFormat(policy);
    return ([scaleWords, codeWords], [y], count) => {
      const scales = scalesOf(scale, count);
      scales.set(scaleWords!);
      const bytes = new Uint8Array((count * codes.count) / 2);
      packInto(codeWords!, bytes);
      codec.dequantize(scales, bytes, y!);
      if (format === FP32) return;
      for (let j = 0; j < y!.length; j++) y![j] = encodeF32(format, y![j]!, 'even', 'nonfinite');
    };
  },
  boundary: d.boundary,
});
