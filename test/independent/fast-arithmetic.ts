/** Rounding on binary64 numbers, for the encoders by arithmetic: quick, and without a line of src. */
const halves = new Uint32Array(2);
const double = new Float64Array(halves.buffer);
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0]!;

/** floor(log2 x) of a positive normal number. */
export function exponentOf(x: number): number {
  double[0] = x;
  return ((halves[HIGH]! >>> 20) & 2047) - 1023;
}

/** 2^k for -1022 <= k <= 1023. */
export function twoTo(k: number): number {
  halves[HIGH] = (k + 1023) << 20;
  halves[1 - HIGH] = 0;
  return double[0]!;
}

/** A magnitude rounded to an integer. */
export function roundedToInteger(z: number, negative: boolean, ties: string): number {
  const floor = Math.floor(z);
  const rest = z - floor;
  if (rest === 0) return floor;
  const odd = floor % 2;
  switch (ties) {
    case 'even':
      return rest > 0.5 || (rest === 0.5 && odd === 1) ? floor + 1 : floor;
    case 'away':
      return rest >= 0.5 ? floor + 1 : floor;
    case 'zero':
      return rest > 0.5 ? floor + 1 : floor;
    case 'up':
      return rest > 0.5 || (rest === 0.5 && !negative) ? floor + 1 : floor;
    case 'truncate':
      return floor;
    case 'ceil':
      return negative ? floor : floor + 1;
    case 'floor':
      return negative ? floor + 1 : floor;
    default: // odd
      return floor + 1 - odd;
  }
}

const SHIFTER = 2 ** 52;

/** A magnitude rounded half-even to BF16, subnormals included, its exponent not limited above. */
export function roundedToBF16(x: number): number {
  if (x === 0) return 0;
  const quantum = twoTo(Math.max(exponentOf(x), -126) - 7);
  // Adding 2^52 leaves no fraction bits, so that the machine's own half-even rounding does the work.
  return (x / quantum + SHIFTER - SHIFTER) * quantum;
}

/** A finite FP32 word rounded half-even to BF16, by its two halves. */
export function wordRoundedToBF16(word: number): number {
  const rest = word & 0xffff;
  const kept = word >>> 16;
  const up = rest > 0x8000 || (rest === 0x8000 && kept % 2 === 1) ? 1 : 0;
  return (kept + up) * 0x10000;
}
