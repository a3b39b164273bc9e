/**
 * Nibbles in words, and the order of words that SM80's sparse products read. Clauses: spec/sparsity.md SPA-13.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';

/** SPA-13. Forms of the metadata: nibbles of a row in words, the first group lowest; or these words as SM80 orders them. */
export const WORD_FORMS = ['u8', 'u16', 'u32', 'sm80-u16', 'sm80-u32'] as const;
export type WordForm = (typeof WORD_FORMS)[number];

/** @throws Fp4Error E_USAGE for a name that is no form */
export function wordForm(name: string): WordForm {
  if ((WORD_FORMS as readonly string[]).includes(name)) return name as WordForm;
  throw new Fp4Error('E_USAGE', `unknown form of words "${name}"; ${knownNames(name, WORD_FORMS)}`);
}

export interface MetadataWords {
  readonly words: Uint8Array | Uint16Array | Uint32Array;
  /** Words of a row. */
  readonly columns: number;
}

const ARRAYS = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array } as const;

const bitsOf = (form: WordForm): 8 | 16 | 32 => Number(form.slice(form.indexOf('u') + 1)) as 8 | 16 | 32;

/** SPA-13. Rows that are reordered together: a tile of words. */
const tileRows = (bits: number): number => (bits === 16 ? 32 : 16);

/**
 * SPA-13. Where the word of a row and a column stands among SM80's words.
 * @param rows a multiple of the tile's
 */
function sm80Offset(row: number, column: number, rows: number, tile: number): number {
  const inTile = row % tile;
  // The eight rows of a core matrix go apart, so that one thread finds its words together.
  const spread = row - inTile + (row % 8) * (tile / 8) + Math.floor(inTile / 8);
  // In each square of 2 x 2 the words off the diagonal change places.
  const swap = (column % 2) - (spread % 2);
  const [r, c] = [spread + swap, column - swap];
  return Math.floor(c / 2) * rows * 2 + r * 2 + (c % 2);
}

function reordered<T extends MetadataWords['words']>(
  words: T,
  rows: number,
  columns: number,
  bits: number,
  direction: 'to' | 'from',
): T {
  const tile = tileRows(bits);
  if (rows % tile !== 0 || columns % 2 !== 0) {
    throw new Fp4Error(
      'E_SHAPE',
      `SM80's words of ${bits} bits are ordered in tiles of ${tile} rows by 2 words; found ${rows} rows of ${columns}`,
    );
  }
  const out = words.slice() as T;
  for (let at = 0; at < words.length; at++) {
    const offset = sm80Offset(Math.floor(at / columns), at % columns, rows, tile);
    if (direction === 'to') out[offset] = words[at]!;
    else out[at] = words[offset]!;
  }
  return out;
}

/**
 * SPA-13. The nibbles of rows as words.
 * @param nibbles rows x groups
 * @param empty the nibble of a group of zeros, which fills a row's last word
 * @throws Fp4Error E_SHAPE where SM80's tiles are not filled
 */
export function metadataWords(
  nibbles: Uint8Array,
  rows: number,
  groups: number,
  form: WordForm,
  empty: number,
): MetadataWords {
  const bits = bitsOf(form);
  const each = bits / 4;
  const columns = Math.ceil(groups / each);
  const words = new ARRAYS[bits](rows * columns);
  for (let at = 0; at < words.length; at++) {
    const [r, c] = [Math.floor(at / columns), at % columns];
    let word = 0;
    for (let j = each - 1; j >= 0; j--) {
      const g = c * each + j;
      word = (word << 4) | (g < groups ? nibbles[r * groups + g]! : empty);
    }
    words[at] = word;
  }
  return { words: form.startsWith('sm80') ? reordered(words, rows, columns, bits, 'to') : words, columns };
}

/**
 * SPA-13. The nibbles of words, the inverse of `metadataWords`; what fills a row's last word is dropped.
 * @throws Fp4Error E_SHAPE, E_LENGTH
 */
export function nibblesOfWords(
  words: MetadataWords['words'],
  rows: number,
  groups: number,
  form: WordForm,
): Uint8Array {
  const each = bitsOf(form) / 4;
  const columns = Math.ceil(groups / each);
  if (words.length !== rows * columns) {
    throw new Fp4Error(
      'E_LENGTH',
      `${rows} rows of ${groups} groups need ${rows * columns} words, found ${words.length}`,
    );
  }
  const plain = form.startsWith('sm80') ? reordered(words, rows, columns, bitsOf(form), 'from') : words;
  return Uint8Array.from({ length: rows * groups }, (_, at) => {
    const [r, g] = [Math.floor(at / groups), at % groups];
    return (plain[r * columns + Math.floor(g / each)]! >>> (4 * (g % each))) & 15;
  });
}
