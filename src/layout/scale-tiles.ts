/**
 * Layouts of matrix units: scales in tiles and cells, codes apart from them.
 * Clauses: spec/layouts.md LAY-07 to LAY-10.
 * @module
 */
import type { Layout } from './layout.ts';
import { type Extent, rowsOf } from './linear.ts';

interface Tiles {
  /** Shape of the array `scales`, U8. */
  readonly shape: readonly number[];
  readonly offset: (row: number, block: number, byte: number) => number;
}

/** Codes by their packing, scales by `tiles`. */
const tiled =
  (tiles: (extent: Extent) => Tiles): Layout['place'] =>
  (format, extent, packing) => {
    const codes = packing(format, extent);
    const { shape, offset } = tiles(extent);
    return {
      arrays: [
        { name: 'codes', type: 'U8', shape: codes.shape },
        { name: 'scales', type: 'U8', shape },
      ],
      code: { array: 'codes', nibble: codes.nibble },
      scale: { array: 'scales', offset },
    };
  };

const div = (a: number, b: number): number => Math.floor(a / b);
const tilesFor = (count: number, size: number): number => Math.ceil(count / size);

const nv128x4: Layout = {
  name: 'nv-128x4',
  clause: 'LAY-07',
  formats: ['mxfp4'],
  ownCodes: true,
  padding: { rule: 'rows to 128, blocks to 4', byte: 0 },
  source: 'cuBLAS, layout of 1D block scaling factors',
  place: tiled((extent) => {
    const across = tilesFor(extent.blocks, 4);
    return {
      shape: [tilesFor(rowsOf(extent), 128), across, 32, 4, 4],
      offset: (row, block) => {
        const tile = div(row, 128) * across + div(block, 4);
        return 512 * tile + 16 * (row % 32) + 4 * (div(row, 32) % 4) + (block % 4);
      },
    };
  }),
};

/** LAY-08. A byte of scale word number `lane` in a cell of 16: E6M2 and E1_8 side by side, then the two bytes of E1_16. */
const hif4CellByte = (cell: number, lane: number, byte: number): number =>
  64 * cell + 32 * div(byte, 2) + 2 * lane + (byte % 2);

/** LAY-08. 16 rows x one group. */
const hif4Cells = tiled((extent) => ({
  shape: [tilesFor(rowsOf(extent), 16), extent.blocks, 2, 16, 2],
  offset: (row, block, byte) => hif4CellByte(div(row, 16) * extent.blocks + block, row % 16, byte),
}));

/** LAY-09. 16 groups in row-major order, whatever rows they are in. */
const hif4RowMajorCells = tiled((extent) => ({
  shape: [tilesFor(rowsOf(extent) * extent.blocks, 16), 2, 16, 2],
  offset: (row, block, byte) => {
    const group = row * extent.blocks + block;
    return hif4CellByte(div(group, 16), group % 16, byte);
  },
}));

/** LAY-10. 16 rows x 2 scales. */
const mxCells = tiled((extent) => {
  const across = tilesFor(extent.blocks, 2);
  return {
    shape: [tilesFor(rowsOf(extent), 16), across, 16, 2],
    offset: (row, block) => 32 * (div(row, 16) * across + div(block, 2)) + 2 * (row % 16) + (block % 2),
  };
});

const ascend = { ownCodes: true, source: 'PTO ISA, golden generators of its tests' } as const;
const hif4Rows = { ...ascend, formats: ['hif4'], padding: { rule: 'rows to 16', byte: 0 } } as const;
const mxRows = {
  ...ascend,
  formats: ['mxfp4'],
  padding: { rule: 'rows to 16, blocks to 2', byte: 0 },
} as const;

export const scaleTiles: readonly Layout[] = [
  nv128x4,
  // A's rows are those of M x K, B's those of N x K: over them both are the same.
  { name: 'hif4-a-zz', clause: 'LAY-08', ...hif4Rows, place: hif4Cells },
  { name: 'hif4-b-nn', clause: 'LAY-08', ...hif4Rows, place: hif4Cells },
  {
    name: 'hif4-exp-dst',
    clause: 'LAY-09',
    ...hif4Rows,
    padding: { rule: 'rows x blocks to 16', byte: 0 },
    place: hif4RowMajorCells,
  },
  { name: 'mx-a-zz', clause: 'LAY-10', ...mxRows, place: mxCells },
  { name: 'mx-b-nn', clause: 'LAY-10', ...mxRows, place: mxCells },
];
