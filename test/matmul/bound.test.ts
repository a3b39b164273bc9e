/** Proven bounds: no order of FP32 additions and no chain of a truncating unit leaves them; the screen decides as exact numbers do. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { truncatingModel } from '../../src/matmul/acceptance.ts';
import { rank, type TruncatingModel } from '../../src/matmul/bound.ts';
import { gemm } from '../../src/matmul/gemm.ts';
import type { Operand } from '../../src/matmul/operand.ts';
import { blockOperand } from '../../src/matmul/operand-blocks.ts';
import { plainOperand } from '../../src/matmul/operand-plain.ts';
import type { OutputName } from '../../src/matmul/output.ts';
import { ranges, sortedTerms, verdict } from '../../src/matmul/verdict.ts';
import { blockValues, dot, FRACTION, roundedWord, scaledNumber } from './big-dot.ts';

const FP32 = { kind: 'fp32', name: 'bound:fp32' } as const;

const wordOf = (x: number): number => new Uint32Array(Float32Array.of(x).buffer)[0]!;

/** A sum in FP32 by adding two random partial sums until one is left: every tree of additions has some such order. */
function randomTree(values: readonly number[], picks: readonly number[]): number {
  const rest = [...values];
  let p = 0;
  while (rest.length > 1) {
    const [x] = rest.splice(picks[p++ % picks.length]! % rest.length, 1);
    const at = picks[p++ % picks.length]! % rest.length;
    rest[at] = Math.fround(x! + rest[at]!);
  }
  return rest[0] ?? 0;
}

const code = fc.integer({ min: 0, max: 255 });

/** Two rows of a format whose terms differ in size as widely as `span` allows. */
const rows = (format: 'hif4' | 'mxfp4', span: number) => {
  const [block, bytes, middle] = format === 'hif4' ? [64, 4, 190] : [32, 1, 125];
  const row = fc.integer({ min: 1, max: 4 }).chain((groups) =>
    fc.record({
      depth: fc.integer({ min: (groups - 1) * block + 1, max: groups * block }),
      codes: fc.uint8Array({ minLength: groups * block, maxLength: groups * block }),
      scales: fc.array(fc.tuple(fc.integer({ min: middle - span, max: middle + span }), code, code, code), {
        minLength: 2 * groups,
        maxLength: 2 * groups,
      }),
    }),
  );
  return row.map(({ depth, codes, scales }) => {
    const flat = Uint8Array.from(scales.flatMap((s) => s.slice(0, bytes)));
    const half = flat.length / 2;
    const packed = [0, 1].map((k) => ({
      codes: codes.slice((k * codes.length) / 2, ((k + 1) * codes.length) / 2),
      scales: flat.slice(k * half, (k + 1) * half),
    }));
    const operands = packed.map((p) => blockOperand(format, p, 1, depth));
    const values = packed.map((p) => blockValues(format, p.codes, p.scales).slice(0, depth) as bigint[]);
    return { a: operands[0]!, b: operands[1]!, x: values[0]!, y: values[1]!, depth };
  });
};

const judged = (a: Operand, b: Operand, word: number, output: OutputName = 'f32', c?: number) =>
  verdict({
    a,
    b,
    found: Uint32Array.of(word),
    output,
    acceptances: [FP32],
    ...(c !== undefined && { c: Float32Array.of(c) }),
  }).acceptances[0]!;

describe.each(['hif4', 'mxfp4'] as const)('%s: any order of FP32 additions [BND-01]', (format) => {
  test.each([1, 8])('never leaves the bound, scales within %i', (span) => {
    const picks = fc.array(fc.nat(), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(
        rows(format, span),
        picks,
        fc.option(fc.float({ noNaN: true, noDefaultInfinity: true, min: -1000, max: 1000 })),
        ({ a, b }, order, c) => {
          const values = sortedTerms(a, 0, b, 0).map(({ value }) => value);
          const all = c === null ? values : [...values, c];
          const result = judged(a, b, wordOf(randomTree(all, order)), 'f32', c ?? undefined);
          expect(result.outside).toBe(0);
        },
      ),
      { numRuns: 400 },
    );
  });
});

/** BND-01 and BND-03 once more, on BigInt alone. */
function bigRange(x: readonly bigint[], y: readonly bigint[], output: OutputName): [number, number] {
  const products = x.map((v, k) => v * y[k]!).filter((v) => v !== 0n);
  const total = products.reduce((sum, v) => sum + (v < 0n ? -v : v), 0n);
  const m = Math.max(0, products.length - 1);
  const exactSum = dot(x, y);
  const bound = total * ((2n ** 24n + 1n) ** BigInt(m) - 2n ** BigInt(24 * m));
  const down = (exactSum << BigInt(24 * m)) - bound;
  const up = (exactSum << BigInt(24 * m)) + bound;
  const fits = (v: bigint): number => {
    // A sticky bit keeps the side of every tie.
    const shifted = v >> BigInt(24 * m);
    const rest = v - (shifted << BigInt(24 * m));
    return roundedWord((shifted << 1n) | (rest === 0n ? 0n : 1n), output, 1);
  };
  return [fits(down), fits(up)];
}

test.each(['f32', 'bf16', 'f16'] as const)(
  'admitted outputs are those of exact numbers, in %s [BND-02] [BND-03] [BND-07]',
  (output) => {
    fc.assert(
      fc.property(rows('mxfp4', 2), fc.integer({ min: -3, max: 3 }), ({ a, b, x, y }, off) => {
        const [low, high] = bigRange(x, y, output);
        expect(ranges({ a, b, output }, FP32)).toEqual({
          low: Uint32Array.of(low),
          high: Uint32Array.of(high),
        });
        for (const end of [low, high]) {
          const word = Math.abs(rank(end, output)) + off;
          if (word < 0) continue;
          const signed =
            end > 0x7fff && output !== 'f32' ? word + 0x8000 : end > 0x7fffffff ? word + 0x80000000 : word;
          const place = rank(signed, output);
          const outside = Number(place < rank(low, output) || place > rank(high, output));
          expect(judged(a, b, signed, output).outside).toBe(outside);
        }
      }),
      { numRuns: 300 },
    );
  },
);

test('0 and -0 are equal under a bound, NaN is only NaN, one term admits one output [BND-03]', () => {
  const [a, b] = [
    plainOperand('bf16', Float64Array.of(3, 0), 1, 2),
    plainOperand('bf16', Float64Array.of(0.5, 7), 1, 2),
  ];
  expect(ranges({ a, b, output: 'f32' }, FP32)).toEqual({
    low: Uint32Array.of(wordOf(1.5)),
    high: Uint32Array.of(wordOf(1.5)),
  });
  const zero = plainOperand('bf16', Float64Array.of(0, 0), 1, 2);
  expect(judged(zero, b, 0x80000000).outside).toBe(0);
  expect(judged(zero, b, 0x7fc00000).outside).toBe(1);
  const nan = plainOperand('bf16', Float64Array.of(Number.NaN, 0), 1, 2);
  expect(judged(nan, b, 0xffc00001).outside).toBe(0);
  expect(judged(nan, b, 0).outside).toBe(1);
});

test('where a bound proves nothing it says so [BND-04]', () => {
  const count = (x: number[], y: number[], format = 'bf16') =>
    judged(
      plainOperand(format, Float64Array.from(x), 1, x.length),
      plainOperand(format, Float64Array.from(y), 1, y.length),
      0,
    ).conditions;
  expect(count([1, 1], [1, 1])).toEqual({ inexact: 0, overflow: 0, subnormal: 0 });
  expect(count([1 + 2 ** -23], [1 + 2 ** -23], 'f32')).toEqual({ inexact: 1, overflow: 0, subnormal: 0 });
  expect(count([2 ** 127, -(2 ** 127)], [1, 1])).toEqual({ inexact: 0, overflow: 1, subnormal: 0 });
  expect(count([2 ** -100, 1], [2 ** -40, 1])).toEqual({ inexact: 0, overflow: 0, subnormal: 1 });
  expect(count([2 ** -100, 1], [2 ** -60, 1])).toEqual({ inexact: 1, overflow: 0, subnormal: 1 });
});

/** Toward zero to a multiple of 2^quantum, on integers over 2^(2 x FRACTION). */
function truncated(x: bigint, quantum: number): bigint {
  const unit = 1n << BigInt(2 * FRACTION + quantum);
  return (x / unit) * unit;
}

const floorLog2 = (x: bigint): number => (x < 0n ? -x : x).toString(2).length - 1 - 2 * FRACTION;

/** A chain of a unit that aligns by the elements' exponents, on BigInt alone. */
function chain(
  x: readonly bigint[],
  y: readonly bigint[],
  order: readonly number[],
  model: TruncatingModel,
  c: bigint,
): bigint {
  let d = c;
  const products = order.map((k) => x[k]! * y[k]!);
  for (let at = 0; at < products.length; at += model.group) {
    const step = [...products.slice(at, at + model.group), d].filter((v) => v !== 0n);
    if (step.length === 0) continue;
    const e = Math.max(model.exponentFloor, ...step.map(floorLog2));
    const sum = step.reduce((s, v) => s + truncated(v, e - model.fractionBits), 0n);
    if (sum === 0n) d = 0n;
    else if (model.outputRounding === 'truncate')
      d = truncated(sum, Math.max(floorLog2(sum) - model.outputFractionBits, -149));
    else
      d =
        scaledNumber(new Float32Array(Uint32Array.of(roundedWord(sum, 'f32')).buffer)[0]!) <<
        BigInt(FRACTION);
  }
  return d;
}

test('chains of a truncating unit never leave its bound [BND-05] [BND-06]', () => {
  const model = fc.record({
    group: fc.constantFrom(4, 8, 16, 32),
    fractionBits: fc.constantFrom(10, 13, 24, 25, 35),
    outputFractionBits: fc.constantFrom(13, 23),
    outputRounding: fc.constantFrom('truncate' as const, 'even' as const),
    exponentFloor: fc.constant(-133),
  });
  fc.assert(
    fc.property(
      rows('mxfp4', 3),
      model,
      fc.nat(),
      fc.integer({ min: -2000, max: 2000 }),
      ({ a, b, x, y, depth }, drawn, turn, c) => {
        const m = drawn.outputRounding === 'even' ? { ...drawn, outputFractionBits: 23 } : drawn;
        const order = Array.from({ length: depth }, (_, k) => (k + turn) % depth);
        const word = roundedWord(chain(x, y, order, m, scaledNumber(c) << BigInt(FRACTION)), 'f32');
        const acceptances = [{ kind: 'truncating', name: 'm', model: m }] as const;
        const job = {
          a,
          b,
          found: Uint32Array.of(word),
          output: 'f32',
          acceptances,
          c: Float32Array.of(c),
        } as const;
        expect(verdict(job).acceptances[0]!.outside).toBe(0);
        const range = ranges(job, acceptances[0]);
        expect(
          rank(range.low[0]!, 'f32') <= rank(word, 'f32') && rank(word, 'f32') <= rank(range.high[0]!, 'f32'),
        ).toBe(true);
      },
    ),
    { numRuns: 400 },
  );
});

describe('G3: 256 x 1 + 2^-6 by an accumulator of 14 bits [GEM-14] [BND-05]', () => {
  const x = Float64Array.from({ length: 257 }, (_, k) => (k < 256 ? 1 : 2 ** -6));
  const [a, b] = [
    plainOperand('bf16', x, 1, 257),
    plainOperand('bf16', new Float64Array(257).fill(1), 1, 257),
  ];
  const model = truncatingModel('{"group": 32, "fractionBits": 13, "outputFractionBits": 13}', 'hopper.json');

  test('is 256.015625 exactly, and 256 lies outside exact, bits and any FP32 order, inside the bound of such a unit', () => {
    expect([...gemm(a, b)]).toEqual([wordOf(256.015625)]);
    const acceptances = [
      { kind: 'exact', name: 'exact' },
      { kind: 'bits', name: 'bits:exact' },
      FP32,
      { kind: 'truncating', name: 'bound:@hopper.json', model },
    ] as const;
    const result = verdict({ a, b, found: Uint32Array.of(wordOf(256)), output: 'f32', acceptances });
    expect(result.acceptances.map(({ outside }) => outside)).toEqual([1, 1, 1, 0]);
  });
});
