/**
 * The E6M2 code of a unit as a table on the upper half of the FP32 word of its largest magnitude: that half is the BF16 word,
 * and a code changes at most once within it. Made from the definition, by its thresholds. Clauses: spec/hif4.md HIF4-06, HIF4-07.
 * @module
 */
import { type HiF4Trace, hif4Stages } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { BINADE, firstReaching, INFINITY_WORD, magnitudeOf } from './thresholds.ts';

/** The code of word w is base[w >>> 16], and one more (in 8 bits) where the lower half of w is above last[w >>> 16]. */
export interface ScaleTable {
  readonly base: Uint8Array;
  readonly last: Uint16Array;
  /** The code of an all-zero unit. */
  readonly zero: number;
  /** For the largest magnitudes below the smallest normal FP32 number, where sf is subnormal and the codes may jump. */
  readonly subnormal: (word: number) => number;
}

type ScalePolicy = Pick<HiF4Policy, 'sf' | 'e6m2-ties' | 'e6m2-range'>;

function definedCode(policy: HiF4Policy): (word: number) => number {
  return (word) => {
    const trace = { max64: magnitudeOf(word) } as HiF4Trace;
    trace.sf = hif4Stages.sf(trace, policy);
    return hif4Stages.e6m2(trace, policy);
  };
}

/** Whether a binade that begins at `start` changes exactly at these words: the last before each, and each, say so. */
function changesAt(start: number, changes: readonly number[], code: (word: number) => number): boolean {
  let current = code(start);
  for (const change of changes) {
    if (code(change - 1) !== current) return false;
    current = (current + 1) & 0xff;
    if (code(change) !== current) return false;
  }
  return code(start + BINADE - 1) === current;
}

/** The words of a binade at which the code goes up; it goes up by at most 4 there, modulo 256 in a wrapped range. */
function findChanges(start: number, code: (word: number) => number): number[] {
  const changes: number[] = [];
  const end = start + BINADE - 1;
  const last = code(end);
  for (let at = start, current = code(at); current !== last; current = code(at)) {
    const before = current;
    at = firstReaching(at, end, (word) => code(word) !== before);
    changes.push(at);
  }
  return changes;
}

function makeTable(policy: HiF4Policy): ScaleTable {
  const code = definedCode(policy);
  const base = new Uint8Array(0x8000);
  const last = new Uint16Array(0x8000).fill(0xffff);
  let changes: number[] = [];
  for (let start = BINADE; start < INFINITY_WORD; start += BINADE) {
    // Most binades are their neighbour doubled, which a few questions confirm; only the first and the ends are searched.
    changes = changes.map((word) => word + BINADE);
    if (!changesAt(start, changes, code)) changes = findChanges(start, code);
    let current = code(start);
    let from = start >>> 16;
    for (const change of changes) {
      const upper = change >>> 16;
      base.fill(current, from, upper + 1);
      current = code(change);
      from = upper + 1;
      // At the first word of an upper half the whole half has the new code.
      if ((change & 0xffff) === 0) base[upper] = current;
      else last[upper] = (change & 0xffff) - 1;
    }
    base.fill(current, from, (start + BINADE) >>> 16);
  }
  return { base, last, zero: code(0), subnormal: code };
}

const tables = new Map<string, ScaleTable>();

/** The table of a policy, made at first use: 2 to 8 ms, the longer where the range wraps. */
export function scaleTable(policy: HiF4Policy): ScaleTable {
  const chosen: ScalePolicy = policy;
  const key = `${chosen.sf} ${chosen['e6m2-ties']} ${chosen['e6m2-range']}`;
  let table = tables.get(key);
  if (table === undefined) {
    table = makeTable(policy);
    tables.set(key, table);
  }
  return table;
}

/** HIF4-06, HIF4-07. The E6M2 code of a unit whose largest magnitude, after input rounding, has this FP32 word. */
export function scaleCode(table: ScaleTable, amax: number): number {
  if (amax < BINADE) return amax === 0 ? table.zero : table.subnormal(amax);
  const upper = amax >>> 16;
  return (table.base[upper]! + ((table.last[upper]! - (amax & 0xffff)) >>> 31)) & 0xff;
}
