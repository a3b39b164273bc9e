/**
 * Words and numbers by what the platform does, not by src/number: FP32 and binary64 through DataView, BF16 through
 * integer arithmetic on FP32 bits. For the tests alone.
 * @module
 */
const view = new DataView(new ArrayBuffer(8));

/** The number an FP32 word stands for. */
export function f32FromBits(word: number): number {
  view.setUint32(0, word);
  return view.getFloat32(0);
}

/** The FP32 word of a number, rounded half-even by the platform. */
export function bitsOfF32(x: number): number {
  view.setFloat32(0, x);
  return view.getUint32(0);
}

/** The number a BF16 word stands for: the upper half of an FP32 word. */
export const bf16FromBits = (word: number): number => f32FromBits(word * 65536);

/** FP32 bits to BF16 bits, half-even by integer addition (no NaN). */
export function bf16OfF32Bits(bits: number): number {
  const upper = Math.floor(bits / 65536);
  return Math.floor((bits + 0x7fff + (upper & 1)) / 65536);
}

/** Exponent of the binade of a positive number: 2^e <= x < 2^(e + 1). Reads the bits of a binary64 normal number. */
export function binade(x: number): number {
  view.setFloat64(0, x);
  return ((view.getUint32(0) >>> 20) & 0x7ff) - 1023;
}

/** 2^e as a binary64 normal number, from its bits. */
export function power(e: number): number {
  view.setUint32(0, (e + 1023) << 20);
  view.setUint32(4, 0);
  return view.getFloat64(0);
}

/** Half-even to an integer, for numbers below 2^52. */
export function nearestEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** A positive number rounded half-even to 8 significant bits, or to a multiple of 2^-133 below 2^-126; no upper limit. */
export function toBF16Grid(x: number): number {
  if (x === 0) return 0;
  const step = power(Math.max(binade(x), -126) - 7);
  return nearestEven(x / step) * step;
}

/** Words of fixed width in hex, for messages a person can read. */
export const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
