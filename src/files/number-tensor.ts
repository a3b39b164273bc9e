/**
 * The elements of a .safetensors tensor as numbers, whole numbers and truth values included.
 * Clauses: spec/tensors.md TEN-02, spec/grpo.md GRP-19.
 * @module
 */
import { Fp4Error } from '../error.ts';

type Reader = (view: DataView, offset: number) => number;

const READERS: Readonly<Record<string, { bytes: number; read: Reader }>> = {
  F64: { bytes: 8, read: (v, o) => v.getFloat64(o, true) },
  F32: { bytes: 4, read: (v, o) => v.getFloat32(o, true) },
  BF16: { bytes: 2, read: (v, o) => bf16(v.getUint16(o, true)) },
  I64: { bytes: 8, read: (v, o) => Number(v.getBigInt64(o, true)) },
  I32: { bytes: 4, read: (v, o) => v.getInt32(o, true) },
  I16: { bytes: 2, read: (v, o) => v.getInt16(o, true) },
  I8: { bytes: 1, read: (v, o) => v.getInt8(o) },
  U8: { bytes: 1, read: (v, o) => v.getUint8(o) },
  BOOL: { bytes: 1, read: (v, o) => v.getUint8(o) },
};

const word = new DataView(new ArrayBuffer(4));

function bf16(bits: number): number {
  word.setUint16(0, bits);
  return word.getFloat32(0);
}

/**
 * @param where the file and tensor, for messages
 * @throws Fp4Error E_DTYPE for a type that is not read here, E_SAFETENSORS where an I64 is no safe integer
 */
export function numbersOf(dtype: string, bytes: Uint8Array, where: string): Float64Array {
  const type = Object.hasOwn(READERS, dtype) ? READERS[dtype] : undefined;
  if (type === undefined)
    throw new Fp4Error('E_DTYPE', `${where} is ${dtype}; expected ${Object.keys(READERS).join(' ')}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numbers = Float64Array.from({ length: bytes.length / type.bytes }, (_, i) =>
    type.read(view, i * type.bytes),
  );
  if (dtype === 'I64') {
    const large = numbers.findIndex((x) => !Number.isSafeInteger(x));
    if (large >= 0) throw new Fp4Error('E_SAFETENSORS', `${where}: element ${large} is beyond +-(2^53 - 1)`);
  }
  return numbers;
}
