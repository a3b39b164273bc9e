/**
 * The binade of a binary64 number, from its bits.
 * @module
 */

const view = new DataView(new ArrayBuffer(8));

/** floor(log2 |x|) of a normal number. */
export function exponentOf(x: number): number {
  view.setFloat64(0, x);
  return ((view.getUint16(0) >>> 4) & 0x7ff) - 1023;
}
