/** Pieces and runs against plain index arithmetic. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fp4Error } from '../../src/error.ts';
import {
  blocksOf,
  forEachRow,
  geometry,
  multiIndex,
  normalizedAxis,
  runs,
  tileDepth,
  tiles,
} from '../../src/tensor/geometry.ts';

const shapes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 });
const cases = shapes.chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    axis: fc.nat({ max: shape.length - 1 }),
    order: fc.constantFrom('C' as const, 'F' as const),
    block: fc.constantFrom(1, 2, 4),
    budget: fc.integer({ min: 1, max: 300 }),
  }),
);

/** Every multi-index, last dimension fastest. */
function indices(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (lists, size) => lists.flatMap((list) => Array.from({ length: size }, (_, i) => [...list, i])),
    [[]],
  );
}

/** Where an element lies, by the definition of the two orders. */
function memoryIndex(shape: readonly number[], index: readonly number[], order: 'C' | 'F'): number {
  const digits = shape.map((size, d) => [size, index[d]!] as const);
  if (order === 'F') digits.reverse();
  return digits.reduce((at, [size, i]) => at * size + i, 0);
}

describe('tiles and runs [TEN-05] [TEN-06]', () => {
  test('each element once, in its row and at its place, whole blocks but at the end', () => {
    fc.assert(
      fc.property(cases, ({ shape, axis, order, block, budget }) => {
        const g = geometry(shape, axis, order);
        // Row of the quantized tensor and position in it, by element in memory.
        const outerShape = shape.filter((_, d) => d !== axis);
        const expected = new Map<number, string>();
        for (const index of indices(shape)) {
          const row = memoryIndex(
            outerShape,
            index.filter((_, d) => d !== axis),
            'C',
          );
          expected.set(memoryIndex(shape, index, order), `${row}:${index[axis]}`);
          expect(multiIndex(g, row, index[axis]!)).toEqual(index);
        }
        const found = new Map<number, string>();
        for (const tile of tiles(g, block, budget)) {
          expect(tile.k[0] % block).toBe(0);
          if (tile.k[1] !== g.k) expect(tile.k[1] % block).toBe(0);
          const memory: number[] = [];
          for (const { start, count, at } of runs(g, tile)) {
            expect(at).toBe(memory.length);
            for (let i = 0; i < count; i++) memory.push(start + i);
          }
          const width = tile.fast[1] - tile.fast[0];
          forEachRow(g, tile, (_index, first, row) => {
            for (let j = 0; j < tileDepth(tile); j++) {
              const element = memory[first + j * width]!;
              expect(found.has(element)).toBe(false);
              found.set(element, `${row}:${tile.k[0] + j}`);
            }
          });
        }
        expect(found).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  test('pieces stay within their budget of padded elements, down to one block', () => {
    fc.assert(
      fc.property(cases, ({ shape, axis, order, block, budget }) => {
        const g = geometry(shape, axis, order);
        for (const tile of tiles(g, block, budget)) {
          const rows = (tile.slow[1] - tile.slow[0]) * (tile.fast[1] - tile.fast[0]);
          expect(rows * blocksOf(tileDepth(tile), block) * block).toBeLessThanOrEqual(
            Math.max(budget, block),
          );
        }
      }),
    );
  });

  test('an empty dimension has no pieces', () => {
    for (const shape of [[0], [0, 3], [3, 0], [2, 0, 4]]) {
      for (let axis = 0; axis < shape.length; axis++) {
        expect([...tiles(geometry(shape, axis, 'C'), 64, 1000)]).toEqual([]);
      }
    }
  });
});

describe('axis [TEN-05]', () => {
  test.each([
    [[5], -1, 0],
    [[5, 6, 7], -1, 2],
    [[5, 6, 7], -3, 0],
    [[5, 6, 7], 1, 1],
  ])('of %j: %i is %i', (shape, axis, expected) => {
    expect(normalizedAxis(shape, axis, 'x')).toBe(expected);
  });

  test.each([
    [[], 0],
    [[], -1],
    [[5], 1],
    [[5], -2],
    [[5, 6], 0.5],
    [[5, 6], Number.NaN],
  ])('of %j: %d is refused', (shape, axis) => {
    expect(() => normalizedAxis(shape, axis, 'x')).toThrow(Fp4Error);
  });
});
