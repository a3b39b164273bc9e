/**
 * Elementary functions, correctly rounded (half-even) in binary64 and, named ...32, in binary32: the same bits on every engine,
 * where Math.exp and Math.log are left to each. Arguments and results of ...32 are binary32 values held in numbers.
 * Clauses: spec/elementary.md.
 * @module
 */
export { exp, exp32, expm1, expm132 } from './exp-fast.ts';
export { fma, fma32 } from './fma.ts';
export { log, log1p, log1p32, log32 } from './log-fast.ts';
export { sqrt, sqrt32 } from './sqrt.ts';
