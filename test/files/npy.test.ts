/** .npy headers by hand-made bytes, and by mutation. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fp4Error } from '../../src/error.ts';
import { buildNpyHeader, NPY_PREFIX, npyHeaderBytes, parseNpyHeader } from '../../src/files/npy.ts';

const ascii = (text: string): number[] => [...text].map((c) => c.charCodeAt(0));

/** A header of the given text; the length field can lie. */
function header(text: string, { major = 1, minor = 0, length = text.length } = {}): Uint8Array {
  const size = major === 1 ? [length & 0xff, length >> 8] : [0, 8, 16, 24].map((k) => (length >>> k) & 0xff);
  return Uint8Array.from([0x93, ...ascii('NUMPY'), major, minor, ...size, ...ascii(text)]);
}

function parse(bytes: Uint8Array, dataBytes: number): ReturnType<typeof parseNpyHeader> {
  const file = new Uint8Array(bytes.length + dataBytes);
  file.set(bytes);
  const count = npyHeaderBytes(file.subarray(0, NPY_PREFIX), file.length, 'x.npy');
  return parseNpyHeader(file.subarray(0, count), file.length, 'x.npy');
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof Fp4Error) {
      expect(error.message).toMatch(/^x\.npy: /);
      return error.code;
    }
    throw error;
  }
  return 'nothing thrown';
}

const dict = (descr: string, shape: string, order = 'False'): string =>
  `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }`;

describe('.npy headers read [TEN-01]', () => {
  test('as NumPy writes one, byte for byte', () => {
    // numpy.save of zeros((2, 3), float32): 128 bytes of header, 24 of data.
    const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.padEnd(117).concat('\n');
    const bytes = header(text);
    expect(bytes.length).toBe(128);
    expect([...bytes.subarray(0, 10)]).toEqual([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 0x76, 0]);
    expect(parse(bytes, 24)).toEqual({
      type: 'F32',
      littleEndian: true,
      order: 'C',
      shape: [2, 3],
      offset: 128,
    });
  });

  test.each([
    ['<f2', 'F16', true, 2],
    ['>f2', 'F16', false, 2],
    ['<f4', 'F32', true, 4],
    ['>f4', 'F32', false, 4],
    ['<f8', 'F64', true, 8],
    ['>f8', 'F64', false, 8],
    ['|u1', 'U8', true, 1],
    ['<u2', 'U16', true, 2],
    ['>u2', 'U16', false, 2],
    ['<u4', 'U32', true, 4],
    ['>u4', 'U32', false, 4],
  ] as const)('type %s', (descr, type, littleEndian, bytes) => {
    const found = parse(header(dict(descr, '(5,)')), 5 * bytes);
    expect(found).toMatchObject({ type, littleEndian, shape: [5] });
  });

  test.each([1, 2, 3])('version %i', (major) => {
    const bytes = header(dict('<f4', '(1, 2, 3)', 'True'), { major });
    const offset = bytes.length;
    expect(parse(bytes, 24)).toEqual({
      type: 'F32',
      littleEndian: true,
      order: 'F',
      shape: [1, 2, 3],
      offset,
    });
  });

  test('0-d, empty dimensions, other quotes, key order and space', () => {
    expect(parse(header(dict('<f4', '()')), 4).shape).toEqual([]);
    expect(parse(header(dict('<f4', '(0, 7)')), 0).shape).toEqual([0, 7]);
    const text = `{"shape":(3,4,),\n "fortran_order" : True , "descr":">f8"}  \n`;
    expect(parse(header(text), 96)).toMatchObject({ type: 'F64', order: 'F', shape: [3, 4] });
  });
});

describe('.npy headers refused [TEN-03]', () => {
  test.each([
    ['an empty file', new Uint8Array(0), 0],
    ['another magic', Uint8Array.from(ascii('PK\x03\x04 and so on')), 0],
    ['only the magic', header('').subarray(0, 6), 0],
    ['no room for the length', header('').subarray(0, 9), 0],
    ['version 2 with half a length', header('', { major: 2 }).subarray(0, 10), 0],
    ['version 0', header(dict('<f4', '(1,)'), { major: 0 }), 4],
    ['version 4', header(dict('<f4', '(1,)'), { major: 4 }), 4],
    ['version 1.1', header(dict('<f4', '(1,)'), { minor: 1 }), 4],
    ['a header longer than the file', header(dict('<f4', '(1,)'), { length: 9999 }), 4],
    ['a header of 4 GB', header(dict('<f4', '(1,)'), { major: 2, length: 0xffffffff }), 4],
    ['a header of no bytes', header(''), 4],
    ['no dictionary', header('[1, 2]'), 4],
    ['an unclosed dictionary', header(`{'descr': '<f4'`), 4],
    ['text after the dictionary', header(`${dict('<f4', '(1,)')} + 1`), 4],
    ['code instead of a value', header(dict('<f4', '(1,)', '__import__("os")')), 4],
    ['an expression in the shape', header(dict('<f4', '(2*2,)')), 16],
    ['a shape that is no tuple', header(dict('<f4', '1')), 4],
    ['a shape that is a list', header(dict('<f4', '[1]')), 4],
    ['a tuple of one without its comma', header(dict('<f4', '(1)')), 4],
    ['a missing key', header(`{'descr': '<f4', 'shape': (1,)}`), 4],
    ['an unknown key', header(`{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': True}`), 4],
    ['a key twice', header(`{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}`), 4],
    ['fortran_order 0', header(dict('<f4', '(1,)', '0')), 4],
    ['fortran_order as text', header(dict('<f4', '(1,)', `'True'`)), 4],
    ['a negative dimension', header(dict('<f4', '(-1, 4)')), 4],
    ['a fractional dimension', header(dict('<f4', '(1.0,)')), 4],
    ['a dimension of 2^53', header(dict('<f4', '(9007199254740992,)')), 4],
    ['a dimension of 30 digits', header(dict('<f4', `(${'9'.repeat(30)},)`)), 4],
    ['a product beyond 2^53', header(dict('<f4', '(4294967296, 4294967296)')), 4],
    ['a product that wraps to 0 in 64 bits', header(dict('<u4', '(4294967296, 1073741824)')), 0],
    ['a product beyond 2^53 next to a 0', header(dict('<f4', '(0, 4294967296, 4294967296)')), 0],
    ['65 dimensions', header(dict('<f4', `(${'1, '.repeat(65)})`)), 4],
    ['truncated data', header(dict('<f4', '(2, 3)')), 23],
    ['no data', header(dict('<f4', '(2, 3)')), 0],
    ['trailing bytes', header(dict('<f4', '(2, 3)')), 25],
    ['bytes that are not ASCII', header(dict('<f4', '(1,)').replace('shape', 'sh\xe4pe')), 4],
    ['invalid UTF-8 in version 3', header(dict('<f4', '(1,)').replace('shape', 'sh\xe4pe'), { major: 3 }), 4],
    ['an escape in a string', header(dict('\\x3cf4', '(1,)')), 4],
  ])('%s', (_, bytes, dataBytes) => {
    expect(codeOf(() => parse(bytes, dataBytes))).toBe('E_NPY');
  });

  test.each(['<i4', '|b1', '<c8', '<f16', '=f4', '|f4', 'f4', '<U3', '|O', '<u8', 'constructor', ''])(
    'type %s',
    (descr) => {
      expect(codeOf(() => parse(header(dict(descr, '(1,)')), 4))).toBe('E_DTYPE');
    },
  );

  test('a structured type', () => {
    const text = `{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}`;
    expect(codeOf(() => parse(header(text), 4))).toBe('E_DTYPE');
  });

  test('mutated headers: a valid one or an Fp4Error, nothing else', () => {
    const original = header(dict('<f4', '(2, 3)').padEnd(117).concat('\n'));
    const edit = fc.tuple(
      fc.nat({ max: 80 }),
      fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(...ascii(`{}()'",:-0 9T`))),
    );
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), fc.nat({ max: 128 }), (edits, cut) => {
        const bytes = original.slice(0, original.length - (cut > 100 ? cut - 100 : 0));
        for (const [at, byte] of edits) bytes[at] = byte;
        try {
          const found = parse(bytes, 24);
          const elements = found.shape.reduce((a, b) => a * b, 1);
          expect(elements * { F16: 2, F32: 4, F64: 8, U8: 1, U16: 2, U32: 4, BF16: 2 }[found.type]).toBe(
            bytes.length + 24 - found.offset,
          );
        } catch (error) {
          if (!(error instanceof Fp4Error)) throw error;
        }
      }),
      { numRuns: 20_000 },
    );
  });
});

describe('.npy headers written [TEN-09]', () => {
  test('byte for byte as NumPy', () => {
    const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.padEnd(117).concat('\n');
    expect([...buildNpyHeader('F32', [2, 3])]).toEqual([...header(text)]);
  });

  test.each([[[]], [[1]], [[0]], [[7, 0, 2]], [Array.from({ length: 40 }, () => 1)]])(
    'and read back: %j',
    (shape) => {
      const bytes = buildNpyHeader('U16', shape);
      expect(bytes.length % 64).toBe(0);
      expect(parse(bytes, 2 * shape.reduce((a, b) => a * b, 1))).toMatchObject({
        shape,
        type: 'U16',
        order: 'C',
      });
    },
  );
});
