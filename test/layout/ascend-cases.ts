/** The handed matrices with their cube layouts (test/cases/ascend-layouts.jsonl), and their linear form. */
import { readFileSync } from 'node:fs';
import type { LinearBlocks } from '../../src/layout/linear.ts';

export const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
export const hex = (array: Uint8Array): string => Buffer.from(array).toString('hex');

type Case = Readonly<Record<string, string>> & { readonly rows: number; readonly cols: number };

export const cases: readonly Case[] = readFileSync(
  new URL('../cases/ascend-layouts.jsonl', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

export const hif4Cases = cases.filter((c) => 'fp4' in c);
export const mxCases = cases.filter((c) => 'e8m0' in c);

/** HIF4-02. A scale word is, little-endian, E6M2, E1_8, and the two bytes of E1_16. */
export function hif4Linear(c: Case): LinearBlocks {
  const [ea, eb, ec] = [bytes(c['ea']!), bytes(c['eb']!), bytes(c['ec']!)];
  const words = Array.from(ea, (e6m2, g) => [e6m2, eb[g]!, ec[2 * g]!, ec[2 * g + 1]!]);
  return { codes: bytes(c['fp4']!), scales: Uint8Array.from(words.flat()) };
}

export const mxLinear = (c: Case): LinearBlocks => ({
  codes: bytes(c['codes_packed']!),
  scales: bytes(c['e8m0']!),
});
