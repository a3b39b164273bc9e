/** Tensor files made by hand for tests: headers as plain text, elements by DataView. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export type Descr = '<f2' | '>f2' | '<f4' | '>f4' | '<f8' | '>f8' | '<u2' | '>u2';

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fp4-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Bits of each element, one after the other. */
export function elementBytes(bits: readonly bigint[], size: number, little: boolean): Uint8Array {
  const bytes = new Uint8Array(bits.length * size);
  bits.forEach((word, i) => {
    for (let b = 0; b < size; b++) {
      const shift = BigInt(8 * (little ? b : size - 1 - b));
      bytes[i * size + b] = Number((word >> shift) & 0xffn);
    }
  });
  return bytes;
}

/** A .npy file, version 1.0. */
export function npyFile(
  descr: string,
  fortran: boolean,
  shape: readonly number[],
  data: Uint8Array,
): Uint8Array {
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': ${tuple}, }\n`;
  const prefix = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, text.length & 0xff, text.length >> 8];
  return Buffer.concat([Uint8Array.from(prefix), Buffer.from(text, 'latin1'), data]);
}

/** A .safetensors file of a header's text and data. */
export function safetensorsFile(header: object | string, data: Uint8Array): Uint8Array {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

export function write(folder: string, name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}
