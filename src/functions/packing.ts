/**
 * What the block functions share around the codecs: codes to and from bytes, and the parameter `output` of the decoders.
 * Clauses: spec/stream.md STR-04.
 * @module
 */
import { encodeF32 } from '../fast/scalar.ts';
import { defaultPolicy, type Profile } from '../format/policy.ts';
import type { BinaryFormat } from '../number/binary-format.ts';
import { FP32 } from '../number/floats.ts';
import { OUTPUT_FORMATS, type Words } from './field.ts';
import type { AnyPolicy } from './oracle-function.ts';

/** What a decoder gives: FP32, or the exact value rounded once, half-even, to BF16 or FP16. */
export const outputParameter = { output: Object.keys(OUTPUT_FORMATS) } as const;

export const outputFormat = (policy: AnyPolicy): BinaryFormat =>
  OUTPUT_FORMATS[policy['output'] as keyof typeof OUTPUT_FORMATS];

/** Every encoder's bytes are decoded by the same rules, so a decoder takes any profile's name. */
export const decoderProfiles = (encoders: readonly Profile<AnyPolicy>[]): Profile<AnyPolicy>[] =>
  encoders.map((profile) => ({ ...profile, policy: defaultPolicy(outputParameter) }));

/** Codes two a byte, even element in the low nibble. */
export const pack = (codes: Words): Uint8Array =>
  Uint8Array.from({ length: codes.length / 2 }, (_, j) => codes[2 * j]! | (codes[2 * j + 1]! << 4));

export function unpack(bytes: Uint8Array): Uint8Array {
  const codes = new Uint8Array(2 * bytes.length);
  for (let j = 0; j < bytes.length; j++) {
    codes[2 * j] = bytes[j]! & 15;
    codes[2 * j + 1] = bytes[j]! >> 4;
  }
  return codes;
}

/** FP32 words as words of the format that is asked for. */
export const narrowed = (words: Uint32Array, format: BinaryFormat): Words =>
  format === FP32 ? words : Array.from(words, (w) => encodeF32(format, w, 'even', 'nonfinite'));
