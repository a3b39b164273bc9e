/** .safetensors headers by hand-made bytes, and by mutation. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fp4Error } from '../../src/error.ts';
import {
  buildSafetensorsHeader,
  parseSafetensorsHeader,
  type SafetensorsHeader,
  safetensorsHeaderBytes,
  storedTensor,
} from '../../src/files/safetensors.ts';

function header(json: string | Uint8Array, length?: bigint): Uint8Array {
  const text = typeof json === 'string' ? new TextEncoder().encode(json) : json;
  const bytes = new Uint8Array(8 + text.length);
  new DataView(bytes.buffer).setBigUint64(0, length ?? BigInt(text.length), true);
  bytes.set(text, 8);
  return bytes;
}

function parse(bytes: Uint8Array, dataBytes: number): SafetensorsHeader {
  const file = new Uint8Array(bytes.length + dataBytes);
  file.set(bytes);
  const count = safetensorsHeaderBytes(file.subarray(0, 8), file.length, 'x.safetensors');
  return parseSafetensorsHeader(file.subarray(0, count), file.length, 'x.safetensors');
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Fp4Error)) throw error;
    expect(error.message).toMatch(/^x\.safetensors: /);
    return error.code;
  }
  return 'nothing thrown';
}

const tensor = (dtype: string, shape: number[], begin: number, end: number): string =>
  JSON.stringify({ dtype, shape, data_offsets: [begin, end] });

describe('.safetensors headers read [TEN-02]', () => {
  test('two tensors out of order, metadata, padding, an empty tensor', () => {
    const json = `{"__metadata__":{"k":"v","\\u00e4":""}, "b":${tensor('F32', [2, 2], 6, 22)},"e":${tensor('U8', [0, 3], 6, 6)},
      "a":${tensor('BF16', [3], 0, 6)} }   `;
    const bytes = header(json);
    const found = parse(bytes, 22);
    expect([...found.metadata]).toEqual([
      ['k', 'v'],
      ['ä', ''],
    ]);
    expect([...found.tensors.keys()]).toEqual(['b', 'e', 'a']);
    expect(storedTensor(found, 'b', 'x.safetensors')).toEqual({
      type: 'F32',
      littleEndian: true,
      order: 'C',
      shape: [2, 2],
      offset: bytes.length + 6,
    });
  });

  test.each([
    ['F16', 2],
    ['BF16', 2],
    ['F32', 4],
    ['F64', 8],
    ['U8', 1],
    ['U16', 2],
    ['U32', 4],
  ])('type %s', (dtype, bytes) => {
    const found = parse(header(`{"t":${tensor(dtype, [3], 0, 3 * bytes)}}`), 3 * bytes);
    expect(storedTensor(found, 't', 'x.safetensors').type).toBe(dtype);
  });

  test('a scalar has no dimensions', () => {
    expect(parse(header(`{"t":${tensor('F32', [], 0, 4)}}`), 4).tensors.get('t')!.shape).toEqual([]);
  });

  test('a type that cannot be read may be listed; asking for it is refused', () => {
    const found = parse(header(`{"i":${tensor('I64', [1], 0, 8)},"f":${tensor('F4', [3, 2], 8, 11)}}`), 11);
    expect(codeOf(() => storedTensor(found, 'i', 'x.safetensors'))).toBe('E_DTYPE');
    expect(codeOf(() => storedTensor(found, 'f', 'x.safetensors'))).toBe('E_DTYPE');
    expect(codeOf(() => storedTensor(found, 'nothing', 'x.safetensors'))).toBe('E_USAGE');
  });

  test('names that objects inherit are plain names', () => {
    const found = parse(
      header(`{"__proto__":${tensor('U8', [1], 0, 1)},"toString":${tensor('U8', [1], 1, 2)}}`),
      2,
    );
    expect([...found.tensors.keys()]).toEqual(['__proto__', 'toString']);
  });
});

describe('.safetensors headers refused [TEN-03]', () => {
  const good = tensor('F32', [1], 0, 4);
  test.each<[string, Uint8Array, number]>([
    ['an empty file', new Uint8Array(0), 0],
    ['7 bytes', header('{}').subarray(0, 7), 0],
    ['a header longer than the file', header(`{"t":${good}}`, 500n), 4],
    ['a header of 2^63 bytes', header(`{"t":${good}}`, 2n ** 63n), 4],
    ['a header of 100 MB and one byte', header(`{"t":${good}}`, 100_000_001n), 4],
    ['a header of no bytes', header('', 0n), 4],
    ['no object', header('[]'), 0],
    ['space before the object', header(' {}'), 0],
    ['invalid JSON', header(`{"t":${good},}`), 4],
    ['text after the object', header(`{"t":${good}} x`), 4],
    ['a control character in a name', header(`{"t\n":${good}}`), 4],
    ['invalid UTF-8', header(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 0],
    ['nesting without end', header(`{"t":${'['.repeat(200_000)}`), 0],
    ['a tensor twice', header(`{"t":${good},"t":${good}}`), 4],
    ['a tensor twice, once escaped', header(`{"t":${good},"\\u0074":${good}}`), 4],
    ['metadata twice', header(`{"__metadata__":{},"__metadata__":{},"t":${good}}`), 4],
    [
      'a key twice in a tensor',
      header(`{"t":{"dtype":"U8","dtype":"F32","shape":[1],"data_offsets":[0,4]}}`),
      4,
    ],
    ['a metadata name twice', header(`{"__metadata__":{"a":"1","a":"2"}}`), 0],
    ['metadata with a number', header(`{"__metadata__":{"a":1}}`), 0],
    ['metadata that is text', header(`{"__metadata__":"a"}`), 0],
    ['a tensor that is a number', header(`{"t":1}`), 0],
    ['an unknown key', header(`{"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}}`), 4],
    ['no dtype', header(`{"t":{"shape":[1],"data_offsets":[0,4]}}`), 4],
    ['no shape', header(`{"t":{"dtype":"F32","data_offsets":[0,4]}}`), 4],
    ['no offsets', header(`{"t":{"dtype":"F32","shape":[1]}}`), 4],
    ['an unknown type', header(`{"t":${tensor('F33', [1], 0, 4)}}`), 4],
    ['an inherited name as a type', header(`{"t":${tensor('toString', [1], 0, 4)}}`), 4],
    ['a negative dimension', header(`{"t":${tensor('F32', [-1], 0, 4)}}`), 4],
    ['a fractional dimension', header(`{"t":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}}`), 4],
    ['a dimension with an exponent', header(`{"t":{"dtype":"F32","shape":[1e0],"data_offsets":[0,4]}}`), 4],
    [
      'a dimension of 2^53',
      header(`{"t":{"dtype":"F32","shape":[9007199254740992],"data_offsets":[0,4]}}`),
      4,
    ],
    ['a product beyond 2^53', header(`{"t":${tensor('F32', [2 ** 40, 2 ** 40], 0, 4)}}`), 4],
    ['a product that wraps', header(`{"t":${tensor('F32', [2 ** 32, 2 ** 32], 0, 0)}}`), 0],
    ['three offsets', header(`{"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}}`), 4],
    ['a negative offset', header(`{"t":${tensor('F32', [1], -4, 0)}}`), 4],
    ['offsets that run backwards', header(`{"t":${tensor('F32', [0], 4, 0)}}`), 4],
    ['offsets outside the file', header(`{"t":${tensor('F32', [2], 0, 8)}}`), 4],
    ['offsets that disagree with the shape', header(`{"t":${tensor('F32', [2], 0, 4)}}`), 4],
    ['half a byte', header(`{"t":${tensor('F4', [3], 0, 1)}}`), 1],
    ['an overlap', header(`{"a":${tensor('U8', [4], 0, 4)},"b":${tensor('U8', [4], 2, 6)}}`), 6],
    ['the same bytes twice', header(`{"a":${tensor('U8', [4], 0, 4)},"b":${tensor('U8', [4], 0, 4)}}`), 4],
    [
      'an empty tensor inside another',
      header(`{"a":${tensor('U8', [4], 0, 4)},"b":${tensor('U8', [0], 2, 2)}}`),
      4,
    ],
    ['a hole at the start', header(`{"a":${tensor('U8', [4], 1, 5)}}`), 5],
    ['a hole between', header(`{"a":${tensor('U8', [1], 0, 1)},"b":${tensor('U8', [1], 2, 3)}}`), 3],
    ['bytes after the last', header(`{"a":${tensor('U8', [4], 0, 4)}}`), 5],
    ['data of no tensor', header('{}'), 1],
  ])('%s', (_, bytes, dataBytes) => {
    expect(codeOf(() => parse(bytes, dataBytes))).toBe('E_SAFETENSORS');
  });

  test('mutated headers: a valid one or an Fp4Error, nothing else', () => {
    const text = `{"__metadata__":{"k":"v"},"a":${tensor('BF16', [3], 0, 6)},"b":${tensor('F32', [2, 2], 6, 22)}}`;
    const original = header(text);
    const signs = [...'{}[]":,-0123456789.eE\\ tfn'].map((c) => c.charCodeAt(0));
    const edit = fc.tuple(
      fc.nat({ max: original.length - 1 }),
      fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(...signs)),
    );
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
        const bytes = original.slice();
        for (const [at, byte] of edits) bytes[at] = byte;
        try {
          const { tensors } = parse(bytes, 22);
          const owned = [...tensors.values()].reduce((sum, t) => sum + t.bytes, 0);
          const start = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
          expect(owned).toBe(bytes.length + 22 - start);
        } catch (error) {
          if (!(error instanceof Fp4Error)) throw error;
        }
      }),
      { numRuns: 20_000 },
    );
  });
});

describe('.safetensors headers written [TEN-07]', () => {
  test('byte for byte', () => {
    const {
      header: bytes,
      offsets,
      fileBytes,
    } = buildSafetensorsHeader(
      [
        { name: 'codes', type: 'U8', shape: [2, 32] },
        { name: 'scales', type: 'U32', shape: [2, 1] },
      ],
      { k: 'v' },
    );
    const text =
      '{"__metadata__":{"k":"v"},"codes":{"dtype":"U8","shape":[2,32],"data_offsets":[0,64]},' +
      '"scales":{"dtype":"U32","shape":[2,1],"data_offsets":[64,72]}}';
    const padded = Math.ceil(text.length / 8) * 8;
    expect([...bytes]).toEqual([...header(text.padEnd(padded))]);
    expect(offsets).toEqual([8 + padded, 8 + padded + 64]);
    expect(fileBytes).toBe(8 + padded + 72);
    expect(parse(bytes, 72).tensors.get('scales')!.offset).toBe(8 + padded + 64);
  });
});
