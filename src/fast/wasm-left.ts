/**
 * Blocks that a kernel leaves to the TypeScript path: their indices are written one after another.
 * @module
 */
import type { Body, Local } from '../wasm/function.ts';
import { i32 } from '../wasm/instructions.ts';
import { LEFT } from './wasm-memory.ts';

export interface LeftBlocks {
  readonly count: Local<'i32'>;
}

export function leaveBlock(f: Body, left: LeftBlocks, block: Local<'i32'>): void {
  f.do(i32.store(i32.shl(left.count, 2), block, LEFT));
  f.set(left.count, i32.add(left.count, 1));
}
