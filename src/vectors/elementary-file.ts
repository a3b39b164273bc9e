/**
 * Vectors of the elementary functions: special values, ends of the ranges, hard points. Each answer is worked out twice.
 * Clauses: spec/elementary.md ELE-01 to ELE-10.
 * @module
 */

import * as fast from '../number/elementary.ts';
import { exactExp, exactExpm1, exactLog, exactLog1p } from '../number/elementary-exact.ts';
import { fromNumber, multiply } from '../number/exact.ts';
import { BINARY32, BINARY64, type NumberFormat, toNumber } from '../number/floats.ts';
import { exactFma } from '../number/fma-exact.ts';
import { wholePower } from '../number/power.ts';
import { exactRoot } from '../number/sqrt-exact.ts';
import type { PackContext } from './block-cases.ts';
import { POINTS, type Points } from './elementary-points.ts';
import { idOf } from './hash.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

type RealFunction = (...x: number[]) => number;

const root = (x: number, format: NumberFormat): number =>
  x > 0 && x < Number.POSITIVE_INFINITY ? exactRoot(fromNumber(x), format) : x < 0 ? Number.NaN : x;

/** The exact power, rounded once. */
function exactPower(x: number, n: number): number {
  let power = fromNumber(1);
  for (let k = 0; k < n; k++) power = multiply(power, fromNumber(x));
  return toNumber(power);
}

interface Judged {
  readonly clauses: readonly string[];
  readonly fast: { readonly binary64: RealFunction; readonly binary32?: RealFunction };
  readonly define: (format: NumberFormat, ...x: number[]) => number;
}

const TRANSCENDENTAL = ['ELE-01', 'ELE-02', 'ELE-05', 'ELE-08', 'ELE-09'];

const FUNCTIONS: Readonly<Record<keyof Points, Judged>> = {
  exp: {
    clauses: [...TRANSCENDENTAL, 'ELE-03'],
    fast: { binary64: fast.exp, binary32: fast.exp32 },
    define: (format, x) => exactExp(x!, format),
  },
  expm1: {
    clauses: [...TRANSCENDENTAL, 'ELE-03'],
    fast: { binary64: fast.expm1, binary32: fast.expm132 },
    define: (format, x) => exactExpm1(x!, format),
  },
  log: {
    clauses: [...TRANSCENDENTAL, 'ELE-04'],
    fast: { binary64: fast.log, binary32: fast.log32 },
    define: (format, x) => exactLog(x!, format),
  },
  log1p: {
    clauses: [...TRANSCENDENTAL, 'ELE-04'],
    fast: { binary64: fast.log1p, binary32: fast.log1p32 },
    define: (format, x) => exactLog1p(x!, format),
  },
  sqrt: {
    clauses: ['ELE-01', 'ELE-06'],
    fast: { binary64: fast.sqrt, binary32: fast.sqrt32 },
    define: (format, x) => root(x!, format),
  },
  fma: {
    clauses: ['ELE-01', 'ELE-07', 'ELE-08'],
    fast: { binary64: fast.fma as RealFunction, binary32: fast.fma32 as RealFunction },
    define: (format, a, b, c) => exactFma(a!, b!, c!, format),
  },
  power: {
    clauses: ['ELE-10'],
    fast: { binary64: wholePower as RealFunction },
    define: (_, x, n) => exactPower(x!, n!),
  },
};

const view = new DataView(new ArrayBuffer(8));
const padded = (word: number): string => word.toString(16).padStart(8, '0');

/** A word, or a whole exponent in decimal. */
function parse(text: string): number {
  if (text.length < 8) return Number(text);
  view.setUint32(0, Number.parseInt(text.slice(0, 8), 16));
  if (text.length === 8) return view.getFloat32(0);
  view.setUint32(4, Number.parseInt(text.slice(8), 16));
  return view.getFloat64(0);
}

function word(x: number, type: 'binary64' | 'binary32'): string {
  if (Number.isNaN(x)) return type === 'binary64' ? '7ff8000000000000' : '7fc00000';
  if (type === 'binary32') {
    view.setFloat32(0, x);
    return padded(view.getUint32(0));
  }
  view.setFloat64(0, x);
  return padded(view.getUint32(0)) + padded(view.getUint32(4));
}

function groupsOf(context: PackContext, name: keyof Points): object[] {
  const { clauses, fast, define } = FUNCTIONS[name];
  return (['binary64', 'binary32'] as const).flatMap((type) => {
    const points = POINTS[name][type];
    const quick = fast[type];
    if (points === undefined || quick === undefined) return [];
    const tests = Object.entries(points).flatMap(([comment, list]) =>
      list.map((text) => {
        const x = text.split(' ').map(parse);
        const y = quick(...x);
        const defined = define(type === 'binary64' ? BINARY64 : BINARY32, ...x);
        if (!Object.is(y, defined)) throw new Error(`${name} in ${type} of ${text}: ${y} and ${defined}`);
        return { id: idOf(context.sha256, name, type, text), comment, clauses, x: text, y: word(y, type) };
      }),
    );
    return [{ function: name, type, clauses, tests }];
  });
}

export function elementaryFile(context: PackContext) {
  return {
    schema: SCHEMA,
    kind: 'elementary' as const,
    generator: context.generator,
    groups: (Object.keys(FUNCTIONS) as (keyof Points)[]).flatMap((name) => groupsOf(context, name)),
  } satisfies VectorFile & Record<string, unknown>;
}
