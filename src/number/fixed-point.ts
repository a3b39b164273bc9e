/**
 * Series in integers that count units of 2^-bits, each with a bound on what its truncations lose.
 * Clauses: spec/elementary.md ELE-02, spec/tensors.md TEN-13.
 * @module
 */

/** atanh(numerator / denominator) in units of 2^-bits, for a quotient of at most 1/3; off by less than `bits` units. */
export function atanh(numerator: bigint, denominator: bigint, bits: number): bigint {
  const one = 1n << BigInt(bits);
  const z = (numerator * one) / denominator;
  const square = (z * z) / one;
  let power = z;
  let sum = 0n;
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += power / k;
    power = (power * square) / one;
  }
  return sum;
}

const logarithmsOf2 = new Map<number, bigint>();

/** ln 2 in units of 2^-bits; off by less than 2 `bits` units. Kept, since every argument asks for the same few. */
export function ln2(bits: number): bigint {
  let value = logarithmsOf2.get(bits);
  if (value === undefined) {
    value = 2n * atanh(1n, 3n, bits);
    logarithmsOf2.set(bits, value);
  }
  return value;
}

/** An integer and how far it is from the truth at most, both in units of 2^-bits. */
export interface Estimate {
  readonly value: bigint;
  readonly error: bigint;
}

/** exp(r) for r in units of 2^-bits, |r| at most 1/2. */
export function expSeries(r: bigint, bits: number): Estimate {
  const shift = BigInt(bits);
  let term = 1n << shift;
  let sum = 0n;
  let terms = 0n;
  // From term to term an error is multiplied by |r| / n, at most 1/2, and one of less than 2 units is added: below 4 each.
  // A term of 0 or -1 has a true magnitude below 5, and what follows it is less than that.
  while (term !== 0n && term !== -1n) {
    sum += term;
    terms++;
    term = ((term * r) >> shift) / terms;
  }
  return { value: sum, error: 4n * terms + 10n };
}
