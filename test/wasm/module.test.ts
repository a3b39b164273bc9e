/** Whole modules: bytes, control flow, locals and constants. */
import { expect, test } from 'vitest';
import { flatten, signed, unsigned } from '../../src/wasm/bytes.ts';
import { hasSimd, instantiate, isValid } from '../../src/wasm/engine.ts';
import { type WasmFunction, wasmFunction } from '../../src/wasm/function.ts';
import { f32x4, i8x16, i16x8, i32, i32x4, i64, select, v128 } from '../../src/wasm/instructions.ts';
import { assemble } from '../../src/wasm/module.ts';

const call = (f: WasmFunction, ...values: (number | bigint)[]) =>
  instantiate(assemble([f]), 1)!.functions[f.name]!(...values);

test('a module is these bytes', () => {
  const add = wasmFunction('add', { a: 'i32', b: 'i32' }, 'i32', (f, { a, b }) => f.return(i32.add(a, b)));
  const expected = [
    [...[0x00, 0x61, 0x73, 0x6d], ...[0x01, 0x00, 0x00, 0x00]],
    [...[0x01, 0x07, 0x01], ...[0x60, 0x02, 0x7f, 0x7f, 0x01, 0x7f]],
    [...[0x02, 0x0f, 0x01], ...[0x03, 0x65, 0x6e, 0x76], ...[0x06, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79]],
    [0x02, 0x00, 0x02],
    [0x03, 0x02, 0x01, 0x00],
    [...[0x07, 0x07, 0x01], ...[0x03, 0x61, 0x64, 0x64], ...[0x00, 0x00]],
    [...[0x0a, 0x0b, 0x01], ...[0x09, 0x00], ...[0x20, 0x00, 0x20, 0x01, 0x6a], ...[0x0f, 0x00, 0x0b]],
  ];
  expect([...assemble([add], 2)]).toEqual(flatten(expected));
});

test('LEB128 as in the examples of DWARF, section 7.6', () => {
  expect([2, 127, 128, 129, 12857].map(unsigned)).toEqual([[2], [0x7f], [0x80, 1], [0x81, 1], [0xb9, 0x64]]);
  const pairs = [2n, -2n, 127n, -127n, 128n, -128n, 129n, -129n].map(signed);
  expect(pairs).toEqual([
    ...[[2], [0x7e], [0xff, 0], [0x81, 0x7f]],
    ...[
      [0x80, 1],
      [0x80, 0x7f],
      [0x81, 1],
      [0xff, 0x7e],
    ],
  ]);
});

test('loops count, from none to many', () => {
  const sum = wasmFunction('sum', { n: 'i32' }, 'i32', (f, { n }) => {
    const total = f.let(i32.const(0));
    const i = f.let(i32.const(0));
    f.count(i, n, 3, () => f.set(total, i32.add(total, i)));
    f.return(total);
  });
  expect([0, 1, 4, 10].map((n) => call(sum, n))).toEqual([0, 0, 3, 18]);
});

test('if, else and an early return', () => {
  const sign = wasmFunction('sign', { x: 'i32' }, 'i32', (f, { x }) => {
    f.if(i32.eqz(x), () => f.return(0));
    const result = f.let(i32.const(5));
    f.if(
      i32.lt_s(x, 0),
      () => f.set(result, -1),
      () => f.set(result, 1),
    );
    f.return(result);
  });
  expect([-7, 0, 7].map((x) => call(sign, x))).toEqual([-1, 0, 1]);
});

test('select of numbers and of vectors', () => {
  const pick = wasmFunction('pick', { c: 'i32' }, 'i32', (f, { c }) => {
    const chosen = f.let(select(i32x4.const(1, 2, 3, 4), i32x4.const(5, 6, 7, 8), c));
    f.return(i32.add(i32x4.extract_lane(chosen, 2), select(i32.const(100), i32.const(200), c)));
  });
  expect([1, 0].map((c) => call(pick, c))).toEqual([103, 207]);
});

test('constants of every lane width, from one value or from all, and a shuffle', () => {
  const bytes = Array.from({ length: 16 }, (_, k) => k);
  const write = wasmFunction('write', {}, 'void', (f) => {
    f.do(v128.store(0, i8x16.const(...bytes)));
    f.do(v128.store(16, i16x8.const(-2)));
    f.do(v128.store(32, f32x4.const(1.5, -0, 0.25, 2)));
    f.do(v128.store(48, i8x16.shuffle(v128.load(0), v128.load(16), [31, 0, ...bytes.slice(2)])));
    f.do(i64.store(64, i64.const(-3n)));
    f.do(i64.store(72, i64.const(0x8000000000000001n)));
  });
  const { functions, memory } = instantiate(assemble([write]), 1)!;
  functions['write']!();
  const words = Array.from(new Uint32Array(memory, 0, 20), (w) => w.toString(16).padStart(8, '0'));
  expect(words).toEqual([
    ...['03020100', '07060504', '0b0a0908', '0f0e0d0c'],
    ...['fffefffe', 'fffefffe', 'fffefffe', 'fffefffe'],
    ...['3fc00000', '80000000', '3e800000', '40000000'],
    ...['030200ff', '07060504', '0b0a0908', '0f0e0d0c'],
    ...['fffffffd', 'ffffffff', '00000001', '80000000'],
  ]);
});

test('the engine says what is no module, and has SIMD here', () => {
  expect(isValid(Uint8Array.of(0, 1, 2, 3))).toBe(false);
  expect(instantiate(Uint8Array.of(0, 1, 2, 3), 1)).toBeUndefined();
  expect(hasSimd()).toBe(true);
});
