/**
 * Every code of the scalar formats as a binary64 number, by a formula each, from the standards; for the tests.
 * @module
 */
import { power } from './platform-floats.ts';

export interface ScalarTable {
  /** What code c stands for, c from 0 to all of them; NaN and infinities as the platform's. */
  readonly values: readonly number[];
  readonly signed: boolean;
  /** The finite magnitudes in ascending order; index = code without its sign. */
  readonly magnitudes: readonly number[];
  readonly nan: number | undefined;
}

const upTo = (count: number, magnitude: (code: number) => number): number[] =>
  Array.from({ length: count }, (_, code) => magnitude(code));

function table(
  magnitudes: readonly number[],
  signed: boolean,
  specials: Readonly<Record<number, number>>,
  nan: number | undefined,
): ScalarTable {
  const total = Object.keys(specials).length + magnitudes.length * (signed ? 2 : 1);
  const sign = signed ? 2 ** Math.round(Math.log2(total)) / 2 : Number.POSITIVE_INFINITY;
  const values = Array.from({ length: signed ? 2 * sign : 256 }, (_, code) => {
    if (code in specials) return specials[code]!;
    return code >= sign ? -magnitudes[code - sign]! : magnitudes[code]!;
  });
  return { values, signed, magnitudes, nan };
}

/** Magnitude of a code with a subnormal binade: `steps` codes a binade, the lowest step 2^lowest. */
const float = (steps: number, lowest: number) => (code: number) => {
  const binade = Math.floor(code / steps);
  return binade === 0 ? code * power(lowest) : ((code % steps) + steps) * power(lowest + binade - 1);
};

const e4m3Specials = { 127: Number.NaN, 255: Number.NaN };
const e5m2Specials = {
  ...{ 124: Infinity, 125: Number.NaN, 126: Number.NaN, 127: Number.NaN },
  ...{ 252: -Infinity, 253: Number.NaN, 254: Number.NaN, 255: Number.NaN },
};

export const SCALAR_TABLES: Readonly<Record<string, ScalarTable>> = {
  e2m1: table([0, 0.5, 1, 1.5, 2, 3, 4, 6], true, {}, undefined),
  e1m2: table([0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75], true, {}, undefined),
  e6m2: table(
    upTo(255, (c) => (4 + (c % 4)) * power(Math.floor(c / 4) - 50)),
    false,
    { 255: Number.NaN },
    255,
  ),
  e8m0: table(
    upTo(255, (c) => power(c - 127)),
    false,
    { 255: Number.NaN },
    255,
  ),
  e4m3: table(upTo(127, float(8, -9)), true, e4m3Specials, 0x7f),
  e5m2: table(upTo(124, float(4, -16)), true, e5m2Specials, 0x7f),
  e4m3fnuz: table(upTo(128, float(8, -10)), true, { 128: Number.NaN }, 0x80),
  e5m2fnuz: table(upTo(128, float(4, -17)), true, { 128: Number.NaN }, 0x80),
};
