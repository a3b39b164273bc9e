/** Compressed groups against what PyTorch gave, and against its formula and the tables of the conventions written out here. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compress, expand, gather } from '../../src/sparsity/compress.ts';
import { metadataWords, nibblesOfWords, WORD_FORMS, wordForm } from '../../src/sparsity/metadata-words.ts';
import { CONVENTIONS, conventionOf, OVERFULL, slotsOf } from '../../src/sparsity/slots.ts';

const CASES = new URL('../cases/', import.meta.url);
interface Case {
  id: string;
  dtype: 'int8' | 'float16' | 'bfloat16';
  shape: [number, number];
  style: string;
  dense: string[];
  values: string[];
  meta_dtype: 'int16' | 'int32';
  meta_reordered: string[][];
  nibbles: string[];
  to_dense: string[];
}
const cases: Case[] = readFileSync(new URL('sparsity24.jsonl', CASES), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

const SIGN = { int8: 0, float16: 0x8000, bfloat16: 0x8000 } as const;

/** Rows of hex as words. */
function wordsOf(dtype: Case['dtype'], rows: readonly string[]): Uint8Array | Uint16Array {
  const digits = dtype === 'int8' ? 2 : 4;
  const words = rows
    .join('')
    .match(new RegExp(`.{${digits}}`, 'g'))!
    .map((w) => Number.parseInt(w, 16));
  return dtype === 'int8' ? Uint8Array.from(words) : Uint16Array.from(words);
}

const nonzeroIn = (words: ArrayLike<number>, sign: number): Uint8Array =>
  Uint8Array.from(Array.from(words), (w) => Number(w !== 0 && (sign === 0 || w !== sign)));

describe.each(cases.map((c) => [c.id, c] as const))('PyTorch, %s', (_, c) => {
  const [rows, depth] = c.shape;
  const dense = wordsOf(c.dtype, c.dense);
  const nonzero = nonzeroIn(dense, SIGN[c.dtype]);
  const overfull = c.style === 'overfull' ? 'pytorch' : 'error';
  const packed = compress(nonzero, rows, depth, { pattern: '2:4', convention: 'pytorch', overfull });

  test('nibbles and values, -0 in a slot stored as -0 [SPA-09, SPA-10, SPA-11]', () => {
    const nibbles = [...packed.nibbles].map((n) => n.toString(16)).join('');
    expect(nibbles).toBe(c.nibbles.join(''));
    expect([...gather(dense, packed)]).toEqual([...wordsOf(c.dtype, c.values)]);
  });

  test('words reordered for SM80, and back [SPA-13]', () => {
    const form = c.meta_dtype === 'int16' ? 'sm80-u16' : 'sm80-u32';
    const { words, columns } = metadataWords(packed.nibbles, rows, packed.groups, form, packed.empty);
    const wanted = c.meta_reordered.flat().map((w) => Number.parseInt(w, 16));
    expect([columns, ...words]).toEqual([c.meta_reordered[0]!.length, ...wanted]);
    expect(nibblesOfWords(words, rows, packed.groups, form)).toEqual(packed.nibbles);
  });

  test('expanded again [SPA-14]', () => {
    const back = expand(
      gather(dense, packed),
      packed.nibbles,
      rows,
      depth,
      { pattern: '2:4', convention: 'pytorch' },
      SIGN[c.dtype],
    );
    expect([...back]).toEqual([...wordsOf(c.dtype, c.to_dense)]);
  });
});

test('a group with three nonzeros is refused unless one asks [SPA-11]', () => {
  const c = cases.find(({ style }) => style === 'overfull')!;
  const nonzero = nonzeroIn(wordsOf(c.dtype, c.dense), 0);
  expect(() => compress(nonzero, ...c.shape, { pattern: '2:4', convention: 'pytorch' })).toThrow(
    /^row \d+, elements \d+ to \d+: more nonzeros than 2:4 allows; expected at most 2$/,
  );
});

/** The elements of a pattern of zeros and ones as bits, element 0 lowest. */
const flagsOf = (mask: string): number =>
  [...mask].reduce((sum, digit, i) => sum + Number(digit) * 2 ** i, 0);
const ELEMENTS = Uint8Array.of(1, 2, 3, 4);

describe('all patterns of nonzeros', () => {
  const table: Record<string, [string, number[]]> = JSON.parse(
    readFileSync(new URL('sparsity24_table.json', CASES), 'utf8'),
  );
  test.each(Object.entries(table))('PyTorch: %s [SPA-10, SPA-11, SPA-12]', (mask, [nibble, kept]) => {
    const pattern = mask.length === 2 ? '1:2' : '2:4';
    const x = ELEMENTS.map((value, i) => (mask[i] === '1' ? value : 0)).subarray(0, mask.length);
    const packed = compress(nonzeroIn(x, 0), 1, mask.length, {
      pattern,
      convention: 'pytorch',
      overfull: 'pytorch',
    });
    expect(packed.nibbles[0]!.toString(16)).toBe(nibble);
    expect([...gather(x, packed)]).toEqual(kept.map((v) => (x.includes(v) ? v : 0)));
  });

  test('PyTorch: the formula in booleans [SPA-10]', () => {
    for (let flags = 0; flags < 16; flags++) {
      const [m0, m1, , m3] = [0, 1, 2, 3].map((i) => ((flags >> i) & 1) === 1);
      const [e0, e1, e2] = [m0 && m1, !m0 && m1, !m0 && !m1];
      const bits = [e1, e2, e0 || e2 || m3, e1 || !m1];
      const nibble = bits.reduce((sum, bit, i) => sum + Number(bit) * 2 ** i, 0);
      expect([flags, slotsOf(flags, '2:4', 'pytorch', 'pytorch', 'lowest-index').nibble]).toEqual([
        flags,
        nibble,
      ]);
    }
  });

  test.each([
    ['kept', { '1000': '4', '0100': '4', '0010': '8', '0001': 'c', '0000': '4' }],
    ['pytorch', { '1000': '8', '0100': '9', '0010': 'e', '0001': 'e', '0000': 'e' }],
    ['cutlass', { '1000': 'c', '0100': 'd', '0010': 'e', '0001': 'c', '0000': '0' }],
    ['ascend', { '1000': '0', '0100': '1', '0010': '2', '0001': '8', '0000': '0' }],
  ] as const)('fewer than two: %s [SPA-10]', (convention, wanted) => {
    for (const [mask, nibble] of Object.entries(wanted)) {
      const found = slotsOf(flagsOf(mask), '2:4', convention, 'error', 'lowest-index');
      expect([mask, found.nibble!.toString(16)]).toEqual([mask, nibble]);
    }
  });

  test.each([
    ['kept', { '1100': '4', '1010': '8', '0110': '9', '1001': 'c', '0101': 'd', '0011': 'e' }],
    ['pytorch', { '1100': '4', '1010': '8', '0110': '9', '1001': 'c', '0101': 'd', '0011': 'e' }],
    ['cutlass', { '1100': '4', '1010': '8', '0110': '9', '1001': 'c', '0101': 'd', '0011': 'e' }],
    // The second index less one: (0,0) (0,1) (1,1) (0,2) (1,2) (2,2).
    ['ascend', { '1100': '0', '1010': '4', '0110': '5', '1001': '8', '0101': '9', '0011': 'a' }],
  ] as const)('two: %s [SPA-09, SPA-10]', (convention, wanted) => {
    for (const [mask, nibble] of Object.entries(wanted)) {
      const found = slotsOf(flagsOf(mask), '2:4', convention, 'error', 'lowest-index');
      expect([mask, found.nibble!.toString(16)]).toEqual([mask, nibble]);
    }
  });

  test('first-two keeps the first two nonzeros, where PyTorch does not [SPA-11]', () => {
    const nibble = (mask: string, overfull: 'first-two' | 'pytorch') =>
      slotsOf(flagsOf(mask), '2:4', 'pytorch', overfull, 'lowest-index').nibble!.toString(16);
    const masks = ['1110', '1101', '1011', '0111', '1111'];
    expect(masks.map((mask) => nibble(mask, 'first-two'))).toEqual(['4', '4', '8', '9', '4']);
    expect(masks.map((mask) => nibble(mask, 'pytorch'))).toEqual(['4', '4', 'c', 'd', '4']);
    expect(slotsOf(0b111, '2:4', 'ascend', 'first-two', 'lowest-index').nibble).toBe(0);
    // Elements 1 and 3 under Ascend: 1, and 3 less one.
    expect(slotsOf(0b1110, '2:4', 'ascend', 'pytorch', 'lowest-index').nibble).toBe(9);
    expect(slotsOf(0b11, '1:2', 'kept', 'first-two', 'lowest-index').nibble).toBe(4);
    expect(slotsOf(0b11, '1:2', 'kept', 'error', 'lowest-index').nibble).toBeUndefined();
  });

  test('an explicit order says which zeros fill kept slots [SPA-05, SPA-10]', () => {
    const nibble = (flags: number, ties: readonly number[] | 'highest-index') =>
      slotsOf(flags, '2:4', 'kept', 'error', ties).nibble!.toString(16);
    expect([nibble(0, 'highest-index'), nibble(1, 'highest-index'), nibble(0, [1, 3, 0, 2])]).toEqual([
      'e',
      'c',
      'd',
    ]);
    expect(slotsOf(0, '1:2', 'kept', 'error', 'highest-index').nibble).toBe(0xe);
  });
});

describe('expanding what was compressed', () => {
  const CONVENTIONS_OF = { '2:4': CONVENTIONS, '1:2': ['kept', 'pytorch'], '4:8': ['kept'] } as const;
  const SIZES = {
    '2:4': { group: 4, unit: 1, keep: 2 },
    '1:2': { group: 2, unit: 1, keep: 1 },
    '4:8': { group: 8, unit: 2, keep: 2 },
  };
  const anyRun = fc.record({
    rows: fc.integer({ min: 0, max: 3 }),
    depth: fc.integer({ min: 0, max: 19 }),
    pattern: fc.constantFrom('2:4' as const, '1:2' as const, '4:8' as const),
    words: fc.array(fc.constantFrom(0, 0, 0, 0x8000, 0x3c00, 0xbc01, 0x7e00), {
      minLength: 57,
      maxLength: 57,
    }),
    which: fc.nat(3),
  });

  test('gives the words back, zeros as +0, where nothing had to go [SPA-14]', () => {
    fc.assert(
      fc.property(anyRun, ({ rows, depth, pattern, words, which }) => {
        const x = Uint16Array.from(words.slice(0, rows * depth));
        const { group, unit, keep } = SIZES[pattern];
        // Made sparse by dropping what comes after the allowed number of units.
        for (let r = 0; r < rows; r++) {
          const seen = new Map<number, Set<number>>();
          for (let k = 0; k < depth; k++) {
            const units = seen.get(Math.floor(k / group)) ?? new Set<number>();
            const u = Math.floor((k % group) / unit);
            if (x[r * depth + k] !== 0 && x[r * depth + k] !== 0x8000) {
              if (units.has(u) || units.size < keep) units.add(u);
              else x[r * depth + k] = 0;
            }
            seen.set(Math.floor(k / group), units);
          }
        }
        const names = CONVENTIONS_OF[pattern];
        const convention = names[which % names.length]!;
        const packed = compress(nonzeroIn(x, 0x8000), rows, depth, { pattern, convention });
        const back = expand(gather(x, packed), packed.nibbles, rows, depth, { pattern, convention }, 0x8000);
        const zero = (w: number): number => w & 0x7fff;
        for (let at = 0; at < x.length; at++) {
          if (zero(x[at]!) !== 0) expect(back[at]).toBe(x[at]);
          else expect(zero(back[at]!)).toBe(0);
        }
        const again = compress(nonzeroIn(back, 0x8000), rows, depth, { pattern, convention });
        expect(again.nibbles).toEqual(packed.nibbles);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['kept', [0, 5, 0xa, 0xf, 1, 6]],
    ['pytorch', [0, 5]],
    ['cutlass', [5, 0xa, 0xf, 2]],
    ['ascend', [0x3, 0xc, 0xf]],
  ] as const)('%s has no such nibbles [SPA-09, SPA-14]', (convention, nibbles) => {
    for (const nibble of nibbles) {
      expect(() =>
        expand(Uint8Array.of(0, 0), Uint8Array.of(nibble), 1, 4, { pattern: '2:4', convention }, 8),
      ).toThrow(`row 0, group 0: 2:4 has no nibble ${nibble.toString(16)} under convention ${convention}`);
    }
  });

  test('two nonzeros in one place, and a value beyond the end, are refused [SPA-14]', () => {
    const ascend = { pattern: '2:4', convention: 'ascend' } as const;
    expect(() => expand(Uint8Array.of(5, 5), Uint8Array.of(1), 1, 4, ascend, 8)).toThrow(
      'two values that are not zero at position 1',
    );
    expect([...expand(Uint8Array.of(5, 8), Uint8Array.of(1), 1, 4, ascend, 8)]).toEqual([0, 5, 0, 0]);
    expect([...expand(Uint8Array.of(0, 5), Uint8Array.of(1), 1, 4, ascend, 8)]).toEqual([0, 5, 0, 0]);
    expect(() => expand(Uint8Array.of(0, 5), Uint8Array.of(0xc), 1, 3, { pattern: '2:4' }, 8)).toThrow(
      'a value that is not zero at position 3; a row has 3 elements',
    );
    expect(() => expand(Uint8Array.of(0), Uint8Array.of(4), 1, 4, { pattern: '2:4' }, 8)).toThrow(
      'found 1 nibbles and 1 values; expected 1 nibbles and 2 values',
    );
  });
});

describe('words', () => {
  test('first group lowest, a short row filled with the nibble of zeros [SPA-13]', () => {
    const nibbles = Uint8Array.of(0x4, 0x9, 0xe, 0xd, 0xc);
    const words = (form: (typeof WORD_FORMS)[number]) => [...metadataWords(nibbles, 1, 5, form, 0x4).words];
    expect(words('u8')).toEqual([0x94, 0xde, 0x4c]);
    expect(words('u16')).toEqual([0xde94, 0x444c]);
    expect(words('u32')).toEqual([0x444cde94]);
    for (const form of ['u8', 'u16', 'u32'] as const) {
      const { words: packed } = metadataWords(nibbles, 1, 5, form, 0x4);
      expect(nibblesOfWords(packed, 1, 5, form)).toEqual(nibbles);
    }
  });

  test('SM80 words of two tiles: each word once, tiles apart [SPA-13]', () => {
    for (const [form, tile, each] of [
      ['sm80-u16', 32, 4],
      ['sm80-u32', 16, 8],
    ] as const) {
      const rows = 2 * tile;
      const groups = 4 * each;
      const nibbles = Uint8Array.from({ length: rows * groups }, (_, at) => (at * 7 + (at >> 4)) & 15);
      const { words } = metadataWords(nibbles, rows, groups, form, 0);
      expect(nibblesOfWords(words, rows, groups, form)).toEqual(nibbles);
      expect(() => metadataWords(nibbles, rows - 1, groups, form, 0)).toThrow(
        `tiles of ${tile} rows by 2 words`,
      );
      expect(() => metadataWords(nibbles.subarray(0, rows * each), rows, each, form, 0)).toThrow('rows of 1');
    }
  });

  test('names that do not exist', () => {
    expect(() => wordForm('u64')).toThrow(`known: ${WORD_FORMS.join(', ')}`);
    expect(() => conventionOf('ascend', '4:8')).toThrow('no convention "ascend" for 4:8');
    expect(OVERFULL).toContain('error');
    expect(() => nibblesOfWords(Uint8Array.of(1), 1, 4, 'u8')).toThrow(
      '1 rows of 4 groups need 2 words, found 1',
    );
  });
});
