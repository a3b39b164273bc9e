/**
 * Small files made for vectors: headers as plain text, so that wrong ones can be made as well. Clauses: spec/tensors.md TEN-01, TEN-02.
 * @module
 */

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

export const bytesOfHex = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, j) => Number.parseInt(hex.slice(2 * j, 2 * j + 2), 16));

const ascii = (text: string): number[] => Array.from(text, (c) => c.charCodeAt(0));

/** A .npy file, version 1.0; the shape is the text of a tuple. */
export function npyBytes(descr: string, fortran: boolean, shape: string, data: Uint8Array): Uint8Array {
  const order = fortran ? 'True' : 'False';
  const text = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }`;
  const padded = `${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`;
  const prefix = [0x93, ...ascii('NUMPY'), 1, 0, padded.length & 0xff, padded.length >> 8];
  return Uint8Array.from([...prefix, ...ascii(padded), ...data]);
}

/** A .safetensors file of a header's text and the tensors' bytes. */
export function safetensorsBytes(header: string, data: Uint8Array): Uint8Array {
  const length = [0, 8, 16, 24].map((shift) => (header.length >>> shift) & 0xff);
  return Uint8Array.from([...length, 0, 0, 0, 0, ...ascii(header), ...data]);
}

/** Bits of each element as bytes, one after the other. */
export function elementBytes(bits: readonly bigint[], size: number, littleEndian: boolean): Uint8Array {
  return Uint8Array.from({ length: bits.length * size }, (_, j) => {
    const byte = j % size;
    const shift = BigInt(8 * (littleEndian ? byte : size - 1 - byte));
    return Number((bits[Math.floor(j / size)]! >> shift) & 0xffn);
  });
}
