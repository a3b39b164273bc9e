/**
 * The element types that tensor files hold, under one set of names for both file formats.
 * Clauses: spec/tensors.md TEN-01, TEN-02.
 * @module
 */
export type ElementName = 'F16' | 'BF16' | 'F32' | 'F64' | 'U8' | 'U16' | 'U32';

/** Bytes of one element. */
export const ELEMENT_BYTES: Readonly<Record<ElementName, number>> = {
  F16: 2,
  BF16: 2,
  F32: 4,
  F64: 8,
  U8: 1,
  U16: 2,
  U32: 4,
};

/** The types that hold numbers to quantize. */
export type FloatName = Extract<ElementName, 'F16' | 'BF16' | 'F32' | 'F64'>;

export const isFloatName = (name: ElementName): name is FloatName =>
  name === 'F16' || name === 'BF16' || name === 'F32' || name === 'F64';

/** A tensor inside a file: what its bytes mean and where they are. */
export interface StoredTensor {
  readonly type: ElementName;
  readonly littleEndian: boolean;
  /** C: the last index runs fastest; F: the first. */
  readonly order: 'C' | 'F';
  readonly shape: readonly number[];
  /** Bytes from the start of the file to the first element. */
  readonly offset: number;
}
