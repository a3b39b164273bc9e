/**
 * The rows of a piece in a quantized tensor's file: where each one's bytes are, and which lie next to each other.
 * Clauses: spec/tensors.md TEN-06, TEN-07.
 * @module
 */
import type { Decoder, PackedBlocks } from '../tensor/codec.ts';
import { blocksOf, forEachRow, type Geometry, type Tile, tileDepth, tileRows } from '../tensor/geometry.ts';

/** Where linear codes and scales start, in bytes. */
export interface LinearOffsets {
  readonly codes: number;
  readonly scales: number;
}

/** Something that bytes are read from at any place: a file, or memory. */
export interface BlockReader {
  readInto(bytes: Uint8Array, offset: number): void;
}

/** Something that bytes are written to at any place. */
export interface BlockWriter {
  write(bytes: Uint8Array, offset: number): void;
}

/** Blocks that are consecutive both in a piece (from `index` on) and in the file (from `block` on). */
interface BlockRun {
  readonly index: number;
  readonly block: number;
  readonly count: number;
}

function blockRuns(g: Geometry, tile: Tile, blockSize: number): BlockRun[] {
  const inRow = blocksOf(g.k, blockSize);
  const inTile = blocksOf(tileDepth(tile), blockSize);
  const skipped = tile.k[0] / blockSize;
  const runs: BlockRun[] = [];
  forEachRow(g, tile, (index, _first, row) => {
    const block = row * inRow + skipped;
    const last = runs.at(-1);
    if (last !== undefined && last.block + last.count === block) {
      runs[runs.length - 1] = { ...last, count: last.count + inTile };
    } else {
      runs.push({ index: index * inTile, block, count: inTile });
    }
  });
  return runs;
}

/** Writes the blocks of a piece to their places. */
export function writeBlocks(
  file: BlockWriter,
  offsets: LinearOffsets,
  packed: PackedBlocks,
  g: Geometry,
  tile: Tile,
  { blockSize, scaleBytes }: Decoder,
): void {
  const codeBytes = blockSize / 2;
  for (const { index, block, count } of blockRuns(g, tile, blockSize)) {
    const codes = packed.codes.subarray(index * codeBytes, (index + count) * codeBytes);
    file.write(codes, offsets.codes + block * codeBytes);
    const scales = packed.scales.subarray(index * scaleBytes, (index + count) * scaleBytes);
    file.write(scales, offsets.scales + block * scaleBytes);
  }
}

/** Reads the blocks of a piece from their places. */
export function readBlocks(
  file: BlockReader,
  offsets: LinearOffsets,
  g: Geometry,
  tile: Tile,
  { blockSize, scaleBytes }: Decoder,
): PackedBlocks {
  const codeBytes = blockSize / 2;
  const blocks = tileRows(tile) * blocksOf(tileDepth(tile), blockSize);
  const packed = { codes: new Uint8Array(blocks * codeBytes), scales: new Uint8Array(blocks * scaleBytes) };
  for (const { index, block, count } of blockRuns(g, tile, blockSize)) {
    const codes = packed.codes.subarray(index * codeBytes, (index + count) * codeBytes);
    file.readInto(codes, offsets.codes + block * codeBytes);
    const scales = packed.scales.subarray(index * scaleBytes, (index + count) * scaleBytes);
    file.readInto(scales, offsets.scales + block * scaleBytes);
  }
  return packed;
}
