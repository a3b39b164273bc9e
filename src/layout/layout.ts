/**
 * What a layout is: arrays, and two maps that say where in them each code and each byte of a scale stands. Writing and
 * reading both follow the maps, so what a map does not reach is padding: written as stated, never read.
 * Clauses: spec/layouts.md LAY-02.
 * @module
 */
import type { CodePacking, Nibble } from './code-packing.ts';
import { type BlockFormat, type Extent, product } from './linear.ts';

/** An array of bytes as it stands in memory or in a file. */
export interface StoredArray {
  readonly name: string;
  /** U32 is little-endian. */
  readonly type: 'U8' | 'U32';
  readonly shape: readonly number[];
}

export const byteLength = ({ type, shape }: StoredArray): number => product(shape) * (type === 'U32' ? 4 : 1);

export interface Placement {
  readonly arrays: readonly StoredArray[];
  readonly code: {
    /** Name of the array. */
    readonly array: string;
    /** The nibble of an element by its row and its position along the quantized axis. */
    readonly nibble: (row: number, position: number) => Nibble;
  };
  readonly scale: {
    readonly array: string;
    /** The offset of one byte of a block's scale; byte 0 is the least significant. */
    readonly offset: (row: number, block: number, byte: number) => number;
  };
}

export interface Layout {
  readonly name: string;
  readonly clause: string;
  /** Names of the formats it can hold. */
  readonly formats: readonly string[];
  /** Whether codes have an array of their own, so that a packing can be chosen (LAY-11). */
  readonly ownCodes: boolean;
  /** What is padded beyond whole blocks, and the byte written there. */
  readonly padding: { readonly rule: string; readonly byte: number };
  /** Who uses it, or where it is defined. */
  readonly source: string;
  readonly place: (format: BlockFormat, extent: Extent, packing: CodePacking) => Placement;
}

export const UNPADDED = { rule: 'none', byte: 0 } as const;
