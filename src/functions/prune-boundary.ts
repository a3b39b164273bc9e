/**
 * Boundary inputs of 2:4 pruning: groups in which ties, zeros or signs decide. Clauses: spec/sparsity.md SPA-02, SPA-03, SPA-05.
 * @module
 */
import type { BoundaryCase } from './oracle-function.ts';

/** Scale words by their digits: 1.0, the smallest, the largest, NaN. */
const SCALES = { 8: [0xc0, 0, 0xfffffffe, 0xff], 2: [0x7f, 0, 0xfe, 0xff] } as const;

const GROUPS: readonly (readonly [note: string, group: readonly number[]])[] = [
  ['{1,1,1,1}: the tie rule alone decides', [2, 2, 2, 2]],
  ['{0,0,0,5}: the lone value is held once', [0, 0, 0, 5]],
  ['a lone value at index 0', [5, 0, 0, 0]],
  ['a lone value at index 1', [0, 5, 0, 0]],
  ['a lone value at index 2', [0, 0, 5, 0]],
  ['all +0: two different indices all the same', [0, 0, 0, 0]],
  ['all -0: those kept stay -0, those pruned become 0', [8, 8, 8, 8]],
  ['-0 is zero: it gives way to the smallest magnitude', [8, 8, 1, 9]],
  ['-0 beside +0: a tie', [0, 8, 0, 8]],
  ['a lone value among -0', [8, 8, 8, 13]],
  ['equal magnitudes, signs mixed', [5, 13, 5, 13]],
  ['equal magnitudes, the negative first', [13, 5, 13, 5]],
  ['the largest magnitude negative', [7, 15, 6, 14]],
  ['three tie for the second place', [7, 2, 2, 2]],
  ['three tie for the second place, the first last', [2, 2, 2, 7]],
  ['two tie for the second place', [3, 1, 6, 3]],
  ['two tie for the second place, signs mixed', [11, 6, 3, 1]],
  ['no tie, ascending', [1, 2, 3, 4]],
  ['no tie, descending', [12, 11, 10, 9]],
];

/** One block of 16 or 8 groups. */
const blockOf = (scale: number, groups: readonly (readonly number[])[], note: string): BoundaryCase => ({
  inputs: [[scale], groups.flat()],
  note,
});

export function* pruneBoundary(level: 1 | 2, scaleDigits: number, count: number): Generator<BoundaryCase> {
  const scales = SCALES[scaleDigits as 2 | 8];
  const groups = count / 4;
  const everywhere = (group: readonly number[]): (readonly number[])[] =>
    Array.from({ length: groups }, () => group);
  for (const [note, group] of GROUPS) yield blockOf(scales[0], everywhere(group), note);
  for (const scale of scales) {
    const name = scale === scales[3] ? 'a NaN scale: codes are ranked all the same' : 'no scale takes part';
    const mixed = Array.from({ length: groups }, (_, g) => GROUPS[(5 * g + 3) % GROUPS.length]![1]);
    yield blockOf(scale, mixed, name);
  }
  // A group by a group, so that each has an index of its own.
  for (let g = 0; g < groups; g++) {
    const alone = Array.from({ length: groups }, (_, at) => (at === g ? [3, 9, 6, 14] : [0, 0, 0, 0]));
    yield blockOf(scales[0], alone, `nonzeros in group ${g} alone`);
  }
  if (level === 1) return;
  // Every group of magnitudes, signs alternating from block to block.
  for (let start = 0; start < 4096; start += groups) {
    const some = Array.from({ length: groups }, (_, g) =>
      [9, 6, 3, 0].map((shift, i) => (((start + g) >> shift) & 7) | ((start / groups + i) % 2 === 0 ? 8 : 0)),
    );
    yield blockOf(scales[0], some, 'every group of magnitudes');
  }
}
