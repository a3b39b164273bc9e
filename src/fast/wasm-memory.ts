/**
 * How the linear memory of the WebAssembly codecs is laid out: one chunk of blocks at a time, so that it never grows.
 * @module
 */

/** Elements of a chunk: 64 KiB of FP32 words, which stay in the second-level cache between copying and computing. */
export const CHUNK = 2 ** 14;

const SMALLEST_BLOCK = 32;
const WIDEST_SCALE = 4;

/** FP32 words of the chunk. */
export const WORDS = 0;
/** Codes, two a byte. */
export const CODES = WORDS + 4 * CHUNK;
/** One scale a block. */
export const SCALES = CODES + CHUNK / 2;
/** Indices of the blocks that were left to the TypeScript path, i32. */
export const LEFT = SCALES + (CHUNK / SMALLEST_BLOCK) * WIDEST_SCALE;
/** What a format keeps from chunk to chunk. */
export const TABLES = LEFT + (CHUNK / SMALLEST_BLOCK) * 4;

/** Pages of 64 KiB. */
export const PAGES = 2;
