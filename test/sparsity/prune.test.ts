/** Tensors pruned in memory: any axis, quantized and not, against the definition on exact decoded values; and how often ties occur. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeUnit } from '../../src/format/hif4.ts';
import { decodeBlock } from '../../src/format/mxfp4.ts';
import type { FloatValue } from '../../src/number/binary-format.ts';
import { fromBinary64 } from '../../src/number/floats.ts';
import { fillFamily } from '../../src/random/families.ts';
import { definedMask } from '../../src/sparsity/definition.ts';
import { isGroupPattern, PATTERNS } from '../../src/sparsity/pattern.ts';
import { pruneQuantized, pruneReport, pruneValues } from '../../src/sparsity/prune.ts';
import { decoder } from '../../src/tensor/codec.ts';
import { quantizeTensor } from '../../src/tensor/quantize.ts';

const OPTIONS = { ties: 'lowest-index', odd: 'ceil' } as const;

/** Index in C order of each element of each row along an axis, the other axes in their order: by counting indices up. */
function rowsAlong(shape: readonly number[], axis: number): number[][] {
  const rows = new Map<string, number[]>();
  const index = shape.map(() => 0);
  const total = shape.reduce((a, b) => a * b, 1);
  for (let flat = 0; flat < total; flat++) {
    const key = index.toSpliced(axis, 1).join();
    rows.set(key, [...(rows.get(key) ?? []), flat]);
    for (let d = shape.length - 1; d >= 0; d--) {
      index[d]!++;
      if (index[d]! < shape[d]!) break;
      index[d] = 0;
    }
  }
  // Keys are met in C order of what remains only where the axis is the last or the indices are sorted.
  const number = (key: string): number =>
    key === ''
      ? 0
      : key.split(',').reduce((sum, digit, d) => sum * shape.toSpliced(axis, 1)[d]! + Number(digit), 0);
  return [...rows].sort(([a], [b]) => number(a) - number(b)).map(([, row]) => row);
}

describe('unquantized tensors', () => {
  test('along every axis of three [SPA-01, SPA-07]', () => {
    const shape = [3, 5, 6];
    const values = Float64Array.from({ length: 90 }, (_, i) => (((i * 37) % 11) - 5) / 4);
    for (const axis of [0, 1, 2, -1, -3]) {
      for (const pattern of PATTERNS) {
        const rows = rowsAlong(shape, (axis + 3) % 3);
        const defined = definedMask(
          rows.map((row) => row.map((i) => fromBinary64(values[i]!))),
          { ...OPTIONS, pattern },
        );
        const { mask, nonzero, lost } = pruneValues(values, shape, { pattern, axis });
        expect([...mask.kept]).toEqual(defined.kept.flat().map(Number));
        const flat = rows.flat().map((i) => values[i]!);
        expect([...nonzero]).toEqual(flat.map((x, j) => Number(x !== 0 && mask.kept[j] === 1)));
        expect(lost).toBe(flat.filter((x, j) => x !== 0 && mask.kept[j] === 0).length);
      }
    }
  });

  test('a report by hand [SPA-17]', () => {
    const x = Float64Array.of(1, 1, 1, 0, 5, -0);
    expect(pruneReport(pruneValues(x, [6], { pattern: '2:4' }))).toEqual({
      ...{ elements: 6, kept: 4, pruned: 2, lost: 1 },
      ...{ rankings: 2, tied: 1, tied_share: 0.5, padding: 2 },
    });
    expect(pruneReport(pruneValues(new Float64Array(0), [0, 4], { pattern: 'block' })).tied_share).toBe(0);
  });

  test('what does not fit is refused', () => {
    expect(() => pruneValues(new Float64Array(3), [4], { pattern: '2:4' })).toThrow(
      'has 4 elements, found 3',
    );
    expect(() => pruneValues(new Float64Array(4), [4], { pattern: '2:4', axis: 1 })).toThrow('no axis 1');
    expect(() => pruneValues(new Float64Array(4), [4], { pattern: '2:4', odd: 'up' as 'ceil' })).toThrow(
      'odd is "up"',
    );
    expect(() =>
      pruneQuantized(
        { format: 'mxfp4', shape: [32], axis: 0, codes: new Uint8Array(15), scales: new Uint8Array(1) },
        { pattern: '2:4' },
      ),
    ).toThrow('found 15 and 1; expected 16 code bytes and 1 scale bytes');
  });
});

/** Elements of a quantized tensor in C order: code and exact value, read block by block. */
function elementsOf(
  format: string,
  shape: readonly number[],
  axis: number,
  codes: Uint8Array,
  scales: Uint8Array,
) {
  const size = format === 'hif4' ? 64 : 32;
  const found: { code: number; value: FloatValue; inGroup: FloatValue }[] = [];
  for (const [r, row] of rowsAlong(shape, axis).entries()) {
    const blocks = Math.ceil(row.length / size);
    for (const [k, index] of row.entries()) {
      const block = r * blocks + Math.floor(k / size);
      const at = (r * blocks * size + k) / 2;
      const code = (codes[Math.floor(at)]! >> (at % 1 === 0 ? 0 : 4)) & 15;
      const q = k % size;
      const list = Array.from({ length: size }, (_, i) => (i === q ? code : 0));
      const view = new DataView(scales.buffer, scales.byteOffset);
      const scale = format === 'hif4' ? view.getUint32(4 * block, true) : scales[block]!;
      const decode = (s: number): FloatValue =>
        (format === 'hif4' ? decodeUnit(s, list) : decodeBlock(s, list))[q]!;
      // Under a NaN scale a group is ranked as under the scale 1.
      const one = format === 'hif4' ? ((scale & 0xffffff00) | 0xc0) >>> 0 : 0x7f;
      found[index] = { code, value: decode(scale), inGroup: decode(scale % 256 === 255 ? one : scale) };
    }
  }
  return found;
}

describe('quantized tensors', () => {
  const anyTensor = fc.record({
    format: fc.constantFrom('hif4', 'mxfp4'),
    shape: fc.constantFrom([3, 70], [40, 5], [2, 3, 33], [131]),
    axis: fc.nat(2),
    pruneAxis: fc.nat(2),
    pattern: fc.constantFrom(...PATTERNS),
    ties: fc.constantFrom('lowest-index' as const, 'highest-index' as const),
    bytes: fc.uint8Array({ minLength: 64, maxLength: 64 }),
    narrow: fc.boolean(),
  });
  test('the definition on exact values, codes kept as they are, padding cleared [SPA-03, SPA-04, SPA-07, SPA-08]', () => {
    fc.assert(
      fc.property(anyTensor, ({ format, shape, pattern, ties, bytes, narrow, ...drawn }) => {
        const axis = drawn.axis % shape.length;
        const pruneAxis = drawn.pruneAxis % shape.length;
        const size = format === 'hif4' ? 64 : 32;
        const rows = shape.reduce((a, b) => a * b, 1) / shape[axis]!;
        const blocks = rows * Math.ceil(shape[axis]! / size);
        const codes = Uint8Array.from(
          { length: (blocks * size) / 2 },
          (_, j) => bytes[(j * 5 + (j >> 6)) % 64]!,
        );
        const step = format === 'hif4' ? 4 : 1;
        const scales = Uint8Array.from({ length: blocks * step }, (_, j) => {
          const byte = bytes[(j * 11) % 64]!;
          // Scales near one another make ties; others have everything, NaN too.
          return j % step === 0 && narrow ? 0x7e + (byte & 1) : byte;
        });
        const tensor = { format, shape, axis, codes, scales };
        const before = elementsOf(format, shape, axis, codes, scales);
        const pruned = pruneQuantized(tensor, { pattern, ties, axis: pruneAxis });
        const oneScale = isGroupPattern(pattern) && axis === pruneAxis;
        const lines = rowsAlong(shape, pruneAxis);
        const defined = definedMask(
          lines.map((line) => line.map((i) => (oneScale ? before[i]!.inGroup : before[i]!.value))),
          { pattern, ties, odd: 'ceil' },
        );
        const wanted: number[] = [];
        for (const [r, line] of lines.entries()) {
          for (const [k, i] of line.entries()) wanted[i] = defined.kept[r]![k] ? before[i]!.code : 0;
        }
        const after = elementsOf(format, shape, axis, pruned.codes, scales);
        expect(after.map(({ code }) => code)).toEqual(wanted);
        expect(pruned.mask.tied).toBe(defined.tied);
        let padding = 0;
        const depth = shape[axis]!;
        const padded = Math.ceil(depth / size) * size;
        for (let r = 0; r < rows; r++) {
          for (let k = depth; k < padded; k++) {
            padding |= (pruned.codes[(r * padded + k) >> 1]! >> (4 * (k % 2))) & 15;
          }
        }
        expect(padding).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  test('in HiF4 a pair is ranked with its exponent bits [SPA-04]', () => {
    // Quads 0 and 1 of octet 0: code 4 under a set level-3 bit is worth 2.0, code 7 without one 1.75.
    const codes = new Uint8Array(32);
    codes.set([0x04, 0x03, 0x07, 0x06]);
    const scales = Uint8Array.of(0xc0, 0, 1, 0);
    const tensor = { format: 'hif4', shape: [64], axis: 0, codes, scales };
    expect([...pruneQuantized(tensor, { pattern: '4:8' }).codes.subarray(0, 4)]).toEqual([0x04, 0, 0x07, 0]);
    const plain = { ...tensor, scales: Uint8Array.of(0xc0, 0, 0, 0) };
    expect([...pruneQuantized(plain, { pattern: '4:8' }).codes.subarray(0, 4)]).toEqual([0, 0, 0x07, 0x06]);
    const nan = { ...tensor, scales: Uint8Array.of(0xff, 0, 1, 0) };
    expect([...pruneQuantized(nan, { pattern: '4:8' }).codes.subarray(0, 4)]).toEqual([0x04, 0, 0x07, 0]);
  });

  test('a channel under a NaN scale outranks the others [SPA-03]', () => {
    const codes = new Uint8Array(64).fill(0x77);
    const tensor = {
      format: 'mxfp4',
      shape: [4, 1],
      axis: 0,
      codes: codes.subarray(0, 16),
      scales: Uint8Array.of(0xff),
    };
    expect([...pruneQuantized(tensor, { pattern: 'channel' }).mask.kept]).toEqual([1, 1, 0, 0]);
    const two = {
      format: 'mxfp4',
      shape: [2, 2],
      axis: 0,
      codes: codes.subarray(0, 32),
      scales: Uint8Array.of(0x80, 0xff),
    };
    expect([...pruneQuantized(two, { pattern: 'channel', axis: 1 }).mask.kept]).toEqual([0, 1, 0, 1]);
  });
});

describe('how often ties occur: 2:4 on the quantized residual X - Q(X) [SPA-05, SPA-17]', () => {
  /** The residual, exact: x, Q(x) and their difference are multiples of one power of two within 53 bits here. */
  function residual(x: Float64Array, shape: readonly number[], format: string): Float64Array {
    const { tensor } = quantizeTensor(x, shape, -1, format);
    const words = decoder(format).decode(tensor);
    const y = new Float32Array(words.buffer);
    const d = x.map((v, i) => v - y[i]!);
    // Knuth: the subtraction was exact where its two halves give each other back.
    expect(d.every((v, i) => v + y[i]! === x[i]! && x[i]! - v === y[i]!)).toBe(true);
    return d;
  }
  const share = (x: Float64Array, shape: readonly number[], format: string): number => {
    const { tensor } = quantizeTensor(residual(x, shape, format), shape, -1, format);
    const counted = pruneReport(pruneQuantized(tensor, { pattern: '2:4' }));
    // Counted once more, by sorting.
    let tied = 0;
    for (let g = 0; g < tensor.codes.length; g += 2) {
      const bytes = [tensor.codes[g]!, tensor.codes[g + 1]!];
      const m = bytes.flatMap((b) => [b & 7, (b >> 4) & 7]).sort((p, q) => q - p);
      if (m[1] === m[2] && m[1]! > 0) tied++;
    }
    expect(counted.tied).toBe(tied);
    return counted.tied_share;
  };

  /** Percent, to two decimals. */
  const percent = (fraction: number): string => (100 * fraction).toFixed(2);

  test.each([
    ['bf16', '30.26', '24.58'],
    ['f32', '29.79', '24.51'],
  ] as const)('Gaussian in %s: %s % in MXFP4, %s % in HiF4', (type, mxfp4, hif4) => {
    const words = new Uint32Array(256 * 256);
    fillFamily({ family: 'gauss', seed: 1n, operand: 0, type, channels: 256 }, 0, words);
    const bits = type === 'bf16' ? words.map((w) => w << 16) : words;
    const x = Float64Array.from(new Float32Array(bits.buffer));
    const found = ['mxfp4', 'hif4'].map((format) => percent(share(x, [256, 256], format)));
    expect(found).toEqual([mxfp4, hif4]);
  });

  test('real activations: 3.10 % in MXFP4, 2.37 % in HiF4', () => {
    const file = readFileSync(new URL('../data/speech_activations_256x128.npy', import.meta.url));
    const start = 10 + file.readUInt16LE(8);
    const x = Float64Array.from({ length: 256 * 128 }, (_, i) => file.readFloatLE(start + 4 * i));
    const found = ['mxfp4', 'hif4'].map((format) => percent(share(x, [256, 128], format)));
    expect(found).toEqual(['3.10', '2.37']);
  });
});
