/**
 * What an encoding has beside the arrays: parameters for SystemVerilog, flags for $readmemh, a C header.
 * Clauses: spec/folders.md FOL-14, FOL-15.
 * @module
 */
import type { Dtype, FolderArray } from './folder-array.ts';
import { elementsOf, rawBytes } from './folder-encoding.ts';
import { FLAG_DIGITS, FLAGS } from './folder-flags.ts';
import type { FolderEncoding } from './folder-job.ts';

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (c) => c.charCodeAt(0));

/** A name as C and SystemVerilog take it. */
const identifier = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, '_');

const snake = (flag: string): string =>
  flag.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=N)(?=I)/g, '_').toUpperCase();

/** FOL-14. Widths and depth of one field's memory. */
function svh({ name, count, digits, words, dtype }: FolderArray): Uint8Array {
  const prefix = identifier(name).toUpperCase();
  const lines = [
    `// ${name}: ${dtype}, one case a line, element 0 in the least significant bits`,
    `localparam integer ${prefix}_BITS = ${4 * digits};`,
    `localparam integer ${prefix}_COUNT = ${count};`,
    `localparam integer ${prefix}_WIDTH = ${4 * digits * count};`,
    `localparam integer ${prefix}_DEPTH = ${words.length / count};`,
  ];
  return ascii(`${lines.join('\n')}\n`);
}

/** FOL-07, FOL-14. The flags of each case, and which bit is which. */
function flagFiles(flags: Uint32Array): [string, Uint8Array][] {
  const width = 4 * FLAG_DIGITS;
  const rows = Array.from(flags, (bits) => bits.toString(16).padStart(FLAG_DIGITS, '0'));
  const names = FLAGS.map((flag, bit) => `localparam integer FLAG_${snake(flag)} = ${bit};`);
  const sizes = [
    `localparam integer FLAGS_WIDTH = ${width};`,
    `localparam integer FLAGS_DEPTH = ${flags.length};`,
  ];
  return [
    ['flags.mem', ascii(`// flags: ${flags.length} words of ${width} bits\n${rows.join('\n')}\n`)],
    ['flags.svh', ascii(`// bit numbers of the flags\n${[...sizes, ...names].join('\n')}\n`)],
  ];
}

const C_TYPES: Readonly<Record<Dtype, { type: string; bytes: number }>> = {
  bf16: { type: 'uint16_t', bytes: 2 },
  f16: { type: 'uint16_t', bytes: 2 },
  f32: { type: 'uint32_t', bytes: 4 },
  u8: { type: 'uint8_t', bytes: 1 },
  u16: { type: 'uint16_t', bytes: 2 },
  u32: { type: 'uint32_t', bytes: 4 },
  u4x2: { type: 'uint8_t', bytes: 1 },
};

const LINE = 16;

/** FOL-15. One array of the C header; floats as their bits, codes two a byte. */
function cArray(array: FolderArray): string {
  const { type, bytes } = C_TYPES[array.dtype];
  const name = `${array.role === 'input' ? 'input' : 'expected'}_${identifier(array.name)}`;
  const data = rawBytes(array, array.words);
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += LINE * bytes) {
    const row: string[] = [];
    for (let i = at; i < Math.min(at + LINE * bytes, data.length); i += bytes) {
      let word = '';
      for (let b = bytes - 1; b >= 0; b--) word += data[i + b]!.toString(16).padStart(2, '0');
      row.push(`0x${word}u`);
    }
    lines.push(`  ${row.join(', ')},`);
  }
  const length = data.length / bytes;
  return [
    `/* ${array.dtype} [${array.shape.join(', ')}], ${elementsOf(array)} elements */`,
    `#define FP4_${name.toUpperCase()}_LENGTH ${length}`,
    `FP4_UNUSED static const ${type} fp4_${name}[${length}] = {`,
    ...lines,
    '};',
    '',
  ].join('\n');
}

function cHeader(arrays: readonly FolderArray[], flags: Uint32Array): Uint8Array {
  const rows: string[] = [];
  for (let at = 0; at < flags.length; at += LINE) {
    const row = Array.from(
      flags.subarray(at, at + LINE),
      (bits) => `0x${bits.toString(16).padStart(4, '0')}u`,
    );
    rows.push(`  ${row.join(', ')},`);
  }
  const head = [
    '/* Cases of fp4-oracle: words are bits; codes two a byte. manifest.json says what they are. */',
    '#ifndef FP4_CASES_H',
    '#define FP4_CASES_H',
    '#include <stdint.h>',
    '#if defined(__GNUC__)',
    '#define FP4_UNUSED __attribute__((unused))',
    '#else',
    '#define FP4_UNUSED',
    '#endif',
    '',
    `#define FP4_CASES ${flags.length}`,
    ...FLAGS.map((flag, bit) => `#define FP4_FLAG_${snake(flag)} ${bit}`),
    '',
  ];
  const tail = [
    `FP4_UNUSED static const uint16_t fp4_flags[${flags.length}] = {`,
    ...rows,
    '};',
    '',
    '#endif',
    '',
  ];
  return ascii([...head, ...arrays.map(cArray), ...tail].join('\n'));
}

/** The files beside the arrays, by name. */
export function companions(
  encoding: FolderEncoding,
  arrays: readonly FolderArray[],
  flags: Uint32Array,
): [name: string, bytes: Uint8Array][] {
  switch (encoding) {
    case 'readmemh':
      return [
        ...arrays.map((array): [string, Uint8Array] => [`${array.name}.svh`, svh(array)]),
        ...flagFiles(flags),
      ];
    case 'c':
      return [['cases.h', cHeader(arrays, flags)]];
    default:
      return [];
  }
}
