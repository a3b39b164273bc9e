/**
 * The linear form, from which every layout starts: whole blocks in rows along the quantized axis.
 * Clauses: spec/layouts.md LAY-01.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';

/** What a layout has to know of a block format. */
export interface BlockFormat {
  readonly name: string;
  /** Elements of a block, an even number. */
  readonly elements: number;
  /** Bytes of a block's scale, little-endian. */
  readonly scaleBytes: number;
}

/** HIF4-01, HIF4-02, MX-01. */
export const BLOCK_FORMATS: readonly BlockFormat[] = [
  { name: 'hif4', elements: 64, scaleBytes: 4 },
  { name: 'mxfp4', elements: 32, scaleBytes: 1 },
];

/** @throws Fp4Error E_USAGE for a name that is no format */
export function blockFormat(name: string): BlockFormat {
  const found = BLOCK_FORMATS.find((format) => format.name === name);
  if (found) return found;
  const names = BLOCK_FORMATS.map((format) => format.name);
  throw new Fp4Error('E_USAGE', `unknown format "${name}"; ${knownNames(name, names)}`);
}

/** LAY-01. How much there is: a row for every index of the other dimensions, in C order. */
export interface Extent {
  /** The other dimensions; none for a vector, which is one row. */
  readonly outer: readonly number[];
  /** Blocks of a row: the quantized axis in whole blocks, rounded up. */
  readonly blocks: number;
  /** Where the quantized axis stood between the other dimensions, from 0 to outer.length. */
  readonly axis: number;
}

/** LAY-01. Codes two a byte, the even element in the low nibble; scales little-endian. */
export interface LinearBlocks {
  /** rows x blocks x elements / 2 bytes */
  readonly codes: Uint8Array;
  /** rows x blocks x scaleBytes bytes */
  readonly scales: Uint8Array;
}

export const product = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);

export const rowsOf = ({ outer }: Extent): number => product(outer);

/** Elements of a row, with the padding to whole blocks. */
export const paddedLength = ({ elements }: BlockFormat, { blocks }: Extent): number => blocks * elements;

/**
 * LAY-01. The extent of a tensor that is quantized along one axis (the last one if not given).
 * @param axis not negative
 * @throws Fp4Error E_SHAPE
 */
export function extentOf(format: BlockFormat, shape: readonly number[], axis = shape.length - 1): Extent {
  const text = `[${shape.join(', ')}]`;
  if (!shape.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    throw new Fp4Error('E_SHAPE', `shape ${text}: a dimension is an integer that is not negative`);
  }
  if (shape[axis] === undefined) {
    const expected = shape.length === 0 ? 'at least one dimension' : `an axis from 0 to ${shape.length - 1}`;
    throw new Fp4Error('E_SHAPE', `shape ${text} has no axis ${axis}; expected ${expected}`);
  }
  return { outer: shape.toSpliced(axis, 1), blocks: Math.ceil(shape[axis] / format.elements), axis };
}
