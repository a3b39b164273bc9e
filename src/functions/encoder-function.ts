/**
 * A block encoder of the stream: values in, scale and codes out, with stages.
 * Clauses: spec/hif4.md HIF4-05, spec/mxfp4.md MX-04.
 * @module
 */
import type { BlockCodec, Scales } from '../fast/block-codec.ts';
import type { ParameterTable, Profile } from '../format/policy.ts';
import { type BinaryFormat, codeBits, decode, type FloatValue } from '../number/binary-format.ts';
import { type Field, floats } from './field.ts';
import type { AnyPolicy, BoundaryCase, Evaluation, OracleFunction } from './oracle-function.ts';
import { unpack, unpackInto } from './packing.ts';

export interface BlockEncoder<P> {
  readonly name: string;
  readonly summary: string;
  readonly clauses: readonly string[];
  /** BF16 or FP32. */
  readonly from: BinaryFormat;
  readonly parameters: ParameterTable;
  readonly profiles: readonly Profile<AnyPolicy>[];
  readonly scale: Field;
  readonly codes: Field;
  readonly stages: (policy: P) => readonly Field[];
  /** The definition. */
  readonly define: (values: readonly FloatValue[], policy: P) => Evaluation;
  /** The fast path, on FP32 words of one block. */
  readonly quantize: (words: Uint32Array, policy: P) => { scales: ArrayLike<number>; codes: Uint8Array };
  /** The same for many blocks. */
  readonly codec: (policy: P) => BlockCodec<Uint32Array> | BlockCodec<Uint8Array>;
  readonly boundary: (level: 1 | 2) => Iterable<BoundaryCase>;
}

/** Room for the scales of blocks, of the type a codec has them in. */
export const scalesOf = (scale: Field, count: number): Scales =>
  scale.digits === 8 ? new Uint32Array(count) : new Uint8Array(count);

/** P is the policy of the encoder's own parameter table; every policy that reaches it was resolved with that table. */
export function encoderFunction<P>({ from, scale, codes, ...e }: BlockEncoder<P>): OracleFunction {
  const shift = 32 - codeBits(from);
  return {
    name: e.name,
    summary: e.summary,
    clauses: e.clauses,
    parameters: e.parameters,
    profiles: e.profiles,
    inputs: [floats('x', codes.count, from)],
    outputs: () => [scale, codes],
    stages: (policy) => e.stages(policy as P),
    define: ([x], policy) =>
      e.define(
        Array.from(x!, (w) => decode(from, w)),
        policy as P,
      ),
    fast: ([x], policy) => {
      const quantized = e.quantize(
        Uint32Array.from(x!, (w) => w << shift),
        policy as P,
      );
      return [quantized.scales, unpack(quantized.codes)];
    },
    batch: (policy) => {
      const codec = e.codec(policy as P) as BlockCodec;
      return ([x], [scaleWords, codeWords], count) => {
        const words = shift === 0 ? x! : x!.map((w) => w << shift);
        const scales = scalesOf(scale, count);
        const bytes = new Uint8Array((count * codes.count) / 2);
        codec.quantize(words, scales, bytes);
        scaleWords!.set(scales);
        unpackInto(bytes, codeWords!);
      };
    },
    boundary: e.boundary,
  };
}
