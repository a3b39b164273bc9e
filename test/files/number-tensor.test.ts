/** Tensor elements of every type as numbers. */
import { expect, test } from 'vitest';
import { numbersOf } from '../../src/files/number-tensor.ts';

const bytesOf = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);

test.each<[string, Uint8Array, number[]]>([
  ['F64', bytesOf(0, 0, 0, 0, 0, 0, 0xf0, 0xbf), [-1]],
  ['F32', bytesOf(0, 0, 0x80, 0x7f, 0, 0, 0, 0x80), [Infinity, -0]],
  ['BF16', bytesOf(0xc0, 0x3f, 0xc0, 0x7f, 0x01, 0x00), [1.5, Number.NaN, 2 ** -133]],
  ['I64', bytesOf(0xfe, 255, 255, 255, 255, 255, 255, 255), [-2]],
  ['I32', bytesOf(0xfe, 255, 255, 255), [-2]],
  ['I16', bytesOf(0xfe, 255), [-2]],
  ['I8', bytesOf(0xfe, 3), [-2, 3]],
  ['U8', bytesOf(0xfe), [254]],
  ['BOOL', bytesOf(0, 1), [0, 1]],
])('%s [GRP-19]', (dtype, bytes, numbers) => {
  expect([...numbersOf(dtype, bytes, 'X')]).toEqual(numbers);
});

test('refuses other types, and whole numbers that are not exact [GRP-19]', () => {
  expect(() => numbersOf('F4', bytesOf(0), 'F: tensor "a"')).toThrow('F: tensor "a" is F4; expected F64 F32');
  expect(() => numbersOf('toString', bytesOf(0), 'X')).toThrow('X is toString');
  expect(() => numbersOf('I64', bytesOf(1, 0, 0, 0, 0, 0, 0x20, 0), 'X')).toThrow('element 0 is beyond');
});
