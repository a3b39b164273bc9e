/**
 * Whether a number is the correctly rounded value of an elementary function, without computing that value: the midpoints to its
 * two neighbours are compared with it. Only e^x is ever enclosed (by halving, a plain Taylor series with directed rounding, and
 * squaring; no ln 2); a logarithm is judged by its inverse. Shares no code with src.
 */

/** n x 2^e. */
export interface Dyadic {
  readonly n: bigint;
  readonly e: number;
}

const view = new DataView(new ArrayBuffer(8));

export function bits64(x: number): bigint {
  view.setFloat64(0, x);
  return view.getBigUint64(0);
}
export function from64(bits: bigint): number {
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}
export function bits32(x: number): number {
  view.setFloat32(0, x);
  return view.getUint32(0);
}
export function from32(bits: number): number {
  view.setUint32(0, bits);
  return view.getFloat32(0);
}

/** The exact value of a finite number. */
export function dyadic(x: number): Dyadic {
  const bits = bits64(x);
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const n = field === 0 ? fraction : fraction | 0x10000000000000n;
  return { n: bits >> 63n === 1n ? -n : n, e: Math.max(field, 1) - 1075 };
}

const shifted = (n: bigint, by: number): bigint => (by >= 0 ? n << BigInt(by) : n >> BigInt(-by));

const sum = (a: Dyadic, b: Dyadic): Dyadic => {
  const e = Math.min(a.e, b.e);
  return { n: (a.n << BigInt(a.e - e)) + (b.n << BigInt(b.e - e)), e };
};

const ONE: Dyadic = { n: 1n, e: 0 };
const MINUS_ONE: Dyadic = { n: -1n, e: 0 };

export type Width = 32 | 64;

/** The magnitude one code further, the one beyond the largest included; from the code of a magnitude. */
function magnitudeAt(code: bigint, width: Width): Dyadic {
  const fractionBits = width === 64 ? 52n : 23n;
  const field = code >> fractionBits;
  const fraction = code & ((1n << fractionBits) - 1n);
  const lowest = width === 64 ? -1074 : -149;
  return field === 0n
    ? { n: fraction, e: lowest }
    : { n: fraction | (1n << fractionBits), e: lowest + Number(field) - 1 };
}

const half = ({ n, e }: Dyadic): Dyadic => ({ n, e: e - 1 });
const negative = ({ n, e }: Dyadic): Dyadic => ({ n: -n, e });

/** The midpoints below and above a value, an infinity standing for the number after the largest; those beyond it are absent. */
export function midpoints(y: number, width: Width): [Dyadic | undefined, Dyadic | undefined] {
  const magnitude = Math.abs(y);
  const code = width === 64 ? bits64(magnitude) : BigInt(bits32(magnitude));
  const here = magnitudeAt(code, width);
  const outer =
    magnitude === Number.POSITIVE_INFINITY ? undefined : half(sum(here, magnitudeAt(code + 1n, width)));
  if (code === 0n) return [negative(outer!), outer];
  const inner = half(sum(here, magnitudeAt(code - 1n, width)));
  return y > 0 ? [inner, outer] : [outer && negative(outer), negative(inner)];
}

/** Bounds of e^x 2^bits for a positive x. */
function expBounds({ n, e }: Dyadic, bits: number): [bigint, bigint] {
  const size = n.toString(2).length + e; // x < 2^size
  const halvings = Math.max(0, size + 8);
  const guarded = bits + halvings + 8;
  const unit = BigInt(guarded);
  const at = e - halvings + guarded;
  const low = shifted(n, at);
  const high = at >= 0 ? low : low + 1n;
  let [termLow, termHigh] = [1n << unit, 1n << unit];
  let [sumLow, sumHigh] = [0n, 0n];
  for (let k = 1n; termHigh > 1n; k++) {
    sumLow += termLow;
    sumHigh += termHigh;
    termLow = ((termLow * low) >> unit) / k;
    termHigh = ((termHigh * high) >> unit) / k + 2n;
    if (termHigh <= 4n) break;
  }
  // What follows a term is less than that term, since the quotient of two is below 2^-8.
  sumHigh += 2n * termHigh + 2n;
  for (let j = 0; j < halvings; j++) {
    sumLow = (sumLow * sumLow) >> unit;
    sumHigh = ((sumHigh * sumHigh) >> unit) + 1n;
  }
  const extra = BigInt(guarded - bits);
  return [sumLow >> extra, (sumHigh >> extra) + 1n];
}

let remembered: { key: string; bounds: [bigint, bigint] } | undefined;

/** -1 or 1, as e^x is below or above q. */
export function compareExp(x: Dyadic, q: Dyadic): -1 | 1 {
  if (q.n <= 0n) return 1;
  if (x.n === 0n) {
    const difference = sum(q, MINUS_ONE).n;
    if (difference === 0n) throw new Error('e^0 is 1: equal');
    return difference > 0n ? -1 : 1;
  }
  const positive = x.n > 0n ? x : negative(x);
  // Beyond e^(2^12) there is no q that is asked about.
  if (positive.n.toString(2).length + positive.e > 13) return x.n > 0n ? 1 : -1;
  for (let bits = 170; bits < 4000; bits *= 2) {
    const key = `${positive.n} ${positive.e} ${bits}`;
    if (remembered?.key !== key) remembered = { key, bounds: expBounds(positive, bits) };
    const [low, high] = remembered.bounds;
    if (x.n > 0n) {
      // low 2^-bits against q
      if (difference(low, -bits, q) > 0) return 1;
      if (difference(high, -bits, q) < 0) return -1;
    } else {
      // 1 against bound x q
      if (difference(low * q.n, q.e - bits, ONE) > 0) return -1;
      if (difference(high * q.n, q.e - bits, ONE) < 0) return 1;
    }
  }
  throw new Error('not decided');
}

function difference(n: bigint, e: number, q: Dyadic): number {
  const d = sum({ n, e }, negative(q)).n;
  return d > 0n ? 1 : d < 0n ? -1 : 0;
}

/** Each function's side of a bound q: positive where f(x) > q. */
const SIDES = {
  exp: (x: Dyadic, q: Dyadic) => compareExp(x, q),
  expm1: (x: Dyadic, q: Dyadic) => compareExp(x, sum(q, ONE)),
  log: (x: Dyadic, q: Dyadic) => -compareExp(q, x),
  log1p: (x: Dyadic, q: Dyadic) => -compareExp(q, sum(x, ONE)),
} as const;

export type Transcendental = keyof typeof SIDES;

/** Whether y is the number nearest to f(x); x is finite and f(x) neither a number nor a midpoint. */
export function isNearest(f: Transcendental, x: number, y: number, width: Width): boolean {
  if (Number.isNaN(y)) return false;
  const [below, above] = midpoints(y, width);
  const exactX = dyadic(x);
  return (
    (below === undefined || SIDES[f](exactX, below) > 0) &&
    (above === undefined || SIDES[f](exactX, above) < 0)
  );
}

/** Whether y is the number nearest to a root of x, by squares of midpoints. */
export function isNearestRoot(x: number, y: number, width: Width): boolean {
  const [below, above] = midpoints(y, width);
  const square = ({ n, e }: Dyadic): Dyadic => ({ n: n * n, e: 2 * e });
  const side = (q: Dyadic): bigint => sum(square(q), negative(dyadic(x))).n;
  return side(below!) < 0n && side(above!) > 0n;
}

/** Whether y is the number nearest to a x b + c, ties to even, signs of zero aside; all finite but perhaps y. */
export function isNearestFma(a: number, b: number, c: number, y: number, width: Width): boolean {
  const [p, q] = [dyadic(a), dyadic(b)];
  const exactSum = sum({ n: p.n * q.n, e: p.e + q.e }, dyadic(c));
  const [below, above] = midpoints(y, width);
  const side = (m: Dyadic): bigint => sum(exactSum, negative(m)).n;
  const even = width === 64 ? (bits64(y) & 1n) === 0n : (bits32(y) & 1) === 0;
  return (
    (below === undefined || side(below) > 0n || (even && side(below) === 0n)) &&
    (above === undefined || side(above) < 0n || (even && side(above) === 0n))
  );
}

/** A stream of 32-bit words that looks random (xorshift32, Marsaglia). */
export function randomWords(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
