/**
 * .safetensors headers from bytes and to bytes, trusting nothing.
 * Standard: the safetensors format description (huggingface/safetensors README). Clauses: spec/tensors.md TEN-02, TEN-03.
 *
 * No npm package is used: those for this format load whole files, and none detects a name given twice or bytes that no
 * tensor, or two tensors, own.
 * @module
 */
import { excerpt, Fp4Error, knownNames } from '../error.ts';
import { ELEMENT_BYTES, type ElementName, type StoredTensor } from './element-type.ts';
import { JsonError, type JsonValue, scanJson, sizes } from './json-scan.ts';
import { shapeSize } from './shape.ts';

/** Bytes of the length that a file starts with. */
export const SAFETENSORS_PREFIX = 8;
/** The limit of the format's own reader. */
const LONGEST_HEADER = 100_000_000;
const METADATA = '__metadata__';

/** Bits of every type the format names; those that are no `ElementName` can be listed but not read. */
const TYPE_BITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Object.entries(ELEMENT_BYTES).map(([name, bytes]) => [name, 8 * bytes])),
  BOOL: 8,
  I8: 8,
  I16: 16,
  I32: 32,
  I64: 64,
  U64: 64,
  C64: 64,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  F8_E4M3FNUZ: 8,
  F8_E5M2FNUZ: 8,
  F6_E2M3: 6,
  F6_E3M2: 6,
  F4: 4,
};

/** One tensor as the header lists it. */
export interface SafetensorsEntry {
  /** A type of the format; `storedTensor` refuses those that cannot be read here. */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly bytes: number;
}

export interface SafetensorsHeader {
  readonly tensors: ReadonlyMap<string, SafetensorsEntry>;
  readonly metadata: ReadonlyMap<string, string>;
}

const fail = (file: string, message: string): Fp4Error =>
  new Fp4Error('E_SAFETENSORS', `${file}: ${message}`);

/**
 * TEN-03. How many bytes of a file its header takes, the length before it included.
 * @param prefix the first 8 bytes, or all of a shorter file
 * @throws Fp4Error E_SAFETENSORS
 */
export function safetensorsHeaderBytes(prefix: Uint8Array, fileBytes: number, file: string): number {
  if (fileBytes === 0) throw fail(file, 'the file is empty');
  if (prefix.length < SAFETENSORS_PREFIX)
    throw fail(file, `truncated: ${fileBytes} bytes do not hold a header`);
  const length = new DataView(prefix.buffer, prefix.byteOffset, SAFETENSORS_PREFIX).getBigUint64(0, true);
  if (length > BigInt(LONGEST_HEADER)) {
    throw fail(file, `the header says it has ${length} bytes; at most ${LONGEST_HEADER} are accepted`);
  }
  const total = SAFETENSORS_PREFIX + Number(length);
  if (total > fileBytes) {
    throw fail(file, `truncated: a header of ${length} bytes does not fit into ${fileBytes} bytes`);
  }
  return total;
}

/**
 * TEN-02, TEN-03. The tensors and the metadata of a file.
 * @param header as many bytes as `safetensorsHeaderBytes` said
 * @param fileBytes the size of the file, every byte of which must belong to one tensor
 * @throws Fp4Error E_SAFETENSORS
 */
export function parseSafetensorsHeader(
  header: Uint8Array,
  fileBytes: number,
  file: string,
): SafetensorsHeader {
  const start = safetensorsHeaderBytes(header.subarray(0, SAFETENSORS_PREFIX), fileBytes, file);
  if (header.length !== start) throw new RangeError(`a header of ${start} bytes, not ${header.length}`);
  const tensors = new Map<string, SafetensorsEntry>();
  let metadata: ReadonlyMap<string, string> = new Map();
  for (const [name, value] of headerObject(header.subarray(SAFETENSORS_PREFIX), file)) {
    if (name === METADATA) metadata = parseMetadata(value, file);
    else tensors.set(name, parseEntry(name, value, start, fileBytes, file));
  }
  refuseOverlapsAndHoles(tensors, start, fileBytes, file);
  return { tensors, metadata };
}

function headerObject(bytes: Uint8Array, file: string): Map<string, JsonValue> {
  if (bytes[0] !== 0x7b) throw fail(file, 'the header does not start with "{"');
  try {
    const value = scanJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return value as Map<string, JsonValue>; // it starts with a brace
  } catch (error) {
    if (error instanceof JsonError) throw fail(file, `the header is not valid JSON: ${error.message}`);
    if (error instanceof TypeError) throw fail(file, 'the header is not valid UTF-8');
    throw error;
  }
}

function parseMetadata(value: JsonValue, file: string): ReadonlyMap<string, string> {
  const isText = (entry: [string, JsonValue]): entry is [string, string] => typeof entry[1] === 'string';
  const entries = value instanceof Map ? [...value] : undefined;
  if (!entries?.every(isText)) throw fail(file, `${METADATA} is not an object of strings`);
  return new Map(entries);
}

function parseEntry(
  name: string,
  value: JsonValue,
  start: number,
  fileBytes: number,
  file: string,
): SafetensorsEntry {
  const where = `${file}: tensor ${JSON.stringify(name)}`;
  const refuse = (message: string): Fp4Error => new Fp4Error('E_SAFETENSORS', `${where}: ${message}`);
  if (!(value instanceof Map)) throw refuse('is not described by an object');
  for (const key of value.keys()) {
    if (key !== 'dtype' && key !== 'shape' && key !== 'data_offsets') {
      throw refuse(`unknown key ${JSON.stringify(key)}`);
    }
  }
  const dtype = value.get('dtype');
  if (typeof dtype !== 'string' || !Object.hasOwn(TYPE_BITS, dtype)) {
    const found =
      typeof dtype === 'string'
        ? `dtype is ${JSON.stringify(excerpt(dtype))}`
        : 'dtype is missing or no string';
    throw refuse(`${found}; expected one of ${Object.keys(TYPE_BITS).join(', ')}`);
  }
  const shape = sizes(value.get('shape'));
  if (shape === undefined) throw refuse('shape is not an array of sizes from 0 to 2^53 - 1');
  const offsets = sizes(value.get('data_offsets'));
  if (offsets?.length !== 2) throw refuse('data_offsets is not a pair of sizes');
  const [begin, end] = offsets as [number, number];
  if (begin > end) throw refuse(`data_offsets [${begin}, ${end}] run backwards`);
  if (end > fileBytes - start) {
    throw refuse(`data_offsets [${begin}, ${end}] lie outside the ${fileBytes - start} bytes of data`);
  }
  const expected = shapeSize(shape, TYPE_BITS[dtype]!, 'E_SAFETENSORS', where) / 8;
  if (expected !== end - begin) {
    throw refuse(
      `shape [${shape.join(', ')}] of ${dtype} has ${expected} bytes, data_offsets ${end - begin}`,
    );
  }
  return { dtype, shape, offset: start + begin, bytes: end - begin };
}

function refuseOverlapsAndHoles(
  tensors: ReadonlyMap<string, SafetensorsEntry>,
  start: number,
  fileBytes: number,
  file: string,
): void {
  let end = start;
  // Empty tensors sort before the one that starts where they lie.
  const inOrder = [...tensors].sort(([, a], [, b]) => a.offset - b.offset || a.bytes - b.bytes);
  for (const [name, { offset, bytes }] of inOrder) {
    if (offset !== end) {
      const problem =
        offset < end ? 'overlaps the tensor before it' : `leaves ${offset - end} bytes unused before it`;
      throw fail(file, `tensor ${JSON.stringify(name)} ${problem}`);
    }
    end = offset + bytes;
  }
  if (end !== fileBytes) throw fail(file, `${fileBytes - end} bytes after the last tensor belong to none`);
}

/**
 * TEN-02. One tensor of a file, by name.
 * @throws Fp4Error E_USAGE for a name that does not exist, E_DTYPE for a type that cannot be read here
 */
export function storedTensor(header: SafetensorsHeader, name: string, file: string): StoredTensor {
  const entry = header.tensors.get(name);
  if (entry === undefined) {
    const names = [...header.tensors.keys()].slice(0, 20);
    throw new Fp4Error('E_USAGE', `${file}: no tensor ${JSON.stringify(name)}; ${knownNames(name, names)}`);
  }
  if (!Object.hasOwn(ELEMENT_BYTES, entry.dtype)) {
    const known = Object.keys(ELEMENT_BYTES).join(' ');
    throw new Fp4Error(
      'E_DTYPE',
      `${file}: tensor ${JSON.stringify(name)} is ${entry.dtype}, which is not supported; expected ${known}`,
    );
  }
  return {
    type: entry.dtype as ElementName,
    littleEndian: true,
    order: 'C',
    shape: entry.shape,
    offset: entry.offset,
  };
}

/** A tensor to be written. */
export interface NewTensor {
  readonly name: string;
  readonly type: ElementName;
  readonly shape: readonly number[];
}

/**
 * TEN-02. The header of a file, padded with spaces to a multiple of 8; the tensors' bytes follow in the order given.
 * @returns the header, and for each tensor its offset from the start of the file
 */
export function buildSafetensorsHeader(
  tensors: readonly NewTensor[],
  metadata: Readonly<Record<string, string>>,
): { header: Uint8Array; offsets: number[]; fileBytes: number } {
  const entries: [string, unknown][] = [[METADATA, metadata]];
  const begins: number[] = [];
  let end = 0;
  for (const { name, type, shape } of tensors) {
    begins.push(end);
    end += shapeSize(shape, ELEMENT_BYTES[type], 'E_SHAPE', `tensor ${name}`);
    entries.push([name, { dtype: type, shape, data_offsets: [begins.at(-1), end] }]);
  }
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const padded = Math.ceil(text.length / 8) * 8;
  const header = new Uint8Array(SAFETENSORS_PREFIX + padded).fill(0x20);
  new DataView(header.buffer).setBigUint64(0, BigInt(padded), true);
  header.set(text, SAFETENSORS_PREFIX);
  return { header, offsets: begins.map((begin) => header.length + begin), fileBytes: header.length + end };
}
