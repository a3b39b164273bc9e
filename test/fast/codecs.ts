/** Every implementation of the two formats. A new path joins the proofs by an entry here. */
import type { CodecOf } from '../../src/fast/block-codec.ts';
import { hif4Codec } from '../../src/fast/hif4.ts';
import { mxfp4Codec } from '../../src/fast/mxfp4.ts';
import type { HiF4Policy } from '../../src/format/hif4-policy.ts';
import type { Mxfp4Policy } from '../../src/format/mxfp4-policy.ts';

export interface Path<P, S extends Uint32Array | Uint8Array> {
  readonly name: string;
  readonly codec: CodecOf<P, S>;
}

export const HIF4_PATHS: readonly Path<HiF4Policy, Uint32Array>[] = [
  { name: 'TypeScript', codec: hif4Codec },
];

export const MXFP4_PATHS: readonly Path<Mxfp4Policy, Uint8Array>[] = [
  { name: 'TypeScript', codec: mxfp4Codec },
];
