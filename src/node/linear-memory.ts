/**
 * A quantized tensor's blocks in memory, in the linear form: codes, then scales. What is in another layout is converted whole.
 * The memory is shared, so that worker threads fill it and read from it in place.
 * Clauses: spec/tensors.md TEN-19.
 * @module
 */
import { type BlockFormat, type Extent, type LinearBlocks, paddedLength, rowsOf } from '../layout/linear.ts';
import type { BlockReader, BlockWriter, LinearOffsets } from './rows.ts';

export class LinearMemory implements BlockReader, BlockWriter {
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  readonly offsets: LinearOffsets;

  private constructor(codeBytes: number, scaleBytes: number) {
    this.bytes = new Uint8Array(new SharedArrayBuffer(codeBytes + scaleBytes));
    this.offsets = { codes: 0, scales: codeBytes };
  }

  /** Room for a tensor, all zeros. */
  static empty(format: BlockFormat, extent: Extent): LinearMemory {
    const rows = rowsOf(extent);
    return new LinearMemory(
      (rows * paddedLength(format, extent)) / 2,
      rows * extent.blocks * format.scaleBytes,
    );
  }

  static of({ codes, scales }: LinearBlocks): LinearMemory {
    const memory = new LinearMemory(codes.length, scales.length);
    memory.bytes.set(codes);
    memory.bytes.set(scales, codes.length);
    return memory;
  }

  get blocks(): LinearBlocks {
    const { scales } = this.offsets;
    return { codes: this.bytes.subarray(0, scales), scales: this.bytes.subarray(scales) };
  }

  readInto(bytes: Uint8Array, offset: number): void {
    bytes.set(this.bytes.subarray(offset, offset + bytes.length));
  }

  write(bytes: Uint8Array, offset: number): void {
    this.bytes.set(bytes, offset);
  }
}
