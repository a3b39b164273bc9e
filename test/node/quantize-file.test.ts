/** Whole files through small pieces, against the definitions applied to the tensor as plain lists. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeUnit, encodeUnit } from '../../src/format/hif4.ts';
import { hif4Policy } from '../../src/format/hif4-policy.ts';
import { decodeBlock, encodeBlock } from '../../src/format/mxfp4.ts';
import { mxfp4Policy } from '../../src/format/mxfp4-policy.ts';
import { dequantizeFile } from '../../src/node/dequantize-file.ts';
import { quantizeFile } from '../../src/node/quantize-file.ts';
import { type BinaryFormat, decode, encode, type FloatValue } from '../../src/number/binary-format.ts';
import { BF16, FP16, FP32, fromBinary64 } from '../../src/number/floats.ts';
import { codec } from '../../src/tensor/codec.ts';
import { elementBytes, npyFile, safetensorsFile, temporaryFolder, write } from './tensor-bytes.ts';

/** An element type: its bytes, and the value of its bits. */
const TYPES = {
  f2: { size: 2, value: (w: bigint) => decode(FP16, Number(w)) },
  f4: { size: 4, value: (w: bigint) => decode(FP32, Number(w)) },
  f8: { size: 8, value: (w: bigint) => fromBinary64(binary64(w)) },
  u2: { size: 2, value: (w: bigint) => decode(BF16, Number(w)) },
} as const;

function binary64(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

/** Bits of moderate values of each type, so that codes of every kind occur. */
const bitsOf = (name: keyof typeof TYPES): fc.Arbitrary<bigint> => {
  const encoded = (f: BinaryFormat) => (x: number) => BigInt(encode(f, fromBinary64(x)));
  const value = fc.double({ min: -10, max: 10, noNaN: true });
  if (name === 'f8') {
    return value.map((x) => {
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, x);
      return view.getBigUint64(0);
    });
  }
  return value.map(encoded({ f2: FP16, f4: FP32, u2: BF16 }[name]));
};

function indices(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (lists, size) => lists.flatMap((list) => Array.from({ length: size }, (_, i) => [...list, i])),
    [[]],
  );
}
const flat = (shape: readonly number[], index: readonly number[]): number =>
  index.reduce((at, i, d) => at * shape[d]! + i, 0);

/** codes, scales and dequantized FP32 words of a tensor, block by block by the definition. */
function byDefinition(
  format: 'hif4' | 'mxfp4',
  shape: readonly number[],
  axis: number,
  valueAt: (index: readonly number[]) => FloatValue,
): { codes: number[]; scales: bigint[]; words: number[] } {
  const size = format === 'hif4' ? 64 : 32;
  const outer = shape.filter((_, d) => d !== axis);
  const words: number[] = Array(shape.reduce((a, b) => a * b, 1)).fill(0);
  const codes: number[] = [];
  const scales: bigint[] = [];
  const zero = fromBinary64(0);
  for (const row of indices(outer)) {
    for (let start = 0; start < shape[axis]!; start += size) {
      const at = (i: number): number[] => row.toSpliced(axis, 0, start + i);
      const x = Array.from({ length: size }, (_, i) => (start + i < shape[axis]! ? valueAt(at(i)) : zero));
      const hif4 = format === 'hif4' ? encodeUnit(x, hif4Policy()) : undefined;
      const mxfp4 = format === 'mxfp4' ? encodeBlock(x, mxfp4Policy()) : undefined;
      const block = (hif4 ?? mxfp4)!.codes;
      for (let i = 0; i < size; i += 2) codes.push(block[i]! + 16 * block[i + 1]!);
      scales.push(BigInt(hif4?.word ?? mxfp4!.scale));
      const y = hif4 ? decodeUnit(hif4.word, block) : decodeBlock(mxfp4!.scale, block);
      y.forEach((v, i) => {
        if (start + i < shape[axis]!) words[flat(shape, at(i))] = encode(FP32, v, 'even', 'nonfinite');
      });
    }
  }
  return { codes, scales, words };
}

const jobs = fc
  .record({
    type: fc.constantFrom(...(Object.keys(TYPES) as (keyof typeof TYPES)[])),
    shape: fc.oneof(
      fc.tuple(fc.integer({ min: 1, max: 150 })),
      fc.tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 5 })),
      fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 70 })),
      fc.tuple(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 4 }),
      ),
      fc.tuple(
        fc.constant(2),
        fc.integer({ min: 1, max: 3 }),
        fc.constant(3),
        fc.integer({ min: 1, max: 34 }),
      ),
    ),
    format: fc.constantFrom('hif4' as const, 'mxfp4' as const),
    little: fc.boolean(),
    fortran: fc.boolean(),
    axisChoice: fc.nat(),
    negative: fc.boolean(),
    tileElements: fc.integer({ min: 1, max: 700 }),
    threads: fc.constantFrom(1, 1, 1, 1, 1, 2, 3),
  })
  .chain((job) => {
    const elements = job.shape.reduce((a: number, b: number) => a * b, 1);
    return fc.record({
      job: fc.constant(job),
      bits: fc.array(bitsOf(job.type), { minLength: elements, maxLength: elements }),
    });
  });

describe('quantize and dequantize through files [TEN-04] [TEN-05] [TEN-06] [TEN-07] [TEN-09] [TEN-23]', () => {
  test('any type, byte order, memory order and axis, in small pieces', async () => {
    const folder = temporaryFolder();
    await fc.assert(
      fc.asyncProperty(jobs, async ({ job, bits }) => {
        const { type, format, little, fortran, tileElements, threads } = job;
        const shape: readonly number[] = job.shape;
        const axis = job.axisChoice % shape.length;
        const { size, value } = TYPES[type];
        const memory = fortran
          ? [...indices([...shape].reverse())].map((index) => bits[flat(shape, [...index].reverse())]!)
          : bits;
        const data = elementBytes(memory, size, little);
        const input = write(folder, 'in.npy', npyFile(`${little ? '<' : '>'}${type}`, fortran, shape, data));
        const output = join(folder, 'out.safetensors');
        const c = codec(format);
        const result = await quantizeFile({
          input,
          output,
          codec: c,
          axis: job.negative ? axis - shape.length : axis,
          bf16: type === 'u2',
          tileElements,
          threads,
        });
        expect(result).toMatchObject({ shape, axis });

        const expected = byDefinition(format, shape, axis, (index) => value(bits[flat(shape, index)]!));
        const blockSize = format === 'hif4' ? 64 : 32;
        const outer = shape.filter((_, d) => d !== axis);
        const blocks = Math.ceil(shape[axis]! / blockSize);
        const scaleBytes = format === 'hif4' ? 4 : 1;
        const scales = elementBytes(expected.scales, scaleBytes, true);
        const codeCount = expected.codes.length;
        const header = {
          __metadata__: {
            'fp4.format': format,
            'fp4.profile': format === 'hif4' ? 'authors' : 'ocp',
            'fp4.parameters': JSON.stringify(format === 'hif4' ? hif4Policy() : mxfp4Policy()),
            'fp4.shape': JSON.stringify(shape),
            'fp4.axis': `${axis}`,
            'fp4.version': '0.1.0',
          },
          codes: { dtype: 'U8', shape: [...outer, (blocks * blockSize) / 2], data_offsets: [0, codeCount] },
          scales: {
            dtype: format === 'hif4' ? 'U32' : 'U8',
            shape: [...outer, blocks],
            data_offsets: [codeCount, codeCount + scales.length],
          },
        };
        const text = JSON.stringify(header);
        const padded = text.padEnd(Math.ceil(text.length / 8) * 8);
        const whole = safetensorsFile(padded, Buffer.concat([Uint8Array.from(expected.codes), scales]));
        expect(readFileSync(output).equals(whole)).toBe(true);

        const back = join(folder, 'back.npy');
        await dequantizeFile({ input: output, output: back, tileElements, threads });
        const bytes = readFileSync(back);
        const words = elementBytes(expected.words.map(BigInt), 4, true);
        expect(bytes.subarray(bytes.length - words.length).equals(words)).toBe(true);
        const npyHeader = bytes.toString('latin1', 10, bytes.length - words.length);
        const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
        expect(npyHeader.trimEnd()).toBe(`{'descr': '<f4', 'fortran_order': False, 'shape': ${tuple}, }`);
        expect(readdirSync(folder).sort()).toEqual(['back.npy', 'in.npy', 'out.safetensors']);
      }),
      { numRuns: 150 },
    );
  });

  test('the pieces do not show: reports and bytes are the same for every size and number of threads', async () => {
    const folder = temporaryFolder();
    const bits = Array.from({ length: 9 * 200 }, (_, i) => BigInt((i * 2654435761) % 2 ** 30) + 0x20000000n);
    const input = write(folder, 'in.npy', npyFile('<f4', false, [9, 200], elementBytes(bits, 4, true)));
    const results = [];
    for (const tileElements of [1, 64, 100, 1000, 2 ** 18]) {
      const output = join(folder, 'out.safetensors');
      const c = codec('hif4', 'ascend');
      for (const threads of [1, 2]) {
        const job = { input, output, codec: c, axis: 0, bf16: false, tileElements, threads };
        const { report } = await quantizeFile(job);
        results.push({ report, bytes: readFileSync(output).toString('hex') });
      }
    }
    for (const result of results) expect(result).toEqual(results[0]);
  });

  test.each([[[0]], [[3, 0]], [[0, 3]], [[2, 0, 3]]])(
    'an empty dimension, %j, gives empty tensors',
    async (shape) => {
      const folder = temporaryFolder();
      const input = write(folder, 'in.npy', npyFile('<f4', false, shape, new Uint8Array(0)));
      const output = join(folder, 'out.safetensors');
      for (let axis = 0; axis < shape.length; axis++) {
        await quantizeFile({ input, output, codec: codec('mxfp4'), axis, bf16: false });
        const bytes = readFileSync(output);
        const header = JSON.parse(bytes.toString('utf8', 8));
        const outer = shape.toSpliced(axis, 1);
        const blocks = shape[axis] === 0 ? 0 : 1;
        expect(header.codes).toEqual({ dtype: 'U8', shape: [...outer, 16 * blocks], data_offsets: [0, 0] });
        expect(header.scales).toEqual({ dtype: 'U8', shape: [...outer, blocks], data_offsets: [0, 0] });
        const back = join(folder, 'back.npy');
        await dequantizeFile({ input: output, output: back });
        expect(readFileSync(back).toString('latin1')).toContain(
          `'shape': (${shape.join(', ')}${shape[1] === undefined ? ',' : ''})`,
        );
      }
    },
  );

  test.each([
    ['F16', 2, 0x3c00n],
    ['BF16', 2, 0x3f80n],
    ['F32', 4, 0x3f800000n],
    ['F64', 8, 0x3ff0000000000000n],
  ] as const)('a tensor of several in .safetensors, %s [TEN-02]', async (dtype, size, one) => {
    const folder = temporaryFolder();
    const header = {
      first: { dtype: 'I8', shape: [3], data_offsets: [0, 3] },
      'layers.0:w': { dtype, shape: [1, 2], data_offsets: [3, 3 + 2 * size] },
    };
    const data = Buffer.concat([Uint8Array.of(9, 9, 9), elementBytes([one, one], size, true)]);
    const path = write(folder, 'in.safetensors', safetensorsFile(header, data));
    const output = join(folder, 'out.safetensors');
    const input = `${path}:layers.0:w`;
    await quantizeFile({ input, output, codec: codec('mxfp4'), axis: -1, bf16: false });
    const bytes = readFileSync(output);
    // amax 1 = 2^0: scale 2^-2, 7d; 1 / 2^-2 is 4, code 6, twice.
    expect([...bytes.subarray(bytes.length - 17)]).toEqual([0x66, ...Array(15).fill(0), 0x7d]);
  });

  test.each([
    // Just above the tie of 3f80 and 3f81: in one step 3f81, by way of FP32 3f80 = 1.
    ['3ff0100000000001', 0x7e],
    // At the tie: 3f80.
    ['3ff0100000000000', 0x7d],
  ])('binary64 %s is rounded to BF16 once; scale %i [TEN-04]', async (hex, scale) => {
    const folder = temporaryFolder();
    const data = elementBytes([BigInt(`0x${hex}`)], 8, true);
    const input = write(folder, 'in.npy', npyFile('<f8', false, [1], data));
    const output = join(folder, 'out.safetensors');
    // ceil(log2 amax) is 1 above 1 and 0 at 1, so the scale tells which BF16 value it was.
    const c = codec('mxfp4', 'ocp', { input: 'bf16', scale: 'ceil' });
    await quantizeFile({ input, output, codec: c, axis: 0, bf16: false });
    expect(readFileSync(output).at(-1)).toBe(scale);
  });
});
