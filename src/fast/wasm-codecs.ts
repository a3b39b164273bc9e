/**
 * The WebAssembly codecs of a policy, made at its first use and kept. Clauses: spec/hif4.md HIF4-20, spec/mxfp4.md MX-20.
 * @module
 */
import { UNIT } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { BLOCK } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import type { BlockCodec } from './block-codec.ts';
import { hif4Codec } from './hif4.ts';
import { mxfp4Codec } from './mxfp4.ts';
import { perPolicy } from './policy-cache.ts';
import { wasmCodec } from './wasm-codec.ts';
import { hif4Dequantize, hif4Quantize, hif4Rows } from './wasm-hif4.ts';
import { hif4Steps } from './wasm-hif4-steps.ts';
import { mxfp4Dequantize, mxfp4Quantize } from './wasm-mxfp4.ts';

/**
 * Under these rules every number but zero has a code of at least 1 in one sign, unless its product, rounded to BF16, underflows:
 * then scaling by 2^k may change a code, and the kernels do not apply.
 */
const underflowMatters = ({ products, ties }: HiF4Policy): boolean =>
  products === 'bf16' && ['ceil', 'floor', 'odd'].includes(ties);

/** The HiF4 codec of a policy; undefined where the engine has no SIMD, or for the policies above. */
export const hif4WasmCodec = perPolicy((policy: HiF4Policy): BlockCodec<Uint32Array> | undefined => {
  if (underflowMatters(policy)) return undefined;
  return wasmCodec(() => {
    const steps = hif4Steps(policy);
    return {
      noun: 'unit',
      blockSize: UNIT,
      functions: [hif4Quantize(policy, steps), hif4Dequantize()],
      tables: hif4Rows(steps),
      scales: (memory, at, count) => new Uint32Array(memory, at, count),
    };
  }, hif4Codec(policy));
});

/** The MXFP4 codec of a policy; undefined where the engine has no SIMD. */
export const mxfp4WasmCodec = perPolicy((policy: Mxfp4Policy): BlockCodec<Uint8Array> | undefined =>
  wasmCodec(
    () => ({
      noun: 'block',
      blockSize: BLOCK,
      functions: [mxfp4Quantize(policy), mxfp4Dequantize()],
      tables: new Int32Array(0),
      scales: (memory, at, count) => new Uint8Array(memory, at, count),
    }),
    mxfp4Codec(policy),
  ),
);
