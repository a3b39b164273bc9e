/**
 * WebAssembly instructions as typed functions of expressions: `i32x4.add(a, v128.load(address, 16))`.
 * An expression is the code that leaves one value; used twice, it is computed twice (`let` of src/wasm/function.ts keeps it).
 * Names are those of the standard, WebAssembly Core Specification 2.0; opcodes are in src/wasm/opcodes.ts.
 * @module
 */
import { type Code, signed, unsigned, type ValueType } from './bytes.ts';
import {
  LANE,
  LANE_MEMORY,
  SCALAR,
  SCALAR_MEMORY,
  SIMD,
  SIMD_MEMORY,
  SIMD_PREFIX,
  SIXTEEN,
  STRUCTURE,
} from './opcodes.ts';

/** Code that leaves one value of a type on the stack, or none (`void`). */
export interface Expr<T extends ValueType | 'void'> {
  readonly type: T;
  readonly code: Code;
}

/** Where an i32 is expected, a number stands for the constant. */
export type Operand<T> = T extends 'i32' ? Expr<'i32'> | number : T extends ValueType ? Expr<T> : never;

type Operands<S extends string> = S extends `${infer A} ${infer Rest}`
  ? [Operand<A>, ...Operands<Rest>]
  : [Operand<S>];

/** The function that a signature such as `v128 i32 -> v128` describes; immediates come after the operands. */
type Instruction<S, Immediates extends unknown[]> = S extends `${infer In} -> ${infer Out}`
  ? (...operands: [...Operands<In>, ...Immediates]) => Out extends ValueType | 'void' ? Expr<Out> : never
  : never;

type Table = { readonly [signature: string]: { readonly [name: string]: number } };
type Union<T> = T[keyof T];
/** One function for each instruction of a table. */
type Functions<T extends Table, I extends unknown[]> = {
  [N in Union<{ [S in keyof T]: keyof T[S] }> & string]: Instruction<
    Union<{ [S in keyof T]: N extends keyof T[S] ? S : never }>,
    I
  >;
};

export const constant = (value: number): Expr<'i32'> => ({
  type: 'i32',
  code: [STRUCTURE['i32.const'], signed(BigInt(value | 0))],
});

const codeOf = (operand: Expr<ValueType> | number): Code =>
  typeof operand === 'number' ? constant(operand).code : operand.code;

type Encode = (opcode: number) => Code;
const one: Encode = (opcode) => [opcode];
const prefixed: Encode = (opcode) => [SIMD_PREFIX, unsigned(opcode)];

// The hint at an address's alignment is always 2^0, which is valid for every access and changes no result.
const address = (offset = 0): Code => [0, unsigned(offset)];
const lane = (index: number): Code => [index];

/** The functions of a table; `immediates` encodes what follows the operands. */
function functions<T extends Table, I extends unknown[]>(
  table: T,
  encode: Encode,
  immediates: (...values: I) => Code,
): Functions<T, I> {
  const made: Record<string, unknown> = {};
  for (const [signature, opcodes] of Object.entries(table)) {
    const [takes, type] = signature.split(' -> ') as [string, string];
    const arity = takes.split(' ').length;
    for (const [name, opcode] of Object.entries(opcodes)) {
      made[name] = (...all: unknown[]) => ({
        type,
        code: [
          (all.slice(0, arity) as (Expr<ValueType> | number)[]).map(codeOf),
          encode(opcode),
          immediates(...(all.slice(arity) as I)),
        ],
      });
    }
  }
  return made as Functions<T, I>;
}

const none = (): Code => [];

/** Every instruction with operands on the stack, by its full name. */
export const INSTRUCTIONS = {
  ...functions(SCALAR, one, none),
  ...functions(SIMD, prefixed, none),
  ...functions(SCALAR_MEMORY, one, address as (offset?: number) => Code),
  ...functions(SIMD_MEMORY, prefixed, address as (offset?: number) => Code),
  ...functions(LANE, prefixed, lane as (lane: number) => Code),
  ...functions(LANE_MEMORY, prefixed, (offset: number, index: number) => [address(offset), lane(index)]),
};

type Named<P extends string> = {
  [N in keyof typeof INSTRUCTIONS as N extends `${P}.${infer Short}`
    ? Short
    : never]: (typeof INSTRUCTIONS)[N];
};

const byPrefix: Record<string, Record<string, unknown>> = {};
for (const [name, instruction] of Object.entries(INSTRUCTIONS)) {
  const dot = name.indexOf('.');
  byPrefix[name.slice(0, dot)] ??= {};
  byPrefix[name.slice(0, dot)]![name.slice(dot + 1)] = instruction;
}

/** The instructions of one shape by their short names: `named('i32x4').add`. */
const named = <P extends string>(prefix: P): Named<P> => byPrefix[prefix] as Named<P>;

const sixteen = (opcode: number, bytes: ArrayLike<number>): Code => [prefixed(opcode), Array.from(bytes)];

/** A v128 constant from its lanes; a single value fills all of them. */
function vectorOf<A extends { readonly buffer: ArrayBufferLike; length: number; fill(v: never): unknown }>(
  make: (values: number[]) => A,
  count: number,
): (...lanes: number[]) => Expr<'v128'> {
  return (...lanes) => {
    const values = lanes.length === 1 ? Array.from({ length: count }, () => lanes[0]!) : lanes;
    if (values.length !== count) throw new RangeError(`${count} lanes are needed, not ${values.length}`);
    const bytes = new Uint8Array(make(values).buffer);
    return { type: 'v128', code: sixteen(SIXTEEN['v128.const'], bytes) };
  };
}

const f32Bytes = (value: number): number[] => [...new Uint8Array(Float32Array.of(value).buffer)];

export const i32 = { ...named('i32'), const: constant };

export const i64 = {
  ...named('i64'),
  const: (value: bigint): Expr<'i64'> => ({
    type: 'i64',
    code: [STRUCTURE['i64.const'], signed(BigInt.asIntN(64, value))],
  }),
};

export const f32 = {
  ...named('f32'),
  const: (value: number): Expr<'f32'> => ({
    type: 'f32',
    code: [STRUCTURE['f32.const'], f32Bytes(value)],
  }),
};

export const v128 = named('v128');

export const i8x16 = {
  ...named('i8x16'),
  const: vectorOf((v) => Int8Array.from(v), 16),
  /** Byte k of the result is byte `lanes[k]` of the 32 bytes of `a` and then `b`. */
  shuffle: (a: Expr<'v128'>, b: Expr<'v128'>, lanes: readonly number[]): Expr<'v128'> => {
    if (lanes.length !== 16) throw new RangeError(`a shuffle takes 16 lanes, not ${lanes.length}`);
    return { type: 'v128', code: [a.code, b.code, sixteen(SIXTEEN['i8x16.shuffle'], lanes)] };
  },
};
export const i16x8 = { ...named('i16x8'), const: vectorOf((v) => Int16Array.from(v), 8) };
export const i32x4 = { ...named('i32x4'), const: vectorOf((v) => Int32Array.from(v), 4) };
export const i64x2 = named('i64x2');
export const f32x4 = { ...named('f32x4'), const: vectorOf((v) => Float32Array.from(v), 4) };
export const f64x2 = named('f64x2');

/** The first value where the condition is not 0, else the second; both are computed. */
export const select = <T extends ValueType>(
  whenTrue: Expr<T>,
  whenFalse: Expr<T>,
  condition: Operand<'i32'>,
): Expr<T> => {
  const operands: Code = [whenTrue.code, whenFalse.code, codeOf(condition as Expr<'i32'>)];
  // Without a type the instruction takes numbers only; v128 is named (0x1c, one type).
  return whenTrue.type === 'v128'
    ? { type: whenTrue.type, code: [operands, 0x1c, 0x01, 0x7b] }
    : { type: whenTrue.type, code: [operands, STRUCTURE.select] };
};
