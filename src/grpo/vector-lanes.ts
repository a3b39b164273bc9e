/**
 * The registers of 256 bits that PyTorch's CPU kernels are written for. Clauses: spec/adamw.md ADW-06.
 * @module
 */
import type { Dtype } from './float-arithmetic.ts';

/** Elements a register holds; what is left over takes a scalar path. */
export const LANES: Readonly<Record<Dtype, number>> = { float32: 8, float64: 4 };
