/**
 * Where codes stand that have an array of their own: along which axis two of them share a byte, and in which nibble the
 * first one lies. A packing goes with every layout that leaves codes apart from scales. Clauses: spec/layouts.md LAY-01, LAY-03, LAY-11.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { type BlockFormat, type Extent, paddedLength, product, rowsOf } from './linear.ts';

/** A nibble of an array: 2 x byte offset, plus 1 for the upper nibble (bits 7:4). */
export type Nibble = number;

export interface CodePlacement {
  /** Shape of the array in bytes. */
  readonly shape: readonly number[];
  /** The nibble of an element by its row and its position along the quantized axis. */
  readonly nibble: (row: number, position: number) => Nibble;
}

export type CodePacking = (format: BlockFormat, extent: Extent) => CodePlacement;

/** LAY-01. Pairs along the quantized axis, which comes last. */
export const alongBlocks: CodePacking = (format, extent) => {
  const length = paddedLength(format, extent);
  return {
    shape: [...extent.outer, length / 2],
    nibble: (row, position) => row * length + position,
  };
};

/**
 * LAY-11. Pairs along axis `packAxis` of the tensor, whose axes keep their order.
 * @param packAxis from 0 to outer.length; that of the blocks is allowed
 */
export const alongAxis =
  (packAxis: number): CodePacking =>
  (format, extent) => {
    const { outer, axis } = extent;
    const shape = outer.toSpliced(axis, 0, paddedLength(format, extent));
    if (shape[packAxis] === undefined) {
      throw new Fp4Error('E_SHAPE', `no pack axis ${packAxis}; expected one from 0 to ${outer.length}`);
    }
    const halved = shape.with(packAxis, Math.ceil(shape[packAxis] / 2));
    // How far one step along an axis goes, in nibbles; along the pack axis it is a step of two elements.
    const strides = halved.map((_, d) => 2 * product(halved.slice(d + 1)));
    const along = (d: number, index: number): number =>
      d === packAxis ? Math.floor(index / 2) * strides[d]! + (index % 2) : index * strides[d]!;
    const rowStart = new Float64Array(rowsOf(extent));
    for (let row = 0; row < rowStart.length; row++) {
      let rest = row;
      for (let o = outer.length - 1; o >= 0; o--) {
        rowStart[row]! += along(o < axis ? o : o + 1, rest % outer[o]!);
        rest = Math.floor(rest / outer[o]!);
      }
    }
    return { shape: halved, nibble: (row, position) => rowStart[row]! + along(axis, position) };
  };

/** LAY-03. The same bytes with their nibbles exchanged: the first of a pair in bits 7:4. */
export const highFirst =
  (packing: CodePacking): CodePacking =>
  (format, extent) => {
    const { shape, nibble } = packing(format, extent);
    return {
      shape,
      nibble: (row, position) => {
        const low = nibble(row, position);
        return low % 2 === 0 ? low + 1 : low - 1;
      },
    };
  };
