/**
 * Elementary functions, correctly rounded (half-even) in binary64 and, named ...32, in binary32: the same bits on every engine,
 * where Math.exp and Math.log are left to each. Arguments and results of ...32 are binary32 values held in numbers.
 * Clauses: spec/elementary.md.
 * @module
 */
import { exactExp, exactExpm1, exactLog, exactLog1p } from './elementary-exact.ts';
import { BINARY32, BINARY64 } from './floats.ts';
import { exactFma } from './fma.ts';

export { sqrt, sqrt32 } from './sqrt.ts';

/** ELE-03. e^x; beyond the range an infinity or +0. */
export const exp = (x: number): number => exactExp(x, BINARY64);
export const exp32 = (x: number): number => exactExp(x, BINARY32);

/** ELE-03. e^x - 1; the sign of zero is kept. */
export const expm1 = (x: number): number => exactExpm1(x, BINARY64);
export const expm132 = (x: number): number => exactExpm1(x, BINARY32);

/** ELE-04. The natural logarithm; of a zero -infinity, of a negative NaN. */
export const log = (x: number): number => exactLog(x, BINARY64);
export const log32 = (x: number): number => exactLog(x, BINARY32);

/** ELE-04. log(1 + x), the sum not rounded; the sign of zero is kept. */
export const log1p = (x: number): number => exactLog1p(x, BINARY64);
export const log1p32 = (x: number): number => exactLog1p(x, BINARY32);

/** ELE-07. a x b + c with one rounding. */
export const fma = (a: number, b: number, c: number): number => exactFma(a, b, c, BINARY64);
export const fma32 = (a: number, b: number, c: number): number => exactFma(a, b, c, BINARY32);
