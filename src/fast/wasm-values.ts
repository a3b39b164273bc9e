/**
 * Pieces of the dequantizing kernels that both formats have: from codes to FP32 words.
 * A code's value has at most three significant bits, so that the upper half of its FP32 word is all of it; two tables of
 * sixteen bytes give that half. The product with a scale is exact: it has at most six significant bits and is at least 2^-128
 * unless it is zero, so that FP32 has it even where it is subnormal; beyond FP32 it is an infinity of its sign (CON-03).
 * @module
 */
import { type BinaryFormat, decode, encode } from '../number/binary-format.ts';
import { BF16 } from '../number/floats.ts';
import type { Body } from '../wasm/function.ts';
import { type Expr, f32x4, i8x16, i32x4, v128 } from '../wasm/instructions.ts';

type Vector = Expr<'v128'>;

/** The first eight bytes of two vectors, in turns; and the last eight. */
const BYTES = [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23];
const LAST_BYTES = BYTES.map((byte) => byte + 8);
/** The same for their first four halves of a word; and the last four. */
const HALVES = [0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23];
const LAST_HALVES = HALVES.map((byte) => byte + 8);

const FP32_NAN = 0x7fc00000;

/** The lower and the upper byte of the BF16 word of each code. */
function valueTables(format: BinaryFormat): readonly [Vector, Vector] {
  const words = Array.from({ length: 16 }, (_, code) =>
    encode(BF16, decode(format, code), 'even', 'saturate'),
  );
  return [i8x16.const(...words.map((word) => word & 0xff)), i8x16.const(...words.map((word) => word >> 8))];
}

/** Values of 32 codes, two a byte, as eight vectors of FP32. */
export function valuesOfCodes(f: Body, bytes: Vector, format: BinaryFormat): Vector[] {
  const [lower, upper] = valueTables(format);
  const pairs = f.let(bytes);
  const even = f.let(v128.and(pairs, i8x16.const(15)));
  const odd = f.let(i8x16.shr_u(pairs, 4));
  const zero = i32x4.const(0);
  return [BYTES, LAST_BYTES].flatMap((order) => {
    const codes = f.let(i8x16.shuffle(even, odd, order));
    const low = f.let(i8x16.swizzle(lower, codes));
    const high = f.let(i8x16.swizzle(upper, codes));
    return [BYTES, LAST_BYTES].flatMap((bytesInOrder) => {
      const halves = f.let(i8x16.shuffle(low, high, bytesInOrder));
      return [HALVES, LAST_HALVES].map((words) => i8x16.shuffle(zero, halves, words));
    });
  });
}

/** Writes eight vectors of values, each times its factor, from an address on. */
export function storeProducts(
  f: Body,
  address: Expr<'i32'>,
  offset: number,
  values: readonly Vector[],
  factor: (k: number) => Vector,
): void {
  for (const [k, value] of values.entries()) {
    f.do(v128.store(address, f32x4.mul(value, factor(k)), offset + 16 * k));
  }
}

/** CON-03. Writes NaN words; a product with a NaN would leave its bits to the engine. */
export function storeNaNs(f: Body, address: Expr<'i32'>, count: number): void {
  for (let k = 0; k < count / 4; k++) f.do(v128.store(address, i32x4.const(FP32_NAN), 16 * k));
}
