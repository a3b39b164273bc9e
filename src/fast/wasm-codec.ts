/**
 * WebAssembly kernels behind the interface of all codecs: chunks are copied into linear memory, computed and copied out;
 * what a kernel leaves is done by the TypeScript path. Clauses: spec/conventions.md CON-05.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { hasSimd, instantiate, newMemory, type WasmMemory } from '../wasm/engine.ts';
import type { WasmFunction } from '../wasm/function.ts';
import { assemble } from '../wasm/module.ts';
import { type BlockCodec, expectLengths, type Scales } from './block-codec.ts';
import { CHUNK, CODES, LEFT, PAGES, SCALES, TABLES, WORDS } from './wasm-memory.ts';

/** What kernels have to know of a format. */
export interface KernelFormat<S extends Scales> {
  readonly noun: 'unit' | 'block';
  readonly blockSize: number;
  /** An array of the format's scales over a memory. */
  readonly scales: (memory: ArrayBuffer, at: number, count: number) => S;
}

// Linear memory is little-endian and typed arrays are the machine's.
const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** Whether kernels can run here at all. */
export const kernelsRun = (): boolean => LITTLE_ENDIAN && hasSimd();

// Calls are synchronous and do not nest, so that all kernels of a thread share one memory.
let shared: WasmMemory | undefined;

/** One function, and views of what is in its memory. */
export interface Kernel<S extends Scales> {
  readonly format: KernelFormat<S>;
  readonly run: (blocks: number) => number;
  /** Blocks of a chunk. */
  readonly blocks: number;
  readonly words: Uint32Array;
  readonly codes: Uint8Array;
  readonly scales: S;
  readonly left: Int32Array;
  readonly tables: Int32Array;
}

/** The only function of a module; undefined where the engine refuses it. */
export function kernel<S extends Scales>(format: KernelFormat<S>, made: WasmFunction): Kernel<S> | undefined {
  shared ??= newMemory(PAGES);
  const instance = shared && instantiate(assemble([made], PAGES), shared);
  if (instance === undefined) return undefined;
  const { functions, memory } = instance;
  const blocks = CHUNK / format.blockSize;
  return {
    format,
    run: functions[made.name] as (blocks: number) => number,
    blocks,
    words: new Uint32Array(memory, WORDS, CHUNK),
    codes: new Uint8Array(memory, CODES, CHUNK / 2),
    scales: format.scales(memory, SCALES, blocks),
    left: new Int32Array(memory, LEFT, blocks),
    tables: new Int32Array(memory, TABLES),
  };
}

/** Does one block that a kernel left; a refusal names it as the TypeScript path does for the whole. */
function quantizeLeft<S extends Scales>(
  codec: BlockCodec<S>,
  noun: string,
  block: number,
  words: Uint32Array,
  scales: S,
  codes: Uint8Array,
): void {
  const { blockSize } = codec;
  const from = block * blockSize;
  try {
    codec.quantize(
      words.subarray(from, from + blockSize),
      scales.subarray(block, block + 1) as S,
      codes.subarray(from / 2, (from + blockSize) / 2),
    );
  } catch (error) {
    if (!(error instanceof Fp4Error) || words.length === blockSize) throw error;
    throw new Fp4Error(error.code, `${noun} ${block}: ${error.message}`);
  }
}

/**
 * The quantize function of a policy.
 * @param chunk of quantize(blocks) -> how many are left
 * @param tables what it finds at TABLES
 * @param fallback for what it leaves
 */
export function quantizer<S extends Scales>(
  chunk: Kernel<S>,
  tables: Int32Array,
  fallback: () => BlockCodec<S>,
): BlockCodec<S>['quantize'] {
  const { noun, blockSize } = chunk.format;
  return (words, scales, codes) => {
    expectLengths(noun, blockSize, words.length, scales.length, codes.length);
    chunk.tables.set(tables);
    for (let first = 0; first < scales.length; first += chunk.blocks) {
      const blocks = Math.min(chunk.blocks, scales.length - first);
      const from = first * blockSize;
      chunk.words.set(words.subarray(from, from + blocks * blockSize));
      const left = chunk.run(blocks);
      scales.set(chunk.scales.subarray(0, blocks), first);
      codes.set(chunk.codes.subarray(0, (blocks * blockSize) / 2), from / 2);
      for (let k = 0; k < left; k++) {
        quantizeLeft(fallback(), noun, first + chunk.left[k]!, words, scales, codes);
      }
    }
  };
}

/** @param chunk of dequantize(blocks) */
export function dequantizer<S extends Scales>(chunk: Kernel<S>): BlockCodec<S>['dequantize'] {
  const { noun, blockSize } = chunk.format;
  return (scales, codes, words) => {
    expectLengths(noun, blockSize, words.length, scales.length, codes.length);
    for (let first = 0; first < scales.length; first += chunk.blocks) {
      const blocks = Math.min(chunk.blocks, scales.length - first);
      const from = first * blockSize;
      chunk.scales.set(scales.subarray(first, first + blocks));
      chunk.codes.set(codes.subarray(from / 2, (from + blocks * blockSize) / 2));
      chunk.run(blocks);
      words.set(chunk.words.subarray(0, blocks * blockSize), from);
    }
  };
}
