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
  Memory: new (limits: { initial: number }) => WasmMemory;
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
  readonly memory: ArrayBuffer;
}

/** A linear memory; it is never grown, so that views of its buffer stay valid. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** A memory of so many pages of 64 KiB; undefined where the engine has none to give. */
export function newMemory(pages: number): WasmMemory | undefined {
  const wasm = engine();
  try {
    return wasm && new wasm.Memory({ initial: pages });
  } catch {
    return undefined;
  }
}

/**
 * An instance over a memory, or over a new one of so many pages; undefined where the engine refuses the module or the memory.
 * Engines reserve gigabytes of addresses for each memory, so that what never runs at the same time had better share one.
 */
export function instantiate(module: Uint8Array, memoryOrPages: WasmMemory | number): Instance | undefined {
  const wasm = engine();
  const memory = typeof memoryOrPages === 'number' ? newMemory(memoryOrPages) : memoryOrPages;
  if (wasm === undefined || memory === undefined) return undefined;
  try {
    const imports = { [MEMORY_IMPORT.module]: { [MEMORY_IMPORT.name]: memory } };
    const instance = new wasm.Instance(new wasm.Module(module), imports);
    return { functions: instance.exports as Instance['functions'], memory: memory.buffer };
  } catch {
    return undefined;
  }
}
