/**
 * Two stored tensors of one type and shape compared element by element, a piece at a time. Byte order and memory order
 * are how a file is written, not what it says: elements are compared by index, as words. Clauses: spec/tensors.md TEN-17.
 * @module
 */
import { ELEMENT_BYTES, type StoredTensor } from '../files/element-type.ts';
import {
  forEachRow,
  type Geometry,
  geometry,
  multiIndex,
  runs,
  type Tile,
  tileDepth,
  tileRows,
  tiles,
} from '../tensor/geometry.ts';
import { TILE_ELEMENTS } from '../tensor/quantize.ts';
import type { InputFile } from './input-file.ts';
import type { Pace } from './pace.ts';
import { readElements } from './tensor-file.ts';

/** One element that differs; its bits as hex digits, most significant first. */
export interface ElementDifference {
  readonly index: readonly number[];
  readonly a: string;
  readonly b: string;
}

/** A tensor and the open file it is in. */
interface Side {
  readonly file: InputFile;
  readonly tensor: StoredTensor;
}

/** TEN-17. The elements that differ, in the order of memory: C, unless a file is in Fortran order. */
export async function* differingElements(a: Side, b: Side, pace: Pace): AsyncGenerator<ElementDifference> {
  const { type, shape: stored, order } = a.tensor;
  // A 0-d tensor is walked like a vector of one element.
  const shape = stored.length === 0 ? [1] : stored;
  // The walk follows a Fortran-order side, since the rows of the other are then contiguous.
  const g = geometry(shape, shape.length - 1, order === b.tensor.order ? order : 'F');
  const size = ELEMENT_BYTES[type];
  for (const tile of tiles(g, 1, TILE_ELEMENTS)) {
    const [left, right] = [tileWords(a, g, tile), tileWords(b, g, tile)];
    const end = left.equals(right) ? 0 : left.length;
    for (let at = 0; at < end; at += size) {
      const [x, y] = [left.subarray(at, at + size), right.subarray(at, at + size)];
      if (x.equals(y)) continue;
      const index = stored.length === 0 ? [] : elementIndex(g, tile, at / size);
      yield { index, a: x.toString('hex'), b: y.toString('hex') };
    }
    await pace.step(left.length / size);
  }
}

function elementIndex(g: Geometry, tile: Tile, at: number): number[] {
  const width = tile.fast[1] - tile.fast[0];
  const depth = tileDepth(tile);
  const slow = tile.slow[0] + Math.floor(at / (width * depth));
  const position = tile.k[0] + (Math.floor(at / width) % depth);
  return multiIndex(g, g.rowOf(slow, tile.fast[0] + (at % width)), position);
}

/** The elements of a piece in the order of the walk, most significant byte first. */
function tileWords(side: Side, g: Geometry, tile: Tile): Buffer {
  const walksOwnOrder = side.tensor.order === 'F' || g.fast === 1;
  return mostSignificantFirst(walksOwnOrder ? ownOrder(side, g, tile) : rowByRow(side, g, tile), side.tensor);
}

function ownOrder({ file, tensor }: Side, g: Geometry, tile: Tile): Buffer {
  const parts = [...runs(g, tile)].map(({ start, count }) => readElements(file, tensor, start, count));
  return Buffer.concat(parts);
}

/** Rows of a C-order tensor, put into the order of a walk along a Fortran-order one. */
function rowByRow({ file, tensor }: Side, g: Geometry, tile: Tile): Buffer {
  const size = ELEMENT_BYTES[tensor.type];
  const depth = tileDepth(tile);
  const width = tile.fast[1] - tile.fast[0];
  const bytes = Buffer.alloc(tileRows(tile) * depth * size);
  forEachRow(g, tile, (_index, first, row) => {
    const elements = readElements(file, tensor, row * g.k + tile.k[0], depth);
    for (let j = 0; j < depth; j++) {
      bytes.set(elements.subarray(j * size, (j + 1) * size), (first + j * width) * size);
    }
  });
  return bytes;
}

function mostSignificantFirst(bytes: Buffer, { type, littleEndian }: StoredTensor): Buffer {
  if (!littleEndian) return bytes;
  switch (ELEMENT_BYTES[type]) {
    case 2:
      return bytes.swap16();
    case 4:
      return bytes.swap32();
    case 8:
      return bytes.swap64();
    default:
      return bytes;
  }
}
