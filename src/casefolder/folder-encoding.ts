/**
 * Arrays as the files of a case folder, and back: raw, .npy, the words of the stream, $readmemh.
 * Clauses: spec/folders.md FOL-03, FOL-12 to FOL-14.
 * @module
 */
import { Fp4Error } from '../error.ts';
import type { ElementName } from '../files/element-type.ts';
import { buildNpyHeader, NPY_PREFIX, npyHeaderBytes, parseNpyHeader } from '../files/npy.ts';
import { DTYPE_BYTES, type Dtype, type FolderArray } from './folder-array.ts';
import type { FolderEncoding } from './folder-job.ts';

/** What an encoding needs to know of an array. */
export type ArrayForm = Pick<FolderArray, 'name' | 'dtype' | 'shape' | 'count' | 'digits' | 'nibbles'>;

/** The form of a file by its name's ending. */
export type FileForm = 'bin' | 'npy' | 'txt' | 'mem';

/** FOL-12. The form that an encoding gives its arrays; a C header stands beside raw files. */
export const FILE_FORMS: Readonly<Record<FolderEncoding, FileForm>> = {
  ...{ raw: 'bin', npy: 'npy', text: 'txt', readmemh: 'mem', c: 'bin' },
};

const NPY_TYPES: Readonly<Record<Dtype, ElementName>> = {
  ...{ bf16: 'U16', f16: 'F16', f32: 'F32', u8: 'U8', u16: 'U16', u32: 'U32', u4x2: 'U8' },
};

export const elementsOf = ({ shape }: Pick<ArrayForm, 'shape'>): number => shape.reduce((a, b) => a * b, 1);

/** FOL-03. Bytes of the headerless form. */
export const rawLength = (form: ArrayForm): number =>
  form.dtype === 'u4x2' ? Math.ceil(elementsOf(form) / 2) : elementsOf(form) * DTYPE_BYTES[form.dtype];

/** FOL-03. Elements little-endian in C order; codes two a byte. */
export function rawBytes(form: ArrayForm, words: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(rawLength(form));
  if (form.dtype === 'u4x2') {
    const first = form.nibbles === 'low-first' ? 0 : 4;
    for (let i = 0; i < words.length; i++) bytes[i >> 1]! |= words[i]! << (i & 1 ? 4 - first : first);
    return bytes;
  }
  const width = DTYPE_BYTES[form.dtype];
  for (let i = 0, at = 0; i < words.length; i++) {
    for (let b = 0; b < width; b++) bytes[at++] = words[i]! >>> (8 * b);
  }
  return bytes;
}

function fromRaw(form: ArrayForm, bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(elementsOf(form));
  if (form.dtype === 'u4x2') {
    const first = form.nibbles === 'low-first' ? 0 : 4;
    for (let i = 0; i < words.length; i++) words[i] = (bytes[i >> 1]! >> (i & 1 ? 4 - first : first)) & 15;
    return words;
  }
  const width = DTYPE_BYTES[form.dtype];
  for (let i = 0; i < words.length; i++) {
    let word = 0;
    for (let b = width - 1; b >= 0; b--) word = word * 256 + bytes[i * width + b]!;
    words[i] = word;
  }
  return words;
}

/** The shape of a .npy file: that of the bytes where two codes share one. */
function npyShape(form: ArrayForm): number[] {
  if (form.dtype !== 'u4x2') return [...form.shape];
  const last = form.shape.at(-1)!;
  return last % 2 === 0 ? [...form.shape.slice(0, -1), last / 2] : [rawLength(form)];
}

function npyBytes(form: ArrayForm, words: Uint32Array): Uint8Array {
  const header = buildNpyHeader(NPY_TYPES[form.dtype], npyShape(form));
  const data = rawBytes(form, words);
  const bytes = new Uint8Array(header.length + data.length);
  bytes.set(header);
  bytes.set(data, header.length);
  return bytes;
}

function fromNpy(form: ArrayForm, bytes: Uint8Array, file: string): Uint32Array {
  const length = npyHeaderBytes(bytes.subarray(0, NPY_PREFIX), bytes.length, file);
  const found = parseNpyHeader(bytes.subarray(0, length), bytes.length, file);
  const shape = npyShape(form);
  const type = NPY_TYPES[form.dtype];
  const text = (t: string, s: readonly number[]): string => `${t} (${s.join(', ')})`;
  const fits = found.type === type && found.shape.join() === shape.join();
  if (!fits || !found.littleEndian || (found.order === 'F' && shape.length > 1)) {
    const order = `${found.littleEndian ? '' : ', big-endian'}${found.order === 'F' ? ', Fortran order' : ''}`;
    throw new Fp4Error(
      'E_FOLDER',
      `${file}: found ${text(found.type, found.shape)}${order}; expected ${text(type, shape)}`,
    );
  }
  return fromRaw(form, bytes.subarray(length));
}

const HEX = '0123456789abcdef';

/** Text as bytes; a line of a large array is not worth a string of its own. */
class AsciiWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  text(text: string): void {
    for (let i = 0; i < text.length; i++) this.#push(text.charCodeAt(i));
  }

  hex(word: number, digits: number): void {
    for (let d = digits - 1; d >= 0; d--) this.#push(HEX.charCodeAt((word >>> (4 * d)) & 15));
  }

  #push(byte: number): void {
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length + 64);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = byte;
  }

  done(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** FOL-13. A block a line, as in the stream: words apart, codes in one piece. */
function textBytes(form: ArrayForm, words: Uint32Array): Uint8Array {
  const out = new AsciiWriter(words.length * (form.digits + 1));
  const apart = form.dtype !== 'u4x2';
  for (let i = 0; i < words.length; i++) {
    out.hex(words[i]!, form.digits);
    const last = i % form.count === form.count - 1;
    if (last) out.text('\n');
    else if (apart) out.text(' ');
  }
  return out.done();
}

/** FOL-14. A block a line as one number, element 0 in its lowest bits. */
function memBytes(form: ArrayForm, words: Uint32Array): Uint8Array {
  const { name, count, digits } = form;
  const depth = words.length / count;
  const out = new AsciiWriter(words.length * digits + depth + 120);
  out.text(
    `// ${name}: ${depth} words of ${4 * digits * count} bits, ${count} x ${4 * digits} bits, element 0 lowest\n`,
  );
  for (let start = 0; start < words.length; start += count) {
    for (let j = count - 1; j >= 0; j--) out.hex(words[start + j]!, digits);
    out.text('\n');
  }
  return out.done();
}

/** The digits of a text file, a line a block; what is no comment and no digit is refused. */
function fromLines(form: ArrayForm, bytes: Uint8Array, file: string, kind: 'txt' | 'mem'): Uint32Array {
  const words = new Uint32Array(elementsOf(form));
  const lines = new TextDecoder('latin1').decode(bytes).split(/\r?\n/);
  const depth = words.length / form.count;
  const digits = form.count * form.digits;
  const comment = kind === 'mem' ? /\/\/.*$/ : /^#.*$/;
  let block = 0;
  for (const [number, line] of lines.entries()) {
    const content = line.replace(comment, '').trim();
    if (content === '') continue;
    const run =
      kind === 'txt' && form.dtype !== 'u4x2' ? separated(form, content) : content.replaceAll('_', '');
    if (run === undefined || run.length !== digits || !/^[0-9a-f]+$/i.test(run)) {
      const shown = content.length > 60 ? `${content.slice(0, 57)}...` : content;
      throw new Fp4Error(
        'E_FOLDER',
        `${file}: line ${number + 1}: "${shown}"; expected ${digits} hex digits`,
      );
    }
    if (block === depth) throw new Fp4Error('E_FOLDER', `${file}: more than ${depth} lines`);
    for (let j = 0; j < form.count; j++) {
      const at = kind === 'txt' ? j : form.count - 1 - j;
      words[block * form.count + j] = Number.parseInt(
        run.slice(at * form.digits, (at + 1) * form.digits),
        16,
      );
    }
    block++;
  }
  if (block < depth) throw new Fp4Error('E_FOLDER', `${file}: ${block} lines; expected ${depth}`);
  return words;
}

/** The words of a line put together, or undefined where one has not its width. */
function separated(form: ArrayForm, line: string): string | undefined {
  const parts = line.split(' ');
  return parts.length === form.count && parts.every((part) => part.length === form.digits)
    ? parts.join('')
    : undefined;
}

/** The file of an array. */
export function encodeArray(form: ArrayForm, words: Uint32Array, as: FileForm): Uint8Array {
  switch (as) {
    case 'bin':
      return rawBytes(form, words);
    case 'npy':
      return npyBytes(form, words);
    case 'txt':
      return textBytes(form, words);
    case 'mem':
      return memBytes(form, words);
  }
}

/**
 * The elements of a file.
 * @throws Fp4Error E_FOLDER, E_NPY, E_DTYPE for a file that is short, too long, or of another form
 */
export function decodeArray(form: ArrayForm, bytes: Uint8Array, as: FileForm, file: string): Uint32Array {
  if (as === 'npy') return fromNpy(form, bytes, file);
  if (as !== 'bin') return fromLines(form, bytes, file, as);
  const expected = rawLength(form);
  if (bytes.length !== expected) {
    const what = bytes.length < expected ? 'short' : 'too long';
    const why = `${form.dtype} [${form.shape.join(', ')}]`;
    throw new Fp4Error('E_FOLDER', `${file}: ${what}: ${bytes.length} bytes; expected ${expected}, ${why}`);
  }
  return fromRaw(form, bytes);
}
