/**
 * The WebAssembly codecs behind the interface of all codecs: chunks are copied into linear memory, computed and copied out;
 * what a kernel leaves is done by the TypeScript path. Clauses: spec/conventions.md CON-05.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { hasSimd, type Instance, instantiate } from '../wasm/engine.ts';
import type { WasmFunction } from '../wasm/function.ts';
import { assemble } from '../wasm/module.ts';
import { type BlockCodec, expectLengths, type Scales } from './block-codec.ts';
import { CHUNK, CODES, LEFT, PAGES, SCALES, TABLES, WORDS } from './wasm-memory.ts';

/** What a format's kernels are. */
export interface Kernels<S extends Scales> {
  readonly noun: 'unit' | 'block';
  readonly blockSize: number;
  /** quantize(blocks) -> how many are left, and dequantize(blocks). */
  readonly functions: readonly WasmFunction[];
  /** What is at TABLES. */
  readonly tables: Int32Array;
  /** An array of the format's scales over a memory. */
  readonly scales: (memory: ArrayBuffer, at: number, count: number) => S;
}

// Linear memory is little-endian and typed arrays are the machine's.
const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

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

/** A codec of kernels; undefined where the engine has no SIMD or refuses the module. */
export function wasmCodec<S extends Scales>(
  kernels: () => Kernels<S>,
  fallback: BlockCodec<S>,
): BlockCodec<S> | undefined {
  if (!LITTLE_ENDIAN || !hasSimd()) return undefined;
  const { noun, blockSize, functions, tables, scales: scalesIn } = kernels();
  const instance = instantiate(assemble(functions, PAGES), PAGES);
  return instance && overMemory(instance, noun, blockSize, tables, scalesIn, fallback);
}

function overMemory<S extends Scales>(
  { functions, memory }: Instance,
  noun: 'unit' | 'block',
  blockSize: number,
  tables: Int32Array,
  scalesIn: Kernels<S>['scales'],
  fallback: BlockCodec<S>,
): BlockCodec<S> {
  const run = functions as { quantize(blocks: number): number; dequantize(blocks: number): void };
  const blocksOfChunk = CHUNK / blockSize;
  const chunk = {
    words: new Uint32Array(memory, WORDS, CHUNK),
    codes: new Uint8Array(memory, CODES, CHUNK / 2),
    scales: scalesIn(memory, SCALES, blocksOfChunk),
    left: new Int32Array(memory, LEFT, blocksOfChunk),
  };
  new Int32Array(memory, TABLES, tables.length).set(tables);
  return {
    blockSize,
    quantize(words, scales, codes) {
      expectLengths(noun, blockSize, words.length, scales.length, codes.length);
      for (let first = 0; first < scales.length; first += blocksOfChunk) {
        const blocks = Math.min(blocksOfChunk, scales.length - first);
        const from = first * blockSize;
        chunk.words.set(words.subarray(from, from + blocks * blockSize));
        const left = run.quantize(blocks);
        scales.set(chunk.scales.subarray(0, blocks), first);
        codes.set(chunk.codes.subarray(0, (blocks * blockSize) / 2), from / 2);
        for (let k = 0; k < left; k++) {
          quantizeLeft(fallback, noun, first + chunk.left[k]!, words, scales, codes);
        }
      }
    },
    dequantize(scales, codes, words) {
      expectLengths(noun, blockSize, words.length, scales.length, codes.length);
      for (let first = 0; first < scales.length; first += blocksOfChunk) {
        const blocks = Math.min(blocksOfChunk, scales.length - first);
        const from = first * blockSize;
        chunk.scales.set(scales.subarray(first, first + blocks));
        chunk.codes.set(codes.subarray(from / 2, (from + blocks * blockSize) / 2));
        run.dequantize(blocks);
        words.set(chunk.words.subarray(0, blocks * blockSize), from);
      }
    },
  };
}
