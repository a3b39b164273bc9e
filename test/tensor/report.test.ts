/** Reports against a plain exact computation over the definition's traces. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeUnit, encodeUnit } from '../../src/format/hif4.ts';
import { hif4Policy, hif4Profiles } from '../../src/format/hif4-policy.ts';
import { decodeBlock, encodeBlock } from '../../src/format/mxfp4.ts';
import { mxfp4Policy, mxfp4Profiles } from '../../src/format/mxfp4-policy.ts';
import { decode, encode, type FloatValue } from '../../src/number/binary-format.ts';
import {
  add,
  compare,
  divide,
  exact,
  fromNumber,
  isZero,
  multiply,
  subtract,
  ZERO,
} from '../../src/number/exact.ts';
import { FP32, fromBinary64, toNumber } from '../../src/number/floats.ts';
import { quantizeTensor } from '../../src/tensor/quantize.ts';

interface Traced {
  readonly scaled: readonly { readonly magnitude: ReturnType<typeof exact> }[] | undefined;
  readonly y: readonly FloatValue[];
}

/** One block by the definition: its scaled values with exact products, and its decoded values. */
function definition(
  format: string,
  x: readonly FloatValue[],
  profile: string,
  set: Record<string, string>,
): Traced {
  if (format === 'hif4') {
    const { word, codes, trace } = encodeUnit(x, hif4Policy(profile, set));
    const y = decodeUnit(word, codes);
    if (trace === undefined) return { scaled: undefined, y };
    // Whatever the policy does with products, the report looks at the product that is not rounded.
    const scaled = trace.input.values.map((v, q) => {
      const increment = ((word >>> (8 + Math.floor(q / 8))) & 1) + ((word >>> (16 + Math.floor(q / 4))) & 1);
      return { magnitude: multiply(multiply(v.magnitude, trace.rcp), exact(1, -increment)) };
    });
    return { scaled, y };
  }
  const { scale, codes, trace } = encodeBlock(x, mxfp4Policy(profile, set));
  return { scaled: trace?.scaled, y: decodeBlock(scale, codes) };
}

/** The value of a decoded element as FP32 holds it: an infinity where it is beyond. */
const asF32 = (v: FloatValue): FloatValue => decode(FP32, encode(FP32, v, 'even', 'nonfinite'));

function expected(
  format: string,
  values: Float64Array,
  profile: string,
  set: Record<string, string>,
): object {
  const size = format === 'hif4' ? 64 : 32;
  const largest = format === 'hif4' ? exact(7, -2) : exact(6);
  let sum = ZERO;
  const count = { nonzero: 0, underflowed: 0, saturated: 0, nonfinite: 0 };
  const blocks = Math.ceil(values.length / size);
  for (let b = 0; b < blocks; b++) {
    const x = Array.from({ length: size }, (_, i) => values[b * size + i] ?? 0);
    const { scaled, y } = definition(format, x.map(fromBinary64), profile, set);
    for (let i = 0; i < size && b * size + i < values.length; i++) {
      if (scaled !== undefined && compare(scaled[i]!.magnitude, largest) > 0) count.saturated++;
      const out = asF32(y[i]!);
      const zero = out.kind === 'finite' && isZero(out.magnitude);
      if (x[i] !== 0 && !Number.isNaN(x[i])) {
        count.nonzero++;
        if (zero) count.underflowed++;
      }
      if (out.kind !== 'finite' || !Number.isFinite(x[i])) {
        count.nonfinite++;
        continue;
      }
      const signed = out.negative ? subtract(ZERO, out.magnitude) : out.magnitude;
      const d = subtract(fromNumber(x[i]!), signed);
      sum = add(sum, multiply(d, d));
    }
  }
  const mse = toNumber(divide(sum, exact(values.length)));
  return {
    elements: values.length,
    blocks,
    mse: count.nonfinite > 0 || !Number.isFinite(mse) ? null : mse,
    underflow: count.nonzero === 0 ? 0 : count.underflowed / count.nonzero,
    saturated: count.saturated / values.length,
    nonfinite: count.nonfinite,
  };
}

const ordinary = fc.double({ min: -8, max: 8, noNaN: true });
const wide = fc
  .tuple(fc.double({ min: -2, max: 2, noNaN: true }), fc.integer({ min: -160, max: 130 }))
  .map(([m, e]) => m * 2 ** e);
const special = fc.constantFrom(
  0,
  -0,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1e300,
  1e-320,
);
const tensors = fc.oneof(
  fc.array(ordinary, { minLength: 1, maxLength: 130 }),
  fc.array(fc.oneof(ordinary, wide), { minLength: 1, maxLength: 70 }),
  fc.array(fc.oneof({ weight: 40, arbitrary: ordinary }, { weight: 1, arbitrary: special }), {
    minLength: 1,
    maxLength: 70,
  }),
  fc.array(special, { minLength: 1, maxLength: 40 }),
);

const POLICIES: [string, string, Record<string, string>][] = [
  ...hif4Profiles.map((p): [string, string, Record<string, string>] => ['hif4', p.name, {}]),
  ['hif4', 'authors', { reciprocal: 'exact', sf: 'quotient' }],
  ['hif4', 'authors', { nonfinite: 'saturate', input: 'f32' }],
  ...mxfp4Profiles.map((p): [string, string, Record<string, string>] => ['mxfp4', p.name, {}]),
  ['mxfp4', 'ocp', { nonfinite: 'saturate', input: 'bf16' }],
];

describe('tensor reports [TEN-11] [TEN-12] [TEN-14] [TEN-15] [TEN-16]', () => {
  test.each(POLICIES)('%s %s %j', (format, profile, set) => {
    fc.assert(
      fc.property(tensors, (list) => {
        const values = Float64Array.from(list);
        let found: object;
        try {
          found = quantizeTensor(values, [values.length], -1, format, profile, set).report;
        } catch (error) {
          expect(error).toMatchObject({ code: 'E_NONFINITE' });
          expect(() => expected(format, values, profile, set)).toThrow();
          return;
        }
        expect(found).toMatchObject(expected(format, values, profile, set));
      }),
      { numRuns: 150 },
    );
  });

  test('by hand: 3 of MXFP4 exact, one tie, one underflow, one saturated [TEN-13]', () => {
    // amax 7.5 gives scale 2^0: 7.5 becomes 6, 2.5 becomes 2, 0.25 becomes 0, -1 and 6 stay.
    const values = Float64Array.of(7.5, 2.5, 0.25, -1, 6, 0);
    const { tensor, report } = quantizeTensor(values, [6], 0, 'mxfp4');
    expect(tensor).toMatchObject({ format: 'mxfp4', profile: 'ocp', shape: [6], axis: 0 });
    expect([...tensor.scales]).toEqual([0x7f]);
    expect([...tensor.codes]).toEqual([0x47, 0xa0, 0x07, ...Array(13).fill(0)]);
    // (2.25 + 0.25 + 0.0625) / 6 = 0.42708333...; the signal is 56.25 + 6.25 + 0.0625 + 1 + 36 = 99.5625.
    expect(report).toEqual({
      elements: 6,
      blocks: 1,
      mse: 2.5625 / 6,
      sqnr_db: 15.8943, // 99.5625 / 2.5625 = 1593 / 41; its log10 is 1.589431919...
      underflow: 1 / 5,
      saturated: 1 / 6,
      nonfinite: 0,
    });
  });

  test('no error, nothing at all, and only zeros', () => {
    expect(quantizeTensor(Float64Array.of(1, 2, 0.5), [3], 0, 'mxfp4').report).toMatchObject({
      mse: 0,
      sqnr_db: null,
    });
    const nothing = {
      elements: 0,
      blocks: 0,
      mse: 0,
      sqnr_db: null,
      underflow: 0,
      saturated: 0,
      nonfinite: 0,
    };
    expect(quantizeTensor(new Float64Array(0), [3, 0], 0, 'hif4').report).toEqual(nothing);
    expect(quantizeTensor(new Float64Array(3), [3], 0, 'hif4').report).toEqual({
      ...nothing,
      elements: 3,
      blocks: 1,
    });
  });

  test('a mean beyond binary64 is null: 1e300 counts as the largest FP32 value [TEN-12]', () => {
    const { report } = quantizeTensor(Float64Array.of(1e300), [1], 0, 'mxfp4', 'ocp', {
      nonfinite: 'saturate',
    });
    expect(report).toMatchObject({ mse: null, sqnr_db: 0, nonfinite: 0 });
  });

  test('the place of a refused NaN is that in the original tensor [CON-05]', () => {
    const values = new Float64Array(24);
    values[17] = Number.NaN; // [1, 1, 1] of [2, 3, 4]
    for (const axis of [0, 1, 2]) {
      expect(() =>
        quantizeTensor(values, [2, 3, 4], axis, 'hif4', 'authors', { nonfinite: 'error' }),
      ).toThrow('element [1,1,1] is NaN');
    }
  });
});
