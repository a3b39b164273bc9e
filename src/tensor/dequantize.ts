/**
 * Dequantizing: blocks in rows along the axis back to FP32 words in the order of the original tensor.
 * Clauses: spec/tensors.md TEN-09.
 * @module
 */
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
  const bytes = new Uint8Array(4 * (words.length / padded) * depth);
  const view = new DataView(bytes.buffer);
  forEachRow(g, tile, (index, first) => {
    for (let j = 0; j < depth; j++) {
      view.setUint32(4 * (first + j * width), words[index * padded + j]!, true);
    }
  });
  return bytes;
}
