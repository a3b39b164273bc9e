/**
 * Dequantizing: blocks in rows along the axis back to FP32 words in the order of the original tensor.
 * Clauses: spec/tensors.md TEN-09.
 * @module
 */
import { littleEndianBytes } from '../fast/input-words.ts';
import type { Decoder, PackedBlocks } from './codec.ts';
import { blocksOf, forEachRow, type Geometry, type Tile, tileDepth } from './geometry.ts';

/**
 * The bytes of one piece, little-endian FP32 in memory order, padding dropped.
 * @param packed the piece's blocks, row by row
 */
export function dequantizeTile(packed: PackedBlocks, g: Geometry, tile: Tile, d: Decoder): Uint8Array {
  const depth = tileDepth(tile);
  const padded = blocksOf(depth, d.blockSize) * d.blockSize;
  const width = tile.fast[1] - tile.fast[0];
  const words = d.decode(packed);
  const lie = width === 1 && depth === padded; // as they are to be
  const ordered = lie ? words : new Uint32Array((words.length / padded) * depth);
  if (!lie) {
    forEachRow(g, tile, (index, first) => {
      const row = index * padded;
      if (width === 1) ordered.set(words.subarray(row, row + depth), first);
      else for (let j = 0; j < depth; j++) ordered[first + j * width] = words[row + j]!;
    });
  }
  return littleEndianBytes(ordered);
}
