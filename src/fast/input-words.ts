/**
 * From the bytes of a tensor to what a quantizer takes in: the exact values first, then each rounded once.
 * A binary64 value goes to BF16 directly: by way of FP32 it would be rounded twice, and 1.00390625000000022 (just above
 * a tie of BF16) would come out as 1. Clauses: spec/conventions.md CON-04, spec/tensors.md TEN-04.
 * @module
 */

/** Binary64 holds every value of these types exactly. */
export type InputType = 'F16' | 'BF16' | 'F32' | 'F64';

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

/** The value of a binary16 word. */
function binary16(word: number): number {
  const field = (word >>> 10) & 0x1f;
  const fraction = word & 0x3ff;
  const sign = word & 0x8000 ? -1 : 1;
  if (field === 0) return sign * fraction * 2 ** -24;
  if (field === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1024 + fraction) * 2 ** (field - 25);
}

function bfloat16(word: number): number {
  singleBits[0] = word << 16;
  return single[0]!;
}

/** Whether typed arrays have the byte order of files. */
export const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/**
 * TEN-04. The exact values of `out.length` consecutive elements; `bytes` holds exactly these.
 * @param out of FP32 where that holds every value of the type: all but F64
 */
export function readValues(
  bytes: Uint8Array,
  type: InputType,
  littleEndian: boolean,
  out: Float64Array | Float32Array,
): void {
  if (type === 'F32' && littleEndian && LITTLE_ENDIAN && out instanceof Float32Array) {
    new Uint8Array(out.buffer, out.byteOffset, out.byteLength).set(bytes);
    return;
  }
  if (
    type === 'BF16' &&
    littleEndian &&
    LITTLE_ENDIAN &&
    out instanceof Float32Array &&
    bytes.byteOffset % 2 === 0
  ) {
    const halves = new Uint16Array(bytes.buffer, bytes.byteOffset, out.length);
    const words = new Uint32Array(out.buffer, out.byteOffset, out.length);
    for (let i = 0; i < words.length; i++) words[i] = halves[i]! << 16;
    return;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = out.length;
  switch (type) {
    case 'F64':
      for (let i = 0; i < count; i++) out[i] = view.getFloat64(8 * i, littleEndian);
      return;
    case 'F32':
      for (let i = 0; i < count; i++) out[i] = view.getFloat32(4 * i, littleEndian);
      return;
    case 'F16':
      for (let i = 0; i < count; i++) out[i] = binary16(view.getUint16(2 * i, littleEndian));
      return;
    case 'BF16':
      for (let i = 0; i < count; i++) out[i] = bfloat16(view.getUint16(2 * i, littleEndian));
  }
}

/** The bytes of words as a file holds them; in place where the machine does so too. */
export function littleEndianBytes(words: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  if (LITTLE_ENDIAN) return bytes;
  const view = new DataView(new ArrayBuffer(bytes.length));
  for (let i = 0; i < words.length; i++) view.setUint32(4 * i, words[i]!, true);
  return new Uint8Array(view.buffer);
}

const CANONICAL_NAN = 0x7fc00000;

/** The FP32 word of a value rounded half-even to FP32. */
function f32Word(x: number): number {
  single[0] = x;
  return Number.isNaN(x) ? CANONICAL_NAN : singleBits[0]!;
}

/**
 * The FP32 word of a value rounded half-even to BF16, once: it is first rounded to odd in FP32, which has more than two
 * bits to spare and the same exponents, so the second rounding sees on which side of every tie the value lies.
 */
function bf16Word(x: number): number {
  let word = f32Word(x);
  if (word === CANONICAL_NAN) return word;
  const rounded = single[0]!;
  if (rounded !== x) {
    const truncated = Math.abs(rounded) > Math.abs(x) ? word - 1 : word;
    word = (truncated | 1) >>> 0;
  }
  const lower = word & 0xffff;
  const upper = word - lower;
  const up = lower > 0x8000 || (lower === 0x8000 && (upper & 0x10000) !== 0);
  return up ? upper + 0x10000 : upper;
}

/**
 * CON-04. FP32 words rounded once to the input format: those of FP32 stay, and of NaNs nothing but that they are NaNs is kept.
 * @param out as many words as there are; may be the same array
 */
export function roundWords(words: Uint32Array, input: 'bf16' | 'f32', out: Uint32Array): void {
  if (input === 'f32') {
    if (out !== words) out.set(words);
    return;
  }
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    // Half-even, to infinity beyond the largest; the carry of a NaN could run into its sign.
    out[i] =
      (word & 0x7fffffff) > 0x7f800000 ? CANONICAL_NAN : (word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000;
  }
}

/**
 * CON-04, TEN-04. FP32 words holding each value rounded once to the input format; what overflows is an infinity.
 * @param out as many words as there are values
 */
export function roundedWords(values: Float64Array, input: 'bf16' | 'f32', out: Uint32Array): void {
  const round = input === 'bf16' ? bf16Word : f32Word;
  for (let i = 0; i < values.length; i++) out[i] = round(values[i]!);
}
