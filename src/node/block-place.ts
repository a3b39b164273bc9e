/**
 * Where linear codes and scales are, as plain data: an open file or shared memory. Another thread reads and writes there.
 * @module
 */
import { InputFile, type OpenFile } from './input-file.ts';
import type { LinearMemory } from './linear-memory.ts';
import { type OutputFile, writeAt } from './output-file.ts';
import type { BlockReader, BlockWriter } from './rows.ts';

export type BlockPlace =
  | ({ readonly kind: 'file' } & OpenFile)
  | { readonly kind: 'memory'; readonly bytes: Uint8Array<SharedArrayBuffer> };

export const inFile = ({ path, descriptor, size }: OpenFile): BlockPlace => ({
  kind: 'file',
  path,
  descriptor,
  size,
});

/** A file that is only written has no size to speak of. */
export const inOutput = ({ path, descriptor }: OutputFile): BlockPlace => ({
  kind: 'file',
  path,
  descriptor,
  size: 0,
});

export const inMemory = ({ bytes }: LinearMemory): BlockPlace => ({ kind: 'memory', bytes });

export function readerAt(place: BlockPlace): BlockReader {
  if (place.kind === 'file') return InputFile.opened(place);
  const { bytes } = place;
  return { readInto: (into, offset) => into.set(bytes.subarray(offset, offset + into.length)) };
}

export function writerAt(place: BlockPlace): BlockWriter {
  if (place.kind === 'file') {
    const { path, descriptor } = place;
    return { write: (bytes, offset) => writeAt(path, descriptor, bytes, offset) };
  }
  return { write: (bytes, offset) => place.bytes.set(bytes, offset) };
}
