/**
 * The WebAssembly engine of Node or of a browser: whether it has SIMD, and functions over a memory of their own.
 * Everything is synchronous. Chromium once refused to compile modules of 4 KiB or more so on a page's main thread (now
 * 8 MiB); where an engine refuses, the answer is undefined and the caller takes another path.
 * @module
 */
import { wasmFunction } from './function.ts';
import { i32x4 } from './instructions.ts';
import { assemble, MEMORY_IMPORT } from './module.ts';

/** What is used of the global `WebAssembly`, which no library of types declares for both Node and browsers. */
interface Engine {
  validate(bytes: Uint8Array): boolean;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (
    module: object,
    imports: Record<string, Record<string, unknown>>,
  ) => {
    readonly exports: Record<string, unknown>;
  };
  Memory: new (limits: { initial: number }) => { readonly buffer: ArrayBuffer };
}

const engine = (): Engine | undefined => (globalThis as { WebAssembly?: Engine }).WebAssembly;

/** Whether a module is valid here; false where there is no WebAssembly. */
export const isValid = (module: Uint8Array): boolean => engine()?.validate(module) ?? false;

const simdProbe = (): Uint8Array =>
  assemble([
    wasmFunction('probe', { x: 'i32' }, 'i32', (f, { x }) => f.return(i32x4.bitmask(i32x4.splat(x)))),
  ]);

let simd: boolean | undefined;

/** Whether the engine has 128-bit SIMD. */
export function hasSimd(): boolean {
  simd ??= isValid(simdProbe());
  return simd;
}

/** Functions of numbers, i64 as bigint, over the memory they share. */
export interface Instance {
  readonly functions: Readonly<Record<string, (...values: (number | bigint)[]) => unknown>>;
  /** Never grows, so that a view of it stays valid. */
  readonly memory: ArrayBuffer;
}

/** An instance with a memory of so many pages of 64 KiB; undefined where the engine refuses the module or the memory. */
export function instantiate(module: Uint8Array, pages: number): Instance | undefined {
  const wasm = engine();
  if (wasm === undefined) return undefined;
  try {
    const memory = new wasm.Memory({ initial: pages });
    const imports = { [MEMORY_IMPORT.module]: { [MEMORY_IMPORT.name]: memory } };
    const instance = new wasm.Instance(new wasm.Module(module), imports);
    return { functions: instance.exports as Instance['functions'], memory: memory.buffer };
  } catch {
    return undefined;
  }
}
