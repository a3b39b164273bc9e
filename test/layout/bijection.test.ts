/** Each layout is a bijection between the linear form and its bytes that are not padding, for every shape. */
import { describe, expect, test } from 'vitest';
import { placement, readLayout, writeLayout } from '../../src/layout/convert.ts';
import { byteLength } from '../../src/layout/layout.ts';
import { blockFormat, type Extent, extentOf, type LinearBlocks } from '../../src/layout/linear.ts';
import { LAYOUTS } from '../../src/layout/registry.ts';

const ROWS = 70;
const COLUMNS = 200;

/** Axis of the blocks in a matrix, and pack axis. The second is Ascend's B, K x N. */
const NONE = { axis: 1, packAxis: undefined };
const ALONG_N = { axis: 0, packAxis: 1 };
const PACKINGS = [NONE, ALONG_N, { axis: 1, packAxis: 0 }, { axis: 0, packAxis: 0 }];

const combinations = LAYOUTS.flatMap((layout) =>
  layout.formats.flatMap((format) => {
    const packings = layout.name === 'linear' ? PACKINGS : layout.ownCodes ? [NONE, ALONG_N] : [NONE];
    return packings.map(({ axis, packAxis }) => {
      const packing =
        packAxis === undefined ? '' : `, blocks along ${axis}, pairs along ${packAxis} [LAY-11]`;
      return {
        name: `${layout.name}, ${format}${packing}`,
        layout,
        clause: layout.clause,
        format: blockFormat(format),
        axis,
        packAxis,
      };
    });
  }),
);

/** Bytes that depend on where they stand, without a period. */
const noise = (length: number, seed: number): Uint8Array => {
  const array = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    array[i] = (Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(seed + i, 0x85ebca6b)) >>> 21;
  }
  return array;
};

const bitsSet = (array: Uint8Array): number => {
  let count = 0;
  for (let byte of array) for (; byte !== 0; byte &= byte - 1) count++;
  return count;
};

describe.each(combinations)('$name', ({ layout, clause, format, axis, packAxis }) => {
  const { elements, scaleBytes } = format;
  // Columns that make the same number of blocks are one shape to a layout.
  const extents = Array.from({ length: ROWS + 1 }, (_, rows) =>
    Array.from({ length: Math.ceil(COLUMNS / elements) + 1 }, (_, blocks) =>
      extentOf(format, [rows].toSpliced(axis, 0, blocks * elements), axis),
    ),
  ).flat();

  const sizes = ({ outer, blocks }: Extent) => ({
    codes: (outer[0]! * blocks * elements) / 2,
    scales: outer[0]! * blocks * scaleBytes,
  });
  const write = (extent: Extent, linear: LinearBlocks) =>
    writeLayout(layout, format, extent, linear, packAxis);

  test(`every bit has a place of its own, and padding is written as 00 and not read [${clause}] [LAY-02]`, () => {
    for (const [seed, extent] of extents.entries()) {
      const { codes, scales } = sizes(extent);
      const zeros = write(extent, { codes: new Uint8Array(codes), scales: new Uint8Array(scales) });
      const ones = write(extent, {
        codes: new Uint8Array(codes).fill(0xff),
        scales: new Uint8Array(scales).fill(0xff),
      });
      const { arrays } = placement(layout, format, extent, packAxis);
      expect(Object.values(zeros).map((array) => array.length)).toEqual(arrays.map(byteLength));
      // The padding is 0 here and there. Were two bits of the linear form in one place, fewer would be set.
      expect(Object.values(zeros).map(bitsSet)).toEqual(arrays.map(() => 0));
      expect(Object.values(ones).reduce((sum, array) => sum + bitsSet(array), 0)).toBe(8 * (codes + scales));

      const linear = { codes: noise(codes, seed), scales: noise(scales, ~seed) };
      const stored = write(extent, linear);
      const garbage = Object.fromEntries(
        Object.entries(stored).map(([name, array]) => [
          name,
          array.map((byte, i) => byte | (~ones[name]![i]! & 0xff)),
        ]),
      );
      for (const given of [stored, garbage]) {
        const back = readLayout(layout, format, extent, given, packAxis);
        expect(Buffer.compare(back.codes, linear.codes)).toBe(0);
        expect(Buffer.compare(back.scales, linear.scales)).toBe(0);
      }
    }
  });
});
