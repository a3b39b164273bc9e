/**
 * The input families written a second time, on BigInt and from the text of spec/random.md alone: a 64 x 64 bit product where
 * the library multiplies by halves, exact fractions where it uses binary64.
 */
const MASK = 0xffffffffn;

export function twinPhilox(key: bigint, counter: readonly [bigint, bigint, bigint, bigint]): bigint[] {
  let [k0, k1] = [key & MASK, key >> 32n];
  let [c0, c1, c2, c3] = counter;
  for (let round = 0; round < 10; round++) {
    const p0 = 0xd2511f53n * c0;
    const p1 = 0xcd9e8d57n * c2;
    [c0, c1, c2, c3] = [(p1 >> 32n) ^ c1 ^ k0, p1 & MASK, (p0 >> 32n) ^ c3 ^ k1, p0 & MASK];
    k0 = (k0 + 0x9e3779b9n) & MASK;
    k1 = (k1 + 0xbb67ae85n) & MASK;
  }
  return [c0, c1, c2, c3];
}

/** n x 2^k rounded half-even to sign, 8 exponent bits and `fraction` bits. */
function twinRound(n: bigint, k: number, fraction: number): number {
  if (n === 0n) return 0;
  const magnitude = n < 0n ? -n : n;
  const quantum = Math.max(magnitude.toString(2).length - 1 + k, -126) - fraction;
  const up = BigInt(Math.max(k - quantum, 0));
  const down = BigInt(Math.max(quantum - k, 0));
  const doubled = ((magnitude << up) << 1n) >> down;
  const sticky = (magnitude << up) << 1n !== doubled << down;
  const floor = doubled >> 1n;
  const units = (doubled & 1n) === 0n ? floor : sticky || (floor & 1n) === 1n ? floor + 1n : floor;
  // Codes are consecutive across binades, so a carry needs no care.
  const code = units + (BigInt(quantum + fraction + 126) << BigInt(fraction));
  const largest = 0xffn << BigInt(fraction);
  return Number((code > largest ? largest : code) + (n < 0n ? 1n << BigInt(fraction + 8) : 0n));
}

export interface TwinDraw {
  readonly family: number;
  readonly seed: bigint;
  readonly operand: number;
  readonly fraction: 7 | 23;
  readonly channels: number;
  readonly low?: number;
  readonly high?: number;
}

/** Element i of a family. */
export function twinElement(d: TwinDraw, i: number): number {
  const words = (index: number, use: number): bigint[] =>
    twinPhilox(d.seed, [
      BigInt(index) & MASK,
      BigInt(index) >> 32n,
      BigInt(d.family),
      BigInt(use + 16 * d.operand),
    ]);
  const a = words(i, 0);
  const b = words(i, 1);
  const g = words(d.family === 6 ? i % d.channels : Math.floor(i / 64), 2)[0]!;
  if (d.family < 2) {
    const word = d.fraction === 7 ? a[0]! & 0xffffn : a[0]!;
    const infinity = 0xffn << BigInt(d.fraction);
    const cleared = d.family === 0 && (word & infinity) === infinity ? 1n << BigInt(d.fraction) : 0n;
    return Number(word - cleared);
  }
  if (d.family === 4) {
    const m = i % 32 === 0 ? 56n : a[0]! % 57n;
    return twinRound((b[2]! & 1n) === 1n ? -m : m, -8 + Number(g % 17n) - 3, d.fraction);
  }
  const halves = [...a, b[0]!, b[1]!].flatMap((w) => [w & 0xffffn, w >> 16n]);
  const s = halves.reduce((sum, h) => sum + h, 0n);
  const low = d.low ?? -20;
  const high = d.high ?? 20;
  const exponent = d.family === 3 ? low + Number(g % BigInt(high - low + 1)) : 0;
  const factor = d.family === 5 && b[2]! % 100n === 0n ? 50n : d.family === 6 && g % 100n === 0n ? 30n : 1n;
  if (d.family === 7 && b[2]! % 4n < 2n) return b[2]! % 4n === 0n ? 0 : 2 ** (d.fraction + 8);
  return twinRound(factor * (s - 393210n), exponent - 16, d.fraction);
}
