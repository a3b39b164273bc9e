/** The two formats with their encoders by arithmetic, a third implementation beside the definition and the paths. */
import { HIF4_PATHS, MXFP4_PATHS, type Path } from '../../src/fast/paths.ts';
import type { HiF4Policy } from '../../src/format/hif4-policy.ts';
import type { Mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { decodeUnitByArithmetic, encodeUnitByArithmetic } from '../independent/hif4-by-arithmetic.ts';
import { decodeBlockByArithmetic, encodeBlockByArithmetic } from '../independent/mxfp4-by-arithmetic.ts';

export interface Third<P, S extends Uint32Array | Uint8Array> {
  readonly size: 32 | 64;
  readonly paths: readonly Path<P, S>[];
  readonly scales: (count: number) => S;
  /** Encodes the block of words at `at`, one code a byte; gives its scale. */
  readonly encode: (x: Uint32Array, at: number, policy: P, codes: Uint8Array) => number;
  readonly decode: (scale: number, codes: Uint8Array, out: Float32Array) => void;
}

export const HIF4_THIRD: Third<HiF4Policy, Uint32Array> = {
  size: 64,
  paths: HIF4_PATHS,
  scales: (count) => new Uint32Array(count),
  encode: encodeUnitByArithmetic,
  decode: decodeUnitByArithmetic,
};

export const MXFP4_THIRD: Third<Mxfp4Policy, Uint8Array> = {
  size: 32,
  paths: MXFP4_PATHS,
  scales: (count) => new Uint8Array(count),
  encode: encodeBlockByArithmetic,
  decode: decodeBlockByArithmetic,
};
