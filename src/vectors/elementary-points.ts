/**
 * Arguments of the elementary functions at which implementations go wrong, by function, type and reason: words in hex (fma: three;
 * power: a word and the exponent in decimal). Those found are the nearest to midpoints of 120 million random arguments in
 * binary64 and of all arguments in binary32. Clauses: spec/elementary.md ELE-01 to ELE-10.
 * @module
 */
import { ALGEBRAIC_POINTS } from './algebraic-points.ts';
import { EXP_POINTS } from './exp-points.ts';
import { LOG_POINTS } from './log-points.ts';

type ByReason = Readonly<Record<string, readonly string[]>>;
type ByType = Readonly<{ binary64: ByReason; binary32?: ByReason }>;
export type Points = Readonly<Record<'exp' | 'expm1' | 'log' | 'log1p' | 'sqrt' | 'fma' | 'power', ByType>>;

export const POINTS: Points = { ...EXP_POINTS, ...LOG_POINTS, ...ALGEBRAIC_POINTS };
