/** Every layout on bytes that were laid out by hand. */
import { describe, expect, test } from 'vitest';
import { placement, readLayout, writeLayout } from '../../src/layout/convert.ts';
import { blockFormat, extentOf, type LinearBlocks } from '../../src/layout/linear.ts';
import { layoutByName } from '../../src/layout/registry.ts';
import { bytes, hex } from './ascend-cases.ts';

interface Given {
  readonly layout: string;
  readonly format: 'hif4' | 'mxfp4';
  readonly shape: readonly number[];
  readonly axis?: number;
  readonly packAxis?: number;
}

const context = ({ layout, format, shape, axis }: Given) => {
  const f = blockFormat(format);
  return [layoutByName(layout, format), f, extentOf(f, shape, axis)] as const;
};

const written = (given: Given, linear: LinearBlocks): Record<string, string> => {
  const stored = writeLayout(...context(given), linear, given.packAxis);
  return Object.fromEntries(Object.entries(stored).map(([name, array]) => [name, hex(array)]));
};

const read = (given: Given, stored: Record<string, Uint8Array>): LinearBlocks =>
  readLayout(...context(given), stored, given.packAxis);

const shapes = (given: Given): Record<string, string> =>
  Object.fromEntries(
    placement(...context(given), given.packAxis).arrays.map(({ name, type, shape }) => [
      name,
      `${type} [${shape.join(', ')}]`,
    ]),
  );

/** Element i has code i mod 16. */
const counting = (count: number): Uint8Array => bytes('1032547698badcfe'.repeat(count / 8));

const zeros = (count: number): Uint8Array => new Uint8Array(count);

describe('linear', () => {
  test('the quantized axis comes last, in whole blocks [LAY-01]', () => {
    expect(shapes({ layout: 'linear', format: 'hif4', shape: [2, 65, 3], axis: 1 })).toEqual({
      codes: 'U8 [2, 3, 64]',
      scales: 'U32 [2, 3, 2]',
    });
    expect(shapes({ layout: 'linear', format: 'mxfp4', shape: [33] })).toEqual({
      codes: 'U8 [32]',
      scales: 'U8 [2]',
    });
    expect(shapes({ layout: 'linear', format: 'mxfp4', shape: [0, 5] })).toEqual({
      codes: 'U8 [0, 16]',
      scales: 'U8 [0, 1]',
    });
  });

  test('writing and reading change nothing, and the bytes are a copy [LAY-01]', () => {
    const linear = { codes: counting(32), scales: bytes('01020304') };
    const given: Given = { layout: 'linear', format: 'hif4', shape: [64] };
    expect(written(given, linear)).toEqual({ codes: hex(linear.codes), scales: '01020304' });
    expect(read(given, { ...linear })).toEqual(linear);
    expect(read(given, { ...linear }).codes).not.toBe(linear.codes);
  });
});

describe('fault L1: nibble order', () => {
  // Elements {1, 2}, then zeros.
  const linear = { codes: bytes(`42${'00'.repeat(15)}`), scales: bytes('7f') };

  test('codes 2 and 4 are 42 low-first [LAY-01]', () => {
    expect(written({ layout: 'linear', format: 'mxfp4', shape: [32] }, linear)['codes']!.slice(0, 4)).toBe(
      '4200',
    );
  });

  test('and 24 high-first [LAY-03]', () => {
    const given: Given = { layout: 'high-first', format: 'mxfp4', shape: [32] };
    expect(written(given, linear)).toEqual({ codes: `24${'00'.repeat(15)}`, scales: '7f' });
    expect(read(given, { codes: bytes(`24${'00'.repeat(15)}`), scales: bytes('7f') })).toEqual(linear);
  });

  test('high-first exchanges the nibbles of every byte and leaves scale words [LAY-03]', () => {
    const given: Given = { layout: 'high-first', format: 'hif4', shape: [64] };
    expect(written(given, { codes: counting(32), scales: bytes('a1b2c3d4') })).toEqual({
      codes: '0123456789abcdef'.repeat(4),
      scales: 'a1b2c3d4',
    });
  });
});

describe('hif4-unit36', () => {
  const given: Given = { layout: 'hif4-unit36', format: 'hif4', shape: [1, 128] };
  const linear = {
    codes: bytes(`${'10'.repeat(31)}32${'54'.repeat(31)}76`),
    scales: bytes('c0010200b1fe0380'),
  };
  const unit36 = `${'10'.repeat(31)}32c0010200${'54'.repeat(31)}76b1fe0380`;

  test('codes, then the scale word, unit after unit [LAY-04]', () => {
    expect(shapes(given)).toEqual({ units: 'U8 [1, 2, 36]' });
    expect(written(given, linear)).toEqual({ units: unit36 });
    expect(read(given, { units: bytes(unit36) })).toEqual(linear);
  });
});

describe('fault L2: the halves of a ggml block', () => {
  const given: Given = { layout: 'ggml', format: 'mxfp4', shape: [32] };

  test('qs[0] = 42 under e = 127 is y0 = 1 and y16 = 2, codes 2 and 4 [LAY-05]', () => {
    const block = bytes(`7f42${'00'.repeat(15)}`);
    // Byte 0 has element 0 below, byte 8 element 16.
    const linear = { codes: bytes(`02${'00'.repeat(7)}04${'00'.repeat(7)}`), scales: bytes('7f') };
    expect(read(given, { blocks: block })).toEqual(linear);
    expect(written(given, linear)).toEqual({ blocks: hex(block) });
  });

  test('byte j has element j below and element j + 16 above, the scale first [LAY-05]', () => {
    // Elements 0 to 15 are 0, 1, ..., f and so are elements 16 to 31; in the second block they count down.
    const two: Given = { ...given, shape: [2, 20] };
    const linear = {
      codes: bytes(`${'1032547698badcfe'.repeat(2)}${'efcdab8967452301'.repeat(2)}`),
      scales: bytes('8001'),
    };
    expect(shapes(two)).toEqual({ blocks: 'U8 [2, 1, 17]' });
    expect(written(two, linear)).toEqual({
      blocks: '8000112233445566778899aabbccddeeff01ffeeddccbbaa99887766554433221100',
    });
  });
});

test('gpt-oss: blocks of 16 bytes in a dimension of their own, scales apart [LAY-06]', () => {
  const given: Given = { layout: 'gpt-oss', format: 'mxfp4', shape: [2, 3, 64] };
  const linear = { codes: counting(192), scales: bytes('707172737475767778797a7b') };
  expect(shapes(given)).toEqual({ _blocks: 'U8 [2, 3, 2, 16]', _scales: 'U8 [2, 3, 2]' });
  expect(written(given, linear)).toEqual({ _blocks: hex(linear.codes), _scales: '707172737475767778797a7b' });
  expect(read(given, { _blocks: linear.codes, _scales: linear.scales })).toEqual(linear);
});

describe('nv-128x4', () => {
  /** The scales array, with one scale 01 at a row and a block. */
  const offsetOf = (shape: readonly number[], row: number, block: number): number => {
    const given: Given = { layout: 'nv-128x4', format: 'mxfp4', shape };
    const rows = shape[0]!;
    const blocks = Math.ceil(shape[1]! / 32);
    const scales = zeros(rows * blocks);
    scales[row * blocks + block] = 1;
    const stored = written(given, { codes: zeros(rows * blocks * 16), scales })['scales']!;
    return stored.indexOf('01') / 2;
  };

  // A tile's 512 bytes: 32 lines of 16; line r has rows r, r + 32, r + 64, r + 96, four scales of each.
  test.each([
    [0, 0, 0],
    [0, 3, 3],
    [1, 0, 16],
    [31, 0, 496],
    [32, 0, 4],
    [33, 2, 22],
    [64, 0, 8],
    [127, 3, 511],
    // 2 x 2 tiles, those along K next to each other.
    [0, 4, 512],
    [128, 0, 1024],
    [199, 5, 1024 + 512 + 7 * 16 + 2 * 4 + 1],
  ])('row %d, scale %d stands at byte %d [LAY-07]', (row, block, offset) => {
    expect(offsetOf([200, 192], row, block)).toBe(offset);
  });

  test('fault L5: both dimensions are padded, rows to 128 and scales to 4 [LAY-07]', () => {
    expect(shapes({ layout: 'nv-128x4', format: 'mxfp4', shape: [130, 160] })).toEqual({
      codes: 'U8 [130, 80]',
      scales: 'U8 [2, 2, 32, 4, 4]',
    });
    // 3 rows of 5 scales: two tiles; 15 scales and 1009 bytes 00.
    const given: Given = { layout: 'nv-128x4', format: 'mxfp4', shape: [3, 160] };
    const scales = bytes('010203040511121314152122232425');
    const lines = (rows: string[]): string =>
      rows
        .map((row) => row.padEnd(32, '0'))
        .join('')
        .padEnd(1024, '0');
    expect(written(given, { codes: zeros(240), scales })['scales']).toBe(
      lines(['01020304', '11121314', '21222324']) + lines(['05', '15', '25']),
    );
  });
});

describe('fault L3: a tail of K has its own scale', () => {
  test.each([
    ['mxfp4', 1, 1],
    ['mxfp4', 32, 1],
    ['mxfp4', 33, 2],
    ['mxfp4', 1504, 47],
    ['hif4', 64, 1],
    ['hif4', 65, 2],
  ] as const)('%s with K = %d has %d scales a row [LAY-01]', (format, k, blocks) => {
    expect(extentOf(blockFormat(format), [3, k]).blocks).toBe(blocks);
  });
});

describe('fault L4: pad scales are not read', () => {
  // K = 1504 has 47 scales; the 48th byte of every row is padding.
  const linear = { codes: zeros(2 * 752), scales: Uint8Array.from({ length: 94 }, (_, i) => 1 + i) };

  test.each([
    // Row 1, scale 47: tile 11 (of 12 along K), line 1, byte 3.
    ['nv-128x4', 11 * 512 + 16 + 3, 'LAY-07'],
    // Row 1, scale 47: cell 23 (of 24), pair 1, byte 1.
    ['mx-a-zz', 23 * 32 + 2 + 1, 'LAY-10'],
    ['mx-b-nn', 23 * 32 + 2 + 1, 'LAY-10'],
  ])('%s: a ff in the 48th, at byte %d [%s]', (layout, pad) => {
    const given: Given = { layout, format: 'mxfp4', shape: [2, 1504] };
    const scales = bytes(written(given, linear)['scales']!);
    // Its neighbour is the 47th scale of row 1, the last one.
    expect(scales.subarray(pad - 1, pad + 1)).toEqual(Uint8Array.of(94, 0));
    scales[pad] = 0xff;
    expect(read(given, { codes: linear.codes, scales })).toEqual(linear);
  });
});

describe('cells of HiF4', () => {
  /** Row r, group g: E6M2 rg with r and g as digits, E1_8 e0 + g, E1_16 c0 + r (low), d0 + g (high). */
  const words = (rows: number, groups: number): Uint8Array =>
    Uint8Array.from(
      Array.from({ length: rows * groups }, (_, i) => {
        const [r, g] = [Math.floor(i / groups), i % groups];
        return [16 * r + g, 0xe0 + g, 0xc0 + r, 0xd0 + g];
      }).flat(),
    );

  test.each(['hif4-a-zz', 'hif4-b-nn'])('%s: cell after cell along K, pad rows 00 [LAY-08]', (layout) => {
    const given: Given = { layout, format: 'hif4', shape: [3, 100] };
    expect(shapes(given)['scales']).toBe('U8 [1, 2, 2, 16, 2]');
    const half = (pairs: string): string => pairs.padEnd(64, '0');
    expect(written(given, { codes: zeros(192), scales: words(3, 2) })['scales']).toBe(
      half('00e010e020e0') + half('c0d0c1d0c2d0') + half('01e111e121e1') + half('c0d1c1d1c2d1'),
    );
  });

  test('hif4-a-zz: row 17 is lane 1 of the second row of cells [LAY-08]', () => {
    const scales = zeros(20 * 3 * 4);
    scales.set([0xa1, 0xa2, 0xa3, 0xa4], (17 * 3 + 2) * 4);
    const given: Given = { layout: 'hif4-a-zz', format: 'hif4', shape: [20, 192] };
    const stored = bytes(written(given, { codes: zeros(20 * 96), scales })['scales']!);
    // Cells: 3 for rows 0 to 15, then group 0, 1, 2 of rows 16 to 31.
    const cell = 64 * 5;
    expect([cell + 2, cell + 3, cell + 34, cell + 35].map((at) => stored[at])).toEqual([
      0xa1, 0xa2, 0xa3, 0xa4,
    ]);
  });

  test('hif4-exp-dst: 16 groups in row-major order a cell, pad groups 00 [LAY-09]', () => {
    const given: Given = { layout: 'hif4-exp-dst', format: 'hif4', shape: [3, 100] };
    expect(shapes(given)['scales']).toBe('U8 [1, 2, 16, 2]');
    expect(written(given, { codes: zeros(192), scales: words(3, 2) })['scales']).toBe(
      '00e001e110e011e120e021e1'.padEnd(64, '0') + 'c0d0c0d1c1d0c1d1c2d0c2d1'.padEnd(64, '0'),
    );
  });

  test('fault L7: every group has its own E6M2, the golden generator those of group i - 64 from 128 on [LAY-09]', () => {
    // 64 x 256: group i is word i, and has E6M2 i.
    const given: Given = { layout: 'hif4-exp-dst', format: 'hif4', shape: [64, 256] };
    const e6m2 = Array.from({ length: 256 }, (_, i) => i);
    const field = (own: readonly number[]): Uint8Array => {
      const cells = Array.from({ length: 16 }, (_, cell) => {
        const groups = own.slice(16 * cell, 16 * cell + 16);
        return [...groups.flatMap((e) => [e, 0x55]), ...groups.flatMap(() => [0x66, 0x77])];
      });
      return Uint8Array.from(cells.flat());
    };
    const faulty = e6m2.map((own, i) => (i < 128 ? own : e6m2[i - 64]!));
    const scales = Uint8Array.from(e6m2.flatMap((e) => [e, 0x55, 0x66, 0x77]));
    const stored = bytes(written(given, { codes: zeros(64 * 128), scales })['scales']!);
    expect(stored).toEqual(field(e6m2));
    const different = [...field(faulty)].flatMap((byte, at) => (byte === stored[at] ? [] : [at]));
    // The E6M2 byte of group i stands at 64 (i div 16) + 2 (i mod 16).
    const e6m2At = e6m2.map((i) => 64 * Math.floor(i / 16) + 2 * (i % 16));
    expect(different[0]).toBe(512);
    expect(different).toEqual(e6m2At.slice(128));
  });
});

describe('cells of MX', () => {
  test.each(['mx-a-zz', 'mx-b-nn'])(
    '%s: an odd number of scales and 3 rows, padded with 00 [LAY-10]',
    (layout) => {
      const given: Given = { layout, format: 'mxfp4', shape: [3, 96] };
      expect(shapes(given)['scales']).toBe('U8 [1, 2, 16, 2]');
      expect(written(given, { codes: zeros(144), scales: bytes('101112202122303132') })['scales']).toBe(
        '101120213031'.padEnd(64, '0') + '120022003200'.padEnd(64, '0'),
      );
    },
  );

  test('mx-a-zz: rows of cells follow each other [LAY-10]', () => {
    const scales = zeros(18 * 3);
    scales[17 * 3 + 1] = 0xab;
    const given: Given = { layout: 'mx-a-zz', format: 'mxfp4', shape: [18, 96] };
    const stored = written(given, { codes: zeros(18 * 48), scales })['scales']!;
    // Two cells for rows 0 to 15, then lane 1, scale 1.
    expect(stored.indexOf('ab') / 2).toBe(2 * 32 + 2 + 1);
  });
});

describe('packing along another axis', () => {
  // B is 32 x 3, blocks along axis 0; column n has codes n + 1, only k = 0 and k = 31 differ.
  const column = (n: number): string => `${n + 1}8${`${n + 1}${n + 1}`.repeat(14)}f${n + 1}`;
  const linear = {
    codes: bytes([0, 1, 2].map(column).join('')),
    scales: bytes('7d7e7f'),
  };
  const given: Given = { layout: 'linear', format: 'mxfp4', shape: [32, 3], axis: 0, packAxis: 1 };

  test('byte (k, n div 2), even n low, an odd N ends with the nibble 0 [LAY-11]', () => {
    expect(shapes(given)).toEqual({ codes: 'U8 [32, 2]', scales: 'U8 [3, 1]' });
    const stored = written(given, linear);
    // k = 0: codes 8, 8, 8; k = 1 to 29: 1, 2, 3; k = 30: 1, 2, 3; k = 31: f, f, f.
    expect(stored['codes']).toBe(`8808${'2103'.repeat(30)}ff0f`);
    expect(stored['scales']).toBe('7d7e7f');
    expect(read(given, { codes: bytes(stored['codes']!), scales: linear.scales })).toEqual(linear);
  });

  test('the nibble that an odd N leaves over is not read [LAY-11]', () => {
    const codes = bytes(`88a8${'21a3'.repeat(30)}ffaf`);
    expect(read(given, { codes, scales: linear.scales })).toEqual(linear);
  });

  test('N x K: the same pairs, byte (n div 2, k) [LAY-11]', () => {
    const transposed: Given = { ...given, shape: [3, 32], axis: 1, packAxis: 0 };
    expect(shapes(transposed)['codes']).toBe('U8 [2, 32]');
    expect(written(transposed, linear)['codes']).toBe(`88${'21'.repeat(30)}ff08${'03'.repeat(30)}0f`);
  });

  test('K is padded to whole blocks, and pairs can be along it in place [LAY-11]', () => {
    const padded: Given = { ...given, shape: [30, 3], packAxis: 0 };
    expect(shapes(padded)['codes']).toBe('U8 [16, 3]');
    // Byte (k div 2, n): 18, 28, 38 for k = 0, 1; the linear bytes of the three columns side by side.
    expect(written(padded, linear)['codes']).toBe(`182838${'112233'.repeat(14)}f1f2f3`);
  });

  test('more dimensions keep their order [LAY-11]', () => {
    // 2 x 32 x 2, blocks along axis 1, pairs along axis 0: byte (0, k, n).
    const deep: Given = { ...given, shape: [2, 32, 2], axis: 1, packAxis: 0 };
    const rows = ['1', '2', '3', '4'].map((digit) => digit.repeat(32)).join('');
    expect(shapes(deep)).toEqual({ codes: 'U8 [1, 32, 2]', scales: 'U8 [2, 2, 1]' });
    expect(written(deep, { codes: bytes(rows), scales: zeros(4) })['codes']).toBe('3142'.repeat(32));
  });

  test('high-first exchanges the nibbles of these bytes too [LAY-03] [LAY-11]', () => {
    expect(written({ ...given, layout: 'high-first' }, linear)['codes']).toBe(`8880${'1230'.repeat(30)}fff0`);
  });
});
