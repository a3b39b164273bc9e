/**
 * Constants of the paths for speed, each the exact value rounded: worked out in integers when first asked for.
 * Clauses: spec/elementary.md ELE-09.
 * @module
 */
import { exact, fromNumber, subtract } from './exact.ts';
import { atanh, expSeries, ln2 } from './fixed-point.ts';
import { toNumber } from './floats.ts';

const BITS = 192;

/** The parts of a number of 192 bits: each but the last a multiple of 2^-places, the last rounded to 53 bits. */
function parts(value: bigint, ...places: readonly number[]): number[] {
  let rest = value;
  const found = places.map((place) => {
    const shift = BigInt(BITS - place);
    const part = (rest + (1n << (shift - 1n))) >> shift;
    rest -= part << shift;
    return toNumber(exact(part, -place));
  });
  return [...found, toNumber(exact(rest, -BITS))];
}

/** Steps of exp's table in one binade. */
export const EXP_STEPS = 64;

export interface ExpTable {
  /** 64 / ln 2. */
  readonly perLn2: number;
  /** ln 2 / 64 as a sum: two parts that k < 2^16 times do not round, and the rest. */
  readonly step: readonly [number, number, number];
  /** 2^(j / 64) = high + low. */
  readonly high: Float64Array;
  readonly low: Float64Array;
  /** 1/6 = sixth[0] + sixth[1]. */
  readonly sixth: readonly [number, number];
}

const reciprocal = (n: number): [number, number] => {
  const high = 1 / n;
  const rest = subtract({ significand: 1n, divisor: BigInt(n), exponent: 0 }, fromNumber(high));
  return [high, toNumber(rest)];
};

function makeExpTable(): ExpTable {
  const unit = ln2(BITS);
  const high = new Float64Array(EXP_STEPS);
  const low = new Float64Array(EXP_STEPS);
  for (let j = 0; j < EXP_STEPS; j++) {
    const upper = j > EXP_STEPS / 2; // the series wants an argument of at most 1/2
    const r = (unit * BigInt(upper ? j - EXP_STEPS : j)) / BigInt(EXP_STEPS);
    const value = exact(expSeries(r, BITS).value, (upper ? 1 : 0) - BITS);
    high[j] = toNumber(value);
    low[j] = toNumber(subtract(value, fromNumber(high[j]!)));
  }
  const [first, second, third] = parts(unit >> 6n, 42, 78);
  const perLn2 = toNumber({ significand: 64n << BigInt(BITS), divisor: unit, exponent: 0 });
  return { perLn2, step: [first!, second!, third!], high, low, sixth: reciprocal(6) };
}

export interface LogTable {
  /** ln 2 as a sum: a part that the exponent times does not round, and the rest. */
  readonly ln2: readonly [number, number];
  /** c near 128 / i in units of 2^-10, and -log c = high + low, high a multiple of 2^-42. For i from FIRST_LOG on. */
  readonly reciprocal: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly third: readonly [number, number];
}

/** Mantissas from 90/128 up to 180/128: their nearest multiples of 1/128. */
export const FIRST_LOG = 90;
const LAST_LOG = 180;

function makeLogTable(): LogTable {
  const count = LAST_LOG - FIRST_LOG + 1;
  const table = {
    ln2: parts(ln2(BITS), 42) as [number, number],
    reciprocal: new Float64Array(count),
    high: new Float64Array(count),
    low: new Float64Array(count),
    third: reciprocal(3),
  };
  for (let k = 0; k < count; k++) {
    const n = Math.round((1024 * 128) / (k + FIRST_LOG));
    table.reciprocal[k] = n / 1024;
    const [high, low] = parts(2n * atanh(BigInt(1024 - n), BigInt(1024 + n), BITS), 42);
    table.high[k] = high!;
    table.low[k] = low!;
  }
  return table;
}

let expTableMade: ExpTable | undefined;
let logTableMade: LogTable | undefined;

export function expTable(): ExpTable {
  expTableMade ??= makeExpTable();
  return expTableMade;
}

export function logTable(): LogTable {
  logTableMade ??= makeLogTable();
  return logTableMade;
}
