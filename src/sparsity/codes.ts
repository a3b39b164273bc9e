/**
 * 2:4 on packed codes, by table: two bytes are a group. HiF4 and MXFP4 order code magnitudes as they order values, and a
 * group of four never leaves a block (in HiF4 it is a level-3 quad), so the scale has no part in it, a NaN scale included.
 * Clauses: spec/sparsity.md SPA-03, SPA-08, SPA-09.
 * @module
 */
import { precedence, type TieRule } from './ties.ts';

/** SPA-08. The definition: the indices of the two codes of a group that stay, the lower one first. */
export function keptOfFour(codes: ArrayLike<number>, ties: TieRule): readonly [number, number] {
  const place = precedence(ties, 4);
  const magnitude = (i: number): number => codes[i]! & 7;
  const [first, second] = [0, 1, 2, 3].sort((i, j) => magnitude(j) - magnitude(i) || place[i]! - place[j]!);
  return [Math.min(first!, second!), Math.max(first!, second!)];
}

/** SPA-09. The nibble of two indices, the lower one in the low bits. */
export const nibbleOf = ([low, high]: readonly [number, number]): number => low | (high << 2);

/** By the magnitudes of four codes, 3 bits each, element 0 lowest: the nibble, and bit 4 where a tie decided. */
interface Table {
  readonly ties: string;
  readonly entries: Uint8Array;
}

const TIE_BIT = 16;
let table: Table | undefined;

function entriesFor(ties: TieRule): Uint8Array {
  const name = String(ties);
  if (table?.ties === name) return table.entries;
  const entries = Uint8Array.from({ length: 4096 }, (_, index) => {
    const codes = [0, 3, 6, 9].map((shift) => (index >> shift) & 7);
    const sorted = codes.toSorted((a, b) => b - a);
    const tied = sorted[1] === sorted[2] && sorted[1] !== 0;
    return nibbleOf(keptOfFour(codes, ties)) | (tied ? TIE_BIT : 0);
  });
  table = { ties: name, entries };
  return entries;
}

/** By nibble: the bits of a group's word that stay. */
const MASKS = Uint16Array.from(
  { length: 16 },
  (_, nibble) => (15 << (4 * (nibble & 3))) | (15 << (4 * (nibble >> 2))),
);

export interface PrunedCodes {
  /** Packed as the input. */
  readonly codes: Uint8Array;
  /** A nibble a group. */
  readonly nibbles: Uint8Array;
  /** Groups whose second place went to one of several equal magnitudes, not zero. */
  readonly tied: number;
}

/**
 * SPA-08. 2:4 on groups of four consecutive codes.
 * @param codes two a byte, even element in the low nibble; an even number of bytes
 */
export function prunePackedCodes(codes: Uint8Array, ties: TieRule): PrunedCodes {
  const entries = entriesFor(ties);
  const pruned = new Uint8Array(codes.length);
  const nibbles = new Uint8Array(codes.length / 2);
  let tied = 0;
  for (let g = 0; g < nibbles.length; g++) {
    const word = codes[2 * g]! | (codes[2 * g + 1]! << 8);
    const entry = entries[(word & 7) | ((word >> 1) & 0x38) | ((word >> 2) & 0x1c0) | ((word >> 3) & 0xe00)]!;
    const nibble = entry & 15;
    if (entry !== nibble) tied++;
    nibbles[g] = nibble;
    const kept = word & MASKS[nibble]!;
    pruned[2 * g] = kept & 0xff;
    pruned[2 * g + 1] = kept >> 8;
  }
  return { codes: pruned, nibbles, tied };
}
