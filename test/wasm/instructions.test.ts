/** Every instruction of the assembler, run, against what the standard says. */
import { expect, test } from 'vitest';
import { instantiate } from '../../src/wasm/engine.ts';
import { wasmFunction } from '../../src/wasm/function.ts';
import { type Expr, f32, INSTRUCTIONS, i32, i64, v128 } from '../../src/wasm/instructions.ts';
import { assemble } from '../../src/wasm/module.ts';
import { LANE, LANE_MEMORY, SCALAR, SCALAR_MEMORY, SIMD, SIMD_MEMORY } from '../../src/wasm/opcodes.ts';
import { LINES, MEMORY } from './expectations.ts';

type Table = Record<string, Record<string, number>>;
const TABLES: Table[] = [SCALAR, SIMD, SCALAR_MEMORY, SIMD_MEMORY, LANE, LANE_MEMORY];
const MEMORY_TABLES: Table[] = [SCALAR_MEMORY, SIMD_MEMORY, LANE_MEMORY];

const signatureIn = (tables: Table[], name: string): string | undefined =>
  tables.flatMap((table) => Object.entries(table)).find(([, opcodes]) => name in opcodes)?.[0];

/** Little-endian bytes of words in hexadecimal. */
const bytesOf = (words: string): number[] =>
  words.split(' ').flatMap((word) => (word.match(/../g) ?? []).map((b) => Number.parseInt(b, 16)).reverse());

const hex = (bytes: Iterable<number>): string =>
  Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join(' ');

const LOADS = { i32: i32.load, i64: i64.load, f32: f32.load, v128: v128.load };
type Type = keyof typeof LOADS;
type AnyInstruction = (...operands: unknown[]) => Expr<Type | 'void'>;

const OPERANDS = 64; // where operand k is: 64 + 16 k
const RESULT = 128;
const SIZE = { i32: 4, i64: 8, f32: 4, v128: 16 };

/** Stores a value of any type. */
const stored = (value: Expr<Type>): Expr<'void'> => {
  const stores = { i32: i32.store, i64: i64.store, f32: f32.store, v128: v128.store };
  return (stores[value.type] as AnyInstruction)(RESULT, value) as Expr<'void'>;
};

/** What one line's instruction leaves: its result, or the memory it wrote to. */
function run(name: string, operands: readonly string[]): string {
  const [takes, gives] = signatureIn(TABLES, name)!.split(' -> ') as [string, Type | 'void'];
  const inMemory = signatureIn(MEMORY_TABLES, name) !== undefined;
  const types = takes.split(' ').slice(inMemory ? 1 : 0) as Type[];
  const vectors = types.map((type, k) => LOADS[type](OPERANDS + 16 * k));
  // The access is at byte 5: address 2 and offset 3.
  const all = [...(inMemory ? [2] : []), ...vectors, ...(inMemory ? [3] : [])];
  const immediates = operands.slice(vectors.length).map(Number);
  const made = (INSTRUCTIONS[name as keyof typeof INSTRUCTIONS] as AnyInstruction)(...all, ...immediates);
  const effect = gives === 'void' ? (made as Expr<'void'>) : stored(made as Expr<Type>);
  const module = assemble([wasmFunction('run', {}, 'void', (f) => f.do(effect))]);
  const { functions, memory } = instantiate(module, 1)!;
  const bytes = new Uint8Array(memory);
  bytes.set(bytesOf(MEMORY));
  vectors.forEach((_, k) => {
    bytes.set(bytesOf(operands[k]!), OPERANDS + 16 * k);
  });
  functions['run']!();
  return gives === 'void'
    ? hex(bytes.slice(0, bytesOf(MEMORY).length))
    : hex(bytes.slice(RESULT, RESULT + SIZE[gives]));
}

test.each(LINES)('%s', (line) => {
  const [name, ...rest] = line.split(' | ') as [string, ...string[]];
  expect(run(name, rest.slice(0, -1))).toBe(hex(bytesOf(rest.at(-1)!)));
});

test('every instruction has an expectation', () => {
  const expected = new Set(LINES.map((line) => line.split(' | ')[0]));
  expect(Object.keys(INSTRUCTIONS).filter((name) => !expected.has(name))).toEqual([]);
});

test('no opcode stands twice', () => {
  for (const tables of [
    [SCALAR, SCALAR_MEMORY],
    [SIMD, SIMD_MEMORY, LANE, LANE_MEMORY],
  ] as Table[][]) {
    const opcodes = tables.flatMap((t) => Object.values(t)).flatMap((o) => Object.values(o));
    expect(new Set(opcodes).size).toBe(opcodes.length);
  }
});
