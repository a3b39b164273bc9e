/**
 * `fp4-oracle/gemm`: products and verdicts for programs. An entry of its own, so that loading the formats stays quick.
 * Clauses: spec/gemm.md.
 * @module
 */
export { type Acceptance, truncatingModel } from './acceptance.ts';
export { type Batch, type BatchedOperand, batchOf } from './batch.ts';
export type { TruncatingModel } from './bound.ts';
export { type Accumulate, type GemmOptions, gemm } from './gemm.ts';
export type { Operand } from './operand.ts';
export { blockOperand } from './operand-blocks.ts';
export { plainOperand } from './operand-plain.ts';
export type { OutputName } from './output.ts';
export { ranges, sortedTerms, type Verdict, type VerdictJob, verdict } from './verdict.ts';
