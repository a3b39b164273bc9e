/**
 * Quantized data as commands read it: a file of ours in any layout, or a foreign pair of codes and scales. Whatever it was,
 * its blocks are then read in the linear form. Clauses: spec/tensors.md TEN-08, TEN-19, TEN-20.
 * @module
 */
import { readFileSync } from 'node:fs';
import { Fp4Error } from '../error.ts';
import { ELEMENT_BYTES, type StoredTensor } from '../files/element-type.ts';
import { JsonError, scanJson } from '../files/json-scan.ts';
import { storedTensor } from '../files/safetensors.ts';
import { readLayout } from '../layout/convert.ts';
import { byteLength } from '../layout/layout.ts';
import { blockFormat, extentOf } from '../layout/linear.ts';
import { type Decoder, decoder } from '../tensor/codec.ts';
import { type Geometry, geometry, normalizedAxis } from '../tensor/geometry.ts';
import {
  isLinear,
  parseQuantizedHeader,
  placed,
  type StoredForm,
  storedForm,
} from '../tensor/quantized-header.ts';
import { type BlockPlace, inFile, inMemory } from './block-place.ts';
import type { InputFile } from './input-file.ts';
import { LinearMemory } from './linear-memory.ts';
import type { BlockReader, LinearOffsets } from './rows.ts';
import { attempt } from './system-error.ts';
import { readElements, readNpyHeader, readSafetensorsHeader, tensorName, withInput } from './tensor-file.ts';

/** Codes and scales of unknown origin; what a header would say is said by the caller. */
export interface ForeignPair {
  /** X.npy, FILE.safetensors:NAME, or a file of plain bytes. */
  readonly codes: string;
  /** Absent where the layout keeps scales among the codes. */
  readonly scales?: string;
  readonly format: string;
  /** The original shape. */
  readonly shape: readonly number[];
  /** May be negative, counted from the last. */
  readonly axis: number;
  readonly layout: string;
  readonly packAxis?: number;
}

/** A quantized .safetensors file by its name, or a foreign pair. */
export type QuantizedInput = string | ForeignPair;

export interface QuantizedSource {
  /** How messages name it. */
  readonly name: string;
  readonly decoder: Decoder;
  readonly geometry: Geometry;
  readonly reader: BlockReader;
  /** The same, as another thread can be told of it. */
  readonly place: BlockPlace;
  readonly offsets: LinearOffsets;
  /** The profile that its file names, and every parameter that was in force. */
  readonly profile: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Opens quantized data for as long as `use` takes. A linear file is read piece by piece, anything else whole.
 * @throws Fp4Error for every kind of bad input
 */
export const withQuantized = <T>(
  input: QuantizedInput,
  use: (source: QuantizedSource) => T | Promise<T>,
): Promise<T> => (typeof input === 'string' ? withQuantizedFile(input, use) : withForeign(input, use));

async function withQuantizedFile<T>(
  argument: string,
  use: (source: QuantizedSource) => T | Promise<T>,
): Promise<T> {
  const { path, kind, tensor } = tensorName(argument);
  if (kind !== 'safetensors' || tensor !== undefined) {
    throw new Fp4Error(
      'E_USAGE',
      `${argument}: expected a quantized .safetensors file, without a tensor's name`,
    );
  }
  return withInput(path, (file) => {
    const {
      decoder: d,
      geometry: g,
      form,
      offsets,
      metadata,
    } = parseQuantizedHeader(readSafetensorsHeader(file), path);
    const common = {
      name: path,
      decoder: d,
      geometry: g,
      profile: metadata.get('fp4.profile'),
      parameters: parametersIn(metadata, path),
    };
    if (isLinear(form)) {
      return use({
        ...common,
        reader: file,
        place: inFile(file),
        offsets: { codes: offsets['codes']!, scales: offsets['scales']! },
      });
    }
    const memory = linearized(d, g, form, (name, bytes) => file.read(offsets[name]!, bytes));
    return use({ ...common, reader: memory, place: inMemory(memory), offsets: memory.offsets });
  });
}

/** TEN-07. The parameters that a file says were in force; their names and values are checked where they are used. */
function parametersIn(metadata: ReadonlyMap<string, string>, file: string): Record<string, string> {
  const text = metadata.get('fp4.parameters') ?? '{}';
  try {
    const value = scanJson(text);
    if (value instanceof Map && [...value.values()].every((v) => typeof v === 'string')) {
      return Object.fromEntries(value) as Record<string, string>;
    }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new Fp4Error('E_TENSOR', `${file}: fp4.parameters is ${text.slice(0, 80)}, not an object of strings`);
}

async function withForeign<T>(
  pair: ForeignPair,
  use: (source: QuantizedSource) => T | Promise<T>,
): Promise<T> {
  const d = decoder(pair.format);
  const g = geometry(pair.shape, normalizedAxis(pair.shape, pair.axis, '--axis'), 'C');
  const packAxis =
    pair.packAxis === undefined ? undefined : normalizedAxis(pair.shape, pair.packAxis, '--pack-axis');
  const form = storedForm(pair.format, pair.layout, packAxis);
  const { arrays, code, scale } = placed(d, g, form);
  if (arrays.length === 1 && pair.scales !== undefined) {
    throw new Fp4Error('E_USAGE', `layout ${pair.layout} keeps scales among the codes; it takes no --scales`);
  }
  if (arrays.length > 1 && pair.scales === undefined) {
    throw new Fp4Error('E_USAGE', `layout ${pair.layout} keeps scales apart; it needs --scales`);
  }
  const given: Record<string, string> = { [scale.array]: pair.scales ?? '', [code.array]: pair.codes };
  const read = await Promise.all(
    arrays.map(async ({ name }) => [name, await plainBytes(given[name]!)] as const),
  );
  const stored = Object.fromEntries(read);
  const memory = linearized(d, g, form, (name, bytes) => {
    const found = stored[name]!;
    if (found.length === bytes) return found;
    const shape = `shape [${pair.shape.join(', ')}] in layout ${pair.layout}`;
    throw new Fp4Error('E_LENGTH', `${given[name]}: ${found.length} bytes; ${shape} needs ${bytes}`);
  });
  return use({
    name: pair.codes,
    decoder: d,
    geometry: g,
    reader: memory,
    place: inMemory(memory),
    offsets: memory.offsets,
    profile: undefined,
    parameters: {},
  });
}

/** The blocks of a layout's arrays in the linear form. */
function linearized(
  d: Decoder,
  g: Geometry,
  form: StoredForm,
  read: (name: string, bytes: number) => Uint8Array,
): LinearMemory {
  const format = blockFormat(d.format);
  const extent = extentOf(format, g.shape, g.axis);
  const stored = Object.fromEntries(
    placed(d, g, form).arrays.map((array) => [array.name, read(array.name, byteLength(array))]),
  );
  return LinearMemory.of(readLayout(form.layout, format, extent, stored, form.packAxis));
}

/** TEN-20. The bytes of an array: the elements of a .npy file or of a tensor, little-endian; of any other file all there is. */
async function plainBytes(argument: string): Promise<Uint8Array> {
  if (!/\.(npy|safetensors)(:|$)/.test(argument)) return attempt(argument, () => readFileSync(argument));
  const { path, kind, tensor } = tensorName(argument);
  return withInput(path, (file) => {
    const stored = kind === 'npy' ? readNpyHeader(file) : namedBytes(file, tensor, argument);
    const count = stored.shape.reduce((a, b) => a * b, 1);
    const plain = stored.littleEndian || ELEMENT_BYTES[stored.type] === 1;
    if (!['U8', 'U32'].includes(stored.type) || !plain || (stored.order === 'F' && stored.shape.length > 1)) {
      const found = `${stored.type}, ${stored.littleEndian ? 'little' : 'big'}-endian, ${stored.order} order`;
      throw new Fp4Error('E_DTYPE', `${argument}: ${found}; codes and scales are u1 or <u4 in C order`);
    }
    return readElements(file, stored, 0, count);
  });
}

function namedBytes(file: InputFile, tensor: string | undefined, argument: string): StoredTensor {
  const header = readSafetensorsHeader(file);
  if (tensor !== undefined) return storedTensor(header, tensor, file.path);
  throw new Fp4Error('E_USAGE', `${argument}: name one tensor, FILE.safetensors:NAME`);
}
