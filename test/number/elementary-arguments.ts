/** Random arguments of the elementary functions, each over the exponents where the function has something to say. */
import { randomWords, type Transcendental, type Width } from '../independent/elementary-by-bounds.ts';

/** Exponents of magnitudes, signs that occur, and what else is added to the range. */
const RANGES: Readonly<Record<Transcendental, Readonly<Record<Width, readonly [number, number]>>>> = {
  exp: { 64: [-55, 9], 32: [-26, 6] },
  expm1: { 64: [-54, 9], 32: [-25, 6] },
  log: { 64: [-1074, 1023], 32: [-149, 127] },
  log1p: { 64: [-54, 1023], 32: [-25, 127] },
};

/** Random arguments: a quarter of them near 1, where log is small and exp has its carries; the others over all exponents. */
export function* argumentsOf(
  f: Transcendental,
  width: Width,
  count: number,
  seed: number,
): Generator<number> {
  const word = randomWords(seed);
  const [lowest, highest] = RANGES[f][width];
  const round = width === 32 ? Math.fround : (x: number) => x;
  for (let given = 0; given < count; ) {
    const significand = 1 + word() / 2 ** 32 + word() / 2 ** 52 / 2 ** 12;
    const kind = word();
    const exponent = lowest + (word() % (highest - lowest + 1));
    const magnitude =
      kind % 4 === 0
        ? f === 'log'
          ? 1 + ((kind & 16 ? 1 : -1) * significand) / 2 ** (1 + (word() % (width === 64 ? 51 : 22)))
          : significand / 2 ** (word() % 8)
        : significand * 2 ** exponent;
    const x = round(f === 'log' || (kind & 8) === 0 ? magnitude : -magnitude);
    if (x === 0 || Math.abs(x) === Number.POSITIVE_INFINITY || (f === 'log' && x === 1)) continue;
    if (f === 'log1p' && x <= -1) continue;
    given++;
    yield x;
  }
}
