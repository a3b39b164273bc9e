/**
 * Every implementation of the two formats beside the definition. A path joins the proofs and the bench by its entry here.
 * @module
 */
import type { HiF4Policy } from '../format/hif4-policy.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import type { CodecOf, Scales } from './block-codec.ts';
import { hif4Codec } from './hif4.ts';
import { mxfp4Codec } from './mxfp4.ts';

export interface Path<P, S extends Scales> {
  readonly name: string;
  readonly codec: CodecOf<P, S>;
}

export const HIF4_PATHS: readonly Path<HiF4Policy, Uint32Array>[] = [
  { name: 'TypeScript', codec: hif4Codec },
];

export const MXFP4_PATHS: readonly Path<Mxfp4Policy, Uint8Array>[] = [
  { name: 'TypeScript', codec: mxfp4Codec },
];
