/**
 * .npy headers, versions 1 to 3, from bytes and to bytes. Nothing in a header is trusted, and nothing is evaluated.
 * Standard: NumPy enhancement proposal 1 and numpy.lib.format. Clauses: spec/tensors.md TEN-01, TEN-03.
 *
 * No npm package is used: those for this format (npyjs, numpy-parser) take the whole file into memory, turn the header
 * into JSON by replacing text, and check neither its length nor the data's.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { ELEMENT_BYTES, type ElementName, type StoredTensor } from './element-type.ts';
import { shapeSize } from './shape.ts';

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] as const; // \x93NUMPY
/** No header of a plain array comes near it; a larger length is a lie, or a structured type that is refused anyway. */
const LONGEST_HEADER = 1 << 20;
/** Magic, version and the longer of the two length fields: what `npyHeaderBytes` needs. */
export const NPY_PREFIX = 12;

const TYPES: Readonly<Record<string, ElementName>> = {
  f2: 'F16',
  f4: 'F32',
  f8: 'F64',
  u1: 'U8',
  u2: 'U16',
  u4: 'U32',
};

const fail = (file: string, message: string): Fp4Error => new Fp4Error('E_NPY', `${file}: ${message}`);

/**
 * TEN-03. How many bytes of a file its header takes, from its first bytes.
 * @param prefix the first 12 bytes, or all of a shorter file
 * @param fileBytes the size of the file
 * @throws Fp4Error E_NPY
 */
export function npyHeaderBytes(prefix: Uint8Array, fileBytes: number, file: string): number {
  if (fileBytes === 0) throw fail(file, 'the file is empty; a .npy file starts with 93 "NUMPY"');
  const found = [...prefix.subarray(0, MAGIC.length)];
  if (MAGIC.some((byte, i) => found[i] !== byte)) {
    const hex = found.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    throw fail(file, `not a .npy file: it starts with ${hex}, expected 93 4e 55 4d 50 59`);
  }
  if (prefix.length < 10) throw fail(file, `truncated: ${fileBytes} bytes do not hold a header`);
  const [major, minor] = [prefix[6]!, prefix[7]!];
  if (major < 1 || major > 3 || minor !== 0) {
    throw fail(file, `version ${major}.${minor} is not known; expected 1.0, 2.0 or 3.0`);
  }
  const start = major === 1 ? 10 : 12;
  if (prefix.length < start) throw fail(file, `truncated: ${fileBytes} bytes do not hold a header`);
  const view = new DataView(prefix.buffer, prefix.byteOffset, prefix.length);
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > LONGEST_HEADER) {
    throw fail(file, `the header says it has ${length} bytes; at most ${LONGEST_HEADER} are accepted`);
  }
  if (start + length > fileBytes) {
    throw fail(file, `truncated: a header of ${length} bytes does not fit into ${fileBytes} bytes`);
  }
  return start + length;
}

/**
 * TEN-01, TEN-03. The tensor that a header describes.
 * @param header as many bytes as `npyHeaderBytes` said
 * @param fileBytes the size of the file, which must be that of the header and the elements exactly
 * @throws Fp4Error E_NPY; E_DTYPE for a type that is valid but not supported
 */
export function parseNpyHeader(header: Uint8Array, fileBytes: number, file: string): StoredTensor {
  const offset = npyHeaderBytes(header.subarray(0, NPY_PREFIX), fileBytes, file);
  if (header.length !== offset) throw new RangeError(`a header of ${offset} bytes, not ${header.length}`);
  const text = decodeText(header.subarray(header[6] === 1 ? 10 : 12), header[6] === 3, file);
  const fields = new HeaderText(text, file).dictionary();
  for (const key of ['descr', 'fortran_order', 'shape']) {
    if (!fields.has(key)) throw fail(file, `the header has no "${key}"`);
  }
  const { type, littleEndian } = elementType(fields.get('descr'), file);
  const fortran = fields.get('fortran_order');
  if (typeof fortran !== 'boolean') throw fail(file, '"fortran_order" is not True or False');
  const shape = fields.get('shape');
  if (!Array.isArray(shape)) throw fail(file, '"shape" is not a tuple');
  const dataBytes = shapeSize(shape, ELEMENT_BYTES[type], 'E_NPY', file);
  const found = fileBytes - offset;
  if (found !== dataBytes) {
    const what = found < dataBytes ? 'truncated' : 'too long';
    throw fail(
      file,
      `${what}: shape (${shape.join(', ')}) of ${type} has ${dataBytes} bytes, found ${found}`,
    );
  }
  return { type, littleEndian, order: fortran ? 'F' : 'C', shape, offset };
}

/** Versions 1 and 2 are Latin-1 by the standard, but only a field name of a structured type could leave ASCII. */
function decodeText(bytes: Uint8Array, utf8: boolean, file: string): string {
  if (!utf8 && bytes.some((byte) => byte >= 0x80))
    throw fail(file, 'the header holds bytes that are not ASCII');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw fail(file, 'the header is not valid UTF-8');
  }
}

function elementType(descr: unknown, file: string): { type: ElementName; littleEndian: boolean } {
  if (typeof descr !== 'string') throw new Fp4Error('E_DTYPE', `${file}: a structured type is not supported`);
  const type = Object.hasOwn(TYPES, descr.slice(1)) ? TYPES[descr.slice(1)] : undefined;
  const order = descr[0];
  const oneByte = type === 'U8';
  if (type === undefined || !(order === '<' || order === '>' || (order === '|' && oneByte))) {
    const known = '<f2 <f4 <f8 |u1 <u2 <u4, or with > for big-endian';
    throw new Fp4Error(
      'E_DTYPE',
      `${file}: type ${JSON.stringify(descr)} is not supported; expected ${known}`,
    );
  }
  return { type, littleEndian: order !== '>' };
}

type HeaderValue = string | boolean | number[] | undefined;

/** The part of Python's literals that a header uses: one dictionary of strings, True or False, and tuples of integers. */
class HeaderText {
  #at = 0;
  readonly #text: string;
  readonly #file: string;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  dictionary(): Map<string, HeaderValue> {
    const fields = new Map<string, HeaderValue>();
    this.#expect('{');
    while (!this.#accept('}')) {
      const key = this.#string();
      if (key !== 'descr' && key !== 'fortran_order' && key !== 'shape') {
        throw fail(this.#file, `unknown header key ${JSON.stringify(key)}`);
      }
      if (fields.has(key)) throw fail(this.#file, `the header has "${key}" twice`);
      this.#expect(':');
      fields.set(key, this.#value(key));
      if (!this.#accept(',')) {
        this.#expect('}');
        break;
      }
    }
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected('the end of the header');
    return fields;
  }

  #value(key: string): HeaderValue {
    this.#skipSpace();
    const rest = this.#text.slice(this.#at, this.#at + 5);
    if (key === 'fortran_order') {
      if (rest.startsWith('True')) return this.#word('True', true);
      if (rest === 'False') return this.#word('False', false);
      throw this.#unexpected('True or False');
    }
    if (key === 'shape') {
      if (rest.startsWith('(')) return this.#tuple();
      throw this.#unexpected('a tuple of sizes, such as (64,)');
    }
    if (key === 'descr' && rest.startsWith('['))
      throw new Fp4Error('E_DTYPE', `${this.#file}: a structured type is not supported`);
    return this.#string();
  }

  #word<T>(word: string, value: T): T {
    this.#at += word.length;
    return value;
  }

  #tuple(): number[] {
    this.#expect('(');
    const items: number[] = [];
    while (!this.#accept(')')) {
      items.push(this.#integer());
      if (this.#accept(',')) continue;
      if (items.length === 1) throw this.#unexpected('a comma, as in (3,)');
      this.#expect(')');
      break;
    }
    return items;
  }

  #integer(): number {
    this.#skipSpace();
    const [digits] = /^-?[0-9]*/.exec(this.#text.slice(this.#at, this.#at + 40))!;
    if (digits === '' || digits === '-') throw this.#unexpected('a dimension');
    if (digits.startsWith('-')) throw fail(this.#file, `the shape has a negative dimension, ${digits}`);
    const value = Number(digits);
    if (!Number.isSafeInteger(value)) throw fail(this.#file, `dimension ${digits} is beyond 2^53 - 1`);
    if (digits.length > 1 && digits.startsWith('0'))
      throw fail(this.#file, `dimension ${digits} starts with a zero`);
    this.#at += digits.length;
    return value;
  }

  #string(): string {
    this.#skipSpace();
    const quote = this.#text[this.#at];
    if (quote !== "'" && quote !== '"') throw this.#unexpected('a quoted string');
    const end = this.#text.indexOf(quote, this.#at + 1);
    const content = this.#text.slice(this.#at + 1, end);
    // No key and no type that is supported needs an escape.
    if (end < 0 || /[\\\n]/.test(content)) throw this.#unexpected('a plain quoted string');
    this.#at = end + 1;
    return content;
  }

  #skipSpace(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #accept(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#accept(character)) throw this.#unexpected(`"${character}"`);
  }

  #unexpected(expected: string): Fp4Error {
    const found = this.#text.slice(this.#at, this.#at + 12);
    const what = found === '' ? 'the end' : JSON.stringify(found);
    return fail(this.#file, `header character ${this.#at}: found ${what}, expected ${expected}`);
  }
}

/** TEN-01. The header of a C-order little-endian array, version 1.0, padded so that the elements start at a multiple of 64. */
export function buildNpyHeader(type: ElementName, shape: readonly number[]): Uint8Array {
  const name = Object.keys(TYPES).find((key) => TYPES[key] === type);
  if (name === undefined) throw new RangeError(`.npy has no ${type}`);
  const descr = `${type === 'U8' ? '|' : '<'}${name}`;
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const total = Math.ceil((10 + text.length + 1) / 64) * 64;
  const bytes = new Uint8Array(total).fill(0x20);
  bytes.set([...MAGIC, 1, 0, (total - 10) & 0xff, (total - 10) >> 8]);
  for (let i = 0; i < text.length; i++) bytes[10 + i] = text.charCodeAt(i);
  bytes[total - 1] = 0x0a;
  return bytes;
}
