/**
 * The WebAssembly codecs: a kernel for each policy, made at its first use and kept, and one to read each format.
 * Clauses: spec/hif4.md HIF4-20, spec/mxfp4.md MX-20.
 * @module
 */
import { UNIT } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { BLOCK } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import type { WasmFunction } from '../wasm/function.ts';
import type { BlockCodec, Scales } from './block-codec.ts';
import { hif4DequantizeTypeScript, hif4TypeScript } from './hif4-typescript.ts';
import { mxfp4DequantizeTypeScript, mxfp4TypeScript } from './mxfp4-typescript.ts';
import { perPolicy } from './policy-cache.ts';
import { dequantizer, type Kernel, type KernelFormat, kernel, kernelsRun, quantizer } from './wasm-codec.ts';
import type { ElementRules } from './wasm-elements.ts';
import { hif4Dequantize, hif4Quantize, hif4Rules, hif4Tables } from './wasm-hif4.ts';
import { hif4Steps } from './wasm-hif4-steps.ts';
import { mxfp4Dequantize, mxfp4Quantize, mxfp4Rules, mxfp4Tables } from './wasm-mxfp4.ts';
import { mxfp4Steps } from './wasm-mxfp4-steps.ts';

const HIF4: KernelFormat<Uint32Array> = {
  noun: 'unit',
  blockSize: UNIT,
  scales: (memory, at, count) => new Uint32Array(memory, at, count),
};

const MXFP4: KernelFormat<Uint8Array> = {
  noun: 'block',
  blockSize: BLOCK,
  scales: (memory, at, count) => new Uint8Array(memory, at, count),
};

type Quantize<S extends Scales> = BlockCodec<S>['quantize'];
type Dequantize<S extends Scales> = BlockCodec<S>['dequantize'];
/** What was made, or that it cannot be. */
type Made<T> = { readonly made: T | undefined };

/**
 * Under these rules every number but zero has a code of at least 1 in one sign, unless its product, rounded to BF16, underflows:
 * then scaling by 2^k may change a code, and the kernels do not apply.
 */
const underflowMatters = ({ products, ties }: HiF4Policy): boolean =>
  products === 'bf16' && ['ceil', 'floor', 'odd'].includes(ties);

/** Kernels by the rules they are generated for, some thirty a format; policies with the same rules differ in their tables. */
const kernelsOf = <S extends Scales>(
  format: KernelFormat<S>,
  made: (rules: ElementRules) => WasmFunction,
) => {
  const kept = new Map<string, Kernel<S> | undefined>();
  return (rules: ElementRules): Kernel<S> | undefined => {
    const key = JSON.stringify(rules);
    if (!kept.has(key)) kept.set(key, kernel(format, made(rules)));
    return kept.get(key);
  };
};

const hif4Kernel = kernelsOf(HIF4, hif4Quantize);
const mxfp4Kernel = kernelsOf(MXFP4, mxfp4Quantize);

const hif4Quantizer = perPolicy((policy: HiF4Policy): Made<Quantize<Uint32Array>> => {
  if (!kernelsRun() || underflowMatters(policy)) return { made: undefined };
  const steps = hif4Steps(policy);
  const chunk = hif4Kernel(hif4Rules(policy, steps));
  return { made: chunk && quantizer(chunk, hif4Tables(steps), () => hif4TypeScript(policy)) };
});

const mxfp4Quantizer = perPolicy((policy: Mxfp4Policy): Made<Quantize<Uint8Array>> => {
  if (!kernelsRun()) return { made: undefined };
  const steps = mxfp4Steps(policy);
  const chunk = mxfp4Kernel(mxfp4Rules(policy, steps));
  return { made: chunk && quantizer(chunk, mxfp4Tables(policy, steps), () => mxfp4TypeScript(policy)) };
});

let hif4Reader: Made<Dequantize<Uint32Array>> | undefined;
let mxfp4Reader: Made<Dequantize<Uint8Array>> | undefined;

const reader = <S extends Scales>(format: KernelFormat<S>, made: () => WasmFunction): Made<Dequantize<S>> => {
  const chunk = kernelsRun() ? kernel(format, made()) : undefined;
  return { made: chunk && dequantizer(chunk) };
};

/** HIF4-05 of a policy; undefined without SIMD, and under products=bf16 with ties=ceil, floor or odd. */
export const hif4QuantizeWebAssembly = (policy: HiF4Policy): Quantize<Uint32Array> | undefined =>
  hif4Quantizer(policy).made;

/** MX-04 of a policy; undefined without SIMD. */
export const mxfp4QuantizeWebAssembly = (policy: Mxfp4Policy): Quantize<Uint8Array> | undefined =>
  mxfp4Quantizer(policy).made;

/** HIF4-03; undefined without SIMD. */
export function hif4DequantizeWebAssembly(): Dequantize<Uint32Array> | undefined {
  hif4Reader ??= reader(HIF4, hif4Dequantize);
  return hif4Reader.made;
}

/** MX-02; undefined without SIMD. */
export function mxfp4DequantizeWebAssembly(): Dequantize<Uint8Array> | undefined {
  mxfp4Reader ??= reader(MXFP4, mxfp4Dequantize);
  return mxfp4Reader.made;
}

/** The HiF4 codec of a policy, with the TypeScript path for whatever has no kernel. */
export const hif4WebAssembly = (policy: HiF4Policy): BlockCodec<Uint32Array> => ({
  blockSize: UNIT,
  quantize: hif4QuantizeWebAssembly(policy) ?? hif4TypeScript(policy).quantize,
  dequantize: hif4DequantizeWebAssembly() ?? hif4DequantizeTypeScript,
});

/** The same for MXFP4. */
export const mxfp4WebAssembly = (policy: Mxfp4Policy): BlockCodec<Uint8Array> => ({
  blockSize: BLOCK,
  quantize: mxfp4QuantizeWebAssembly(policy) ?? mxfp4TypeScript(policy).quantize,
  dequantize: mxfp4DequantizeWebAssembly() ?? mxfp4DequantizeTypeScript,
});
