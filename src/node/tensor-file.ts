/**
 * Tensor files by the names commands give them: X.npy, or FILE.safetensors:NAME for one tensor of several.
 * Clauses: spec/tensors.md TEN-01 to TEN-03.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { ELEMENT_BYTES, type FloatName, isFloatName, type StoredTensor } from '../files/element-type.ts';
import { NPY_PREFIX, npyHeaderBytes, parseNpyHeader } from '../files/npy.ts';
import {
  parseSafetensorsHeader,
  SAFETENSORS_PREFIX,
  type SafetensorsHeader,
  safetensorsHeaderBytes,
  storedTensor,
} from '../files/safetensors.ts';
import { InputFile } from './input-file.ts';

/** What an argument names: a file, which kind, and perhaps one tensor of it. */
export interface TensorName {
  readonly path: string;
  readonly kind: 'npy' | 'safetensors';
  readonly tensor?: string;
}

/**
 * TEN-01, TEN-02. An argument taken apart.
 * @throws Fp4Error E_USAGE where it is neither .npy nor .safetensors
 */
export function tensorName(argument: string): TensorName {
  const split = /^(.*?\.safetensors):(.+)$/s.exec(argument);
  if (split !== null) return { path: split[1]!, kind: 'safetensors', tensor: split[2]! };
  if (argument.endsWith('.safetensors')) return { path: argument, kind: 'safetensors' };
  if (argument.endsWith('.npy')) return { path: argument, kind: 'npy' };
  throw new Fp4Error('E_USAGE', `${argument}: expected a name ending in .npy, or FILE.safetensors:NAME`);
}

/** TEN-01. The tensor of an open .npy file. */
export function readNpyHeader(file: InputFile): StoredTensor {
  const bytes = npyHeaderBytes(file.read(0, NPY_PREFIX, 'short'), file.size, file.path);
  return parseNpyHeader(file.read(0, bytes), file.size, file.path);
}

/** TEN-02. The header of an open .safetensors file. */
export function readSafetensorsHeader(file: InputFile): SafetensorsHeader {
  const bytes = safetensorsHeaderBytes(file.read(0, SAFETENSORS_PREFIX, 'short'), file.size, file.path);
  return parseSafetensorsHeader(file.read(0, bytes), file.size, file.path);
}

/** Opens a file for as long as `use` takes. */
export async function withInput<T>(path: string, use: (file: InputFile) => T | Promise<T>): Promise<T> {
  const file = InputFile.open(path);
  try {
    return await use(file);
  } finally {
    file.close();
  }
}

/** A stored tensor whose elements are numbers. */
export type FloatTensor = StoredTensor & { readonly type: FloatName };

/**
 * TEN-01, TEN-02. The tensor to quantize that an argument names.
 * @param asBF16 whether 16-bit words of a .npy file are BF16
 * @throws Fp4Error E_USAGE, E_NPY, E_SAFETENSORS, E_DTYPE
 */
export function floatTensor(file: InputFile, { kind, tensor }: TensorName, asBF16: boolean): FloatTensor {
  const stored = kind === 'npy' ? readNpyHeader(file) : namedTensor(file, tensor);
  if (kind === 'npy' && stored.type === 'U16') {
    if (asBF16) return { ...stored, type: 'BF16' };
    throw new Fp4Error('E_DTYPE', `${file.path}: type u2 is quantized only as BF16 words, with --bf16`);
  }
  if (asBF16) {
    throw new Fp4Error('E_DTYPE', `${file.path}: --bf16 reads .npy files of type u2, found ${stored.type}`);
  }
  const { type } = stored;
  if (isFloatName(type)) return { ...stored, type };
  const expected = kind === 'npy' ? 'f2 f4 f8, or u2 with --bf16' : 'F16 BF16 F32 F64';
  throw new Fp4Error('E_DTYPE', `${file.path}: type ${type} cannot be quantized; expected ${expected}`);
}

function namedTensor(file: InputFile, name: string | undefined): StoredTensor {
  const header = readSafetensorsHeader(file);
  if (name !== undefined) return storedTensor(header, name, file.path);
  const names = [...header.tensors.keys()].slice(0, 20).join(', ');
  throw new Fp4Error(
    'E_USAGE',
    `${file.path}: name one tensor, ${file.path}:NAME; there are ${names || 'none'}`,
  );
}

/** Bytes of a stored tensor's elements from `start` on. */
export function readElements(
  file: InputFile,
  { type, offset }: StoredTensor,
  start: number,
  count: number,
): Uint8Array {
  return file.read(offset + start * ELEMENT_BYTES[type], count * ELEMENT_BYTES[type]);
}
