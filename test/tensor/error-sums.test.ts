/** Sums by groups against the same sums element by element on exact numbers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { add, compare, type Exact, fromNumber, multiply, subtract, ZERO } from '../../src/number/exact.ts';
import { SumOfSquares } from '../../src/number/exact-sum.ts';
import { addElements } from '../../src/tensor/error-sums.ts';
import { ReportBuilder } from '../../src/tensor/report.ts';

const f32Of = (word: number): number => new Float32Array(Uint32Array.of(word).buffer)[0]!;

/** What TEN-12 to TEN-16 say of each element, one after the other. */
function byDefinition(x: readonly number[], y: readonly number[]) {
  let signal = ZERO;
  let error = ZERO;
  const counts = { nonzero: 0, underflowed: 0, nonfinite: 0 };
  const square = (a: Exact): Exact => multiply(a, a);
  x.forEach((word, i) => {
    const [a, b] = [f32Of(word), f32Of(y[i]!)];
    if (a !== 0 && !Number.isNaN(a)) counts.nonzero++;
    if (a !== 0 && !Number.isNaN(a) && b === 0) counts.underflowed++;
    if (!Number.isFinite(a) || !Number.isFinite(b)) {
      counts.nonfinite++;
      return;
    }
    signal = add(signal, square(fromNumber(a)));
    error = add(error, square(subtract(fromNumber(a), fromNumber(b))));
  });
  return { signal, error, counts };
}

function compared(x: readonly number[], y: readonly number[]): void {
  const signal = new SumOfSquares();
  const error = new SumOfSquares();
  const counts = { nonzero: 0, underflowed: 0, nonfinite: 0 };
  addElements(signal, error, counts, Uint32Array.from(x), Uint32Array.from(y));
  const expected = byDefinition(x, y);
  expect(counts).toEqual(expected.counts);
  expect(compare(signal.value(), expected.signal)).toBe(0);
  expect(compare(error.value(), expected.error)).toBe(0);
}

/** A finite word within `spread` exponents below `top`, of any sign and fraction. */
const near = (top: number, spread: number): fc.Arbitrary<number> =>
  fc
    .tuple(fc.integer({ min: Math.max(0, top - spread), max: top }), fc.nat(0x7fffff), fc.boolean())
    .map(([field, fraction, negative]) => ((negative ? 0x80000000 : 0) | (field << 23) | fraction) >>> 0);

const pairs = (word: (top: number) => fc.Arbitrary<number>): fc.Arbitrary<[number, number][]> =>
  fc
    .integer({ min: 0, max: 254 })
    .chain((top) => fc.array(fc.tuple(word(top), word(top)), { minLength: 1, maxLength: 140 }));

/** y is x with its last bits cut off, as a quantizer makes it, or zero. */
const quantizedPairs = fc.integer({ min: 0, max: 254 }).chain((top) =>
  fc.array(
    fc
      .tuple(near(top, 8), fc.integer({ min: 18, max: 24 }))
      .map(([x, bits]): [number, number] => [x, ((x >>> bits) << bits) >>> 0]),
    { minLength: 1, maxLength: 140 },
  ),
);

describe('sums by groups are exact [TEN-12] [TEN-13] [TEN-14] [TEN-16]', () => {
  test.each<[string, fc.Arbitrary<[number, number][]>]>([
    ['words of like exponents', pairs((top) => near(top, 6))],
    ['words of far exponents', pairs((top) => near(top, 60))],
    ['any finite words', pairs(() => near(254, 254))],
    ['any words, NaN and infinity too', pairs(() => fc.nat(0xffffffff))],
    ['zeros among words', pairs((top) => fc.oneof(near(top, 6), fc.constantFrom(0, 0x80000000)))],
    ['quantized words', quantizedPairs],
  ])('%s', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (list) => {
        compared(
          list.map(([x]) => x),
          list.map(([, y]) => y),
        );
      }),
      { numRuns: 300 },
    );
  });

  test.each([0, 1, 2, 23, 100, 127, 200, 253, 254])(
    'the bounds of the short way, exponent field %i: full groups of the largest words, opposite signs, and each lower exponent',
    (field) => {
      const largest = (field << 23) | 0x7fffff;
      for (let below = 0; below <= Math.min(field, 60); below++) {
        const small = ((field - below) << 23) | 0x7fffff;
        for (const other of [largest, (largest | 0x80000000) >>> 0, small, 0]) {
          const x = Array.from({ length: 128 }, (_, i) => (i % 64 === 63 ? small : largest));
          compared(x, Array(128).fill(other));
        }
      }
    },
  );
});

test('parts gathered apart and put together give the same report [TEN-23]', () => {
  fc.assert(
    fc.property(
      pairs((top) => near(top, 40)),
      fc.nat(140),
      (list, cut) => {
        const x = Uint32Array.from(list, ([word]) => word);
        const y = Uint32Array.from(list, ([, word]) => word);
        const whole = new ReportBuilder();
        whole.elements(x, y);
        whole.blocks(5, 3);
        const sum = new ReportBuilder();
        for (const [from, to, blocks, saturated] of [
          [cut, 1000, 2, 0],
          [0, cut, 3, 3],
        ] as const) {
          const part = new ReportBuilder();
          part.elements(x.subarray(from, to), y.subarray(from, to));
          part.blocks(blocks, saturated);
          sum.add(structuredClone(part.parts()));
        }
        expect(sum.report()).toEqual(whole.report());
      },
    ),
  );
});
