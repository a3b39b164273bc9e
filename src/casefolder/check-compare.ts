/**
 * What a device wrote against what is expected, element by element, and where a difference stands.
 * Clauses: spec/folders.md FOL-17, FOL-19; spec/conventions.md CON-03.
 * @module
 */
import { type FolderArray, PADDING } from './folder-array.ts';
import { elementsOf } from './folder-encoding.ts';

/** One difference: the first of its block. */
export interface FolderDifference {
  readonly name: string;
  /** `case 3, element 5`, or `row 1, block 0, element 5`. */
  readonly place: string;
  readonly expected: string;
  readonly found: string;
}

/** A float's infinity without its sign; what lies above is a NaN. */
const INFINITIES: Readonly<Record<string, readonly [mask: number, infinity: number]>> = {
  bf16: [0x7fff, 0x7f80],
  f16: [0x7fff, 0x7c00],
  f32: [0x7fffffff, 0x7f800000],
};

function isNaNWord({ dtype, nans }: FolderArray, word: number): boolean {
  const infinity = INFINITIES[dtype];
  if (infinity) return (word & infinity[0]) > infinity[1];
  return nans?.includes(word) === true;
}

/** FOL-09. Which block an element belongs to, and which of its elements it is; undefined for padding. */
interface Place {
  readonly row: number;
  readonly block: number;
  readonly element: number;
}

function placeOf(array: FolderArray, i: number): Place | undefined {
  const { places, shape, count } = array;
  const index = places ? places.indices[i]! : i;
  if (places && index === PADDING) return undefined;
  const inBlock = places ? places.shape[2] : count;
  const perRow = places ? places.shape[1] * inBlock : elementsOf(array) / shape[0]!;
  const rest = index % perRow;
  return { row: Math.floor(index / perRow), block: Math.floor(rest / inBlock), element: rest % inBlock };
}

const hex = (word: number, digits: number): string => word.toString(16).padStart(digits, '0');

export interface Comparison {
  /** Elements that differ. */
  readonly wrong: number;
  readonly elements: number;
}

/**
 * FOL-19. Compares one array; tells of the first difference of each block, in the order of the file.
 * @param shaped whether the cases lie in rows of blocks
 * @param anyNaN CON-03: every NaN equals every NaN of its type
 */
export function compareArray(
  array: FolderArray,
  found: Uint32Array,
  shaped: boolean,
  anyNaN: boolean,
  tell: (difference: FolderDifference) => void,
): Comparison {
  const { words, digits, name } = array;
  let wrong = 0;
  const told = new Set<string>();
  for (let i = 0; i < words.length; i++) {
    const [expected, got] = [words[i]!, found[i]!];
    if (expected === got) continue;
    if (anyNaN && isNaNWord(array, expected) && isNaNWord(array, got)) continue;
    const place = placeOf(array, i);
    if (place === undefined) continue;
    wrong++;
    const cell = shaped ? `row ${place.row}, block ${place.block}` : `case ${place.row}`;
    if (told.has(cell)) continue;
    told.add(cell);
    const where = `${cell}, element ${place.element}`;
    tell({ name, place: where, expected: hex(expected, digits), found: hex(got, digits) });
  }
  return { wrong, elements: words.length };
}
