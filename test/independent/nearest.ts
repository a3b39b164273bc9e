/**
 * The nearest code of a scalar format by distance, in integers of 2^-149; for the tests.
 * @module
 */
import type { ScalarTable } from './scalar-tables.ts';

/** An FP32 number, or a scalar's, as an integer number of 2^-149. */
const units = (x: number): bigint => BigInt(x * 2 ** 74 * 2 ** 75);

const inUnits = new WeakMap<ScalarTable, bigint[]>();

function magnitudesOf(table: ScalarTable): bigint[] {
  let list = inUnits.get(table);
  if (list === undefined) {
    list = table.magnitudes.map(units);
    inUnits.set(table, list);
  }
  return list;
}

/** The code whose value is nearest to a finite x, of two equally near the even one; scales: see contract section 1. */
export function nearestCode(table: ScalarTable, x: number): number {
  const magnitudes = magnitudesOf(table);
  const magnitude = units(Math.abs(x));
  const negative = x < 0 || Object.is(x, -0);
  if (!table.signed && x < 0) return 255;
  let best = 0;
  let distance = -1n;
  for (const [code, m] of magnitudes.entries()) {
    const d = m > magnitude ? m - magnitude : magnitude - m;
    if (distance < 0n || d < distance || (d === distance && code % 2 === 0)) {
      best = code;
      distance = d;
    } else if (m > magnitude) break; // ascending, so the rest is farther
  }
  const noMinusZero = table.nan === 0x80 && best === 0;
  return negative && table.signed && !noMinusZero ? table.values.length / 2 + best : best;
}
