/**
 * From the linear form to the arrays of a layout and back. Clauses: spec/layouts.md LAY-02, LAY-12.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { alongAxis, alongBlocks } from './code-packing.ts';
import { byteLength, type Layout, type Placement } from './layout.ts';
import { type BlockFormat, type Extent, type LinearBlocks, paddedLength, rowsOf } from './linear.ts';

/** The arrays of a layout, as bytes, by name. */
export type StoredBytes = Readonly<Record<string, Uint8Array>>;

/**
 * The arrays that a layout consists of, and where in them everything stands.
 * @param packAxis LAY-11: two codes share a byte along this axis of the tensor, whose axes then keep their order
 * @throws Fp4Error E_USAGE where the layout has no codes of their own to pack, or does not take the format; E_SHAPE for an
 *   axis that does not exist
 */
export function placement(layout: Layout, format: BlockFormat, extent: Extent, packAxis?: number): Placement {
  if (!layout.formats.includes(format.name)) {
    const takes = layout.formats.join(', ');
    throw new Fp4Error('E_USAGE', `layout ${layout.name} takes ${takes}, not ${format.name}`);
  }
  if (packAxis === undefined) return layout.place(format, extent, alongBlocks);
  if (!layout.ownCodes) {
    throw new Fp4Error('E_USAGE', `layout ${layout.name} orders the codes itself; it takes no pack axis`);
  }
  return layout.place(format, extent, alongAxis(packAxis));
}

function checkLength(layout: Layout, name: string, found: Uint8Array, expected: number, why: string): void {
  if (found.length === expected) return;
  const message = `layout ${layout.name}: ${name} has ${found.length} bytes; expected ${expected}, ${why}`;
  throw new Fp4Error('E_LENGTH', message);
}

const linearBytes = (format: BlockFormat, extent: Extent): { codes: number; scales: number } => ({
  codes: (rowsOf(extent) * paddedLength(format, extent)) / 2,
  scales: rowsOf(extent) * extent.blocks * format.scaleBytes,
});

/** Offsets may exceed 2^31, so no shifts. */
const getNibble = (bytes: Uint8Array, nibble: number): number =>
  nibble % 2 === 0 ? bytes[nibble / 2]! & 15 : bytes[(nibble - 1) / 2]! >> 4;

function setNibble(bytes: Uint8Array, nibble: number, code: number): void {
  const odd = nibble % 2;
  const at = (nibble - odd) / 2;
  bytes[at] = odd === 0 ? (bytes[at]! & 0xf0) | code : (bytes[at]! & 0x0f) | (code << 4);
}

/** Visits every code and every byte of a scale once, with its index in the linear form and its place in the layout. */
function walk(
  { code: { nibble }, scale: { offset } }: Placement,
  format: BlockFormat,
  extent: Extent,
  visitCode: (linear: number, nibble: number) => void,
  visitByte: (linear: number, offset: number) => void,
): void {
  const rows = rowsOf(extent);
  const length = paddedLength(format, extent);
  let code = 0;
  let byte = 0;
  for (let row = 0; row < rows; row++) {
    for (let q = 0; q < length; q++) visitCode(code++, nibble(row, q));
    for (let block = 0; block < extent.blocks; block++) {
      for (let b = 0; b < format.scaleBytes; b++) visitByte(byte++, offset(row, block, b));
    }
  }
}

/**
 * LAY-02. Codes and scales in a layout; padding has its stated byte, and where an odd number of codes is paired the nibble 0.
 * @throws Fp4Error E_LENGTH, and as `placement`
 */
export function writeLayout(
  layout: Layout,
  format: BlockFormat,
  extent: Extent,
  { codes, scales }: LinearBlocks,
  packAxis?: number,
): Record<string, Uint8Array> {
  const placed = placement(layout, format, extent, packAxis);
  const expected = linearBytes(format, extent);
  const why = `for ${rowsOf(extent)} rows of ${extent.blocks} ${format.name} blocks`;
  checkLength(layout, 'linear codes', codes, expected.codes, why);
  checkLength(layout, 'linear scales', scales, expected.scales, why);
  const stored = Object.fromEntries(
    placed.arrays.map((array) => [
      array.name,
      new Uint8Array(byteLength(array)).fill(array.name === placed.scale.array ? layout.padding.byte : 0),
    ]),
  );
  const codeBytes = stored[placed.code.array]!;
  const scaleBytes = stored[placed.scale.array]!;
  walk(
    placed,
    format,
    extent,
    (linear, nibble) => setNibble(codeBytes, nibble, getNibble(codes, linear)),
    (linear, offset) => {
      scaleBytes[offset] = scales[linear]!;
    },
  );
  return stored;
}

/**
 * LAY-02. The linear form of what stands in a layout; padding is not looked at.
 * @param stored the layout's arrays by name; others are ignored
 * @throws Fp4Error E_LENGTH for an array of a wrong length, E_USAGE for one that is missing, and as `placement`
 */
export function readLayout(
  layout: Layout,
  format: BlockFormat,
  extent: Extent,
  stored: StoredBytes,
  packAxis?: number,
): LinearBlocks {
  const placed = placement(layout, format, extent, packAxis);
  for (const array of placed.arrays) {
    const found = stored[array.name];
    if (found === undefined) {
      const names = placed.arrays.map(({ name }) => name).join(', ');
      throw new Fp4Error('E_USAGE', `layout ${layout.name}: no array "${array.name}"; expected ${names}`);
    }
    const shape = `${array.type} [${array.shape.join(', ')}]`;
    checkLength(layout, array.name, found, byteLength(array), shape);
  }
  const expected = linearBytes(format, extent);
  const codes = new Uint8Array(expected.codes);
  const scales = new Uint8Array(expected.scales);
  const codeBytes = stored[placed.code.array]!;
  const scaleBytes = stored[placed.scale.array]!;
  walk(
    placed,
    format,
    extent,
    (linear, nibble) => setNibble(codes, linear, getNibble(codeBytes, nibble)),
    (linear, offset) => {
      scales[linear] = scaleBytes[offset]!;
    },
  );
  return { codes, scales };
}
