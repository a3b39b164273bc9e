/** The two formats with their encoders by arithmetic. */

import { HIF4_PATHS, MXFP4_PATHS } from '../../src/fast/paths.ts';
import type { HiF4Policy } from '../../src/format/hif4-policy.ts';
import type { Mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { decodeUnitByArithmetic, encodeUnitByArithmetic } from '../independent/hif4-by-arithmetic.ts';
import { decodeBlockByArithmetic, encodeBlockByArithmetic } from '../independent/mxfp4-by-arithmetic.ts';
import type { Third } from './many-blocks.ts';

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
