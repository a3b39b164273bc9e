/**
 * Properties of the HiF4 encoder, for random policies and units; the ordinary run takes few runs of each, the exhaustive
 * run 10^5. Shared by test/format and test/exhaustive.
 * @module
 */
import fc from 'fast-check';
import { encodeUnit } from '../../src/format/hif4.ts';
import { type HiF4Policy, hif4Parameters } from '../../src/format/hif4-policy.ts';
import { fromBinary64 } from '../../src/number/floats.ts';
import { power, toBF16Grid } from '../independent/platform-floats.ts';

/** Policies but for `nonfinite`, which has no part in this. */
const policies: fc.Arbitrary<HiF4Policy> = fc.record({
  input: fc.constantFrom(...hif4Parameters.input),
  sf: fc.constantFrom(...hif4Parameters.sf),
  'e6m2-ties': fc.constantFrom(...hif4Parameters['e6m2-ties']),
  'e6m2-range': fc.constantFrom(...hif4Parameters['e6m2-range']),
  reciprocal: fc.constantFrom(...hif4Parameters.reciprocal),
  products: fc.constantFrom(...hif4Parameters.products),
  ties: fc.constantFrom(...hif4Parameters.ties),
  'zero-sign': fc.constantFrom(...hif4Parameters['zero-sign']),
  nonfinite: fc.constant('nan'),
});

/** An element: its sign in bit 15, its fraction in bits 6:0, how many binades it lies below the base in bits 10:7. */
function element(bits: number, base: number): number {
  const sign = bits >= 0x8000 ? -1 : 1;
  if (((bits >> 11) & 15) === 0) return sign * 0;
  return sign * (1 + (bits & 127) / 128) * power(base - ((bits >> 7) & 15));
}

/** 64 BF16 normal numbers, some of them zeros, of magnitude below 2^(base + 1). */
const units = (base: fc.Arbitrary<number>): fc.Arbitrary<number[]> =>
  fc
    .tuple(base, fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 64, maxLength: 64 }))
    .map(([b, words]) => words.map((w) => element(w, b)));

/** A base for which the E6M2 scale is within its range: SF lies between 2^(base - 18) and 2^(base - 1). */
const inRange = fc.integer({ min: -30, max: 15 });

interface Encoded {
  word: number;
  codes: readonly number[];
}
const encode = (x: readonly number[], policy: HiF4Policy): Encoded => encodeUnit(x.map(fromBinary64), policy);

const isMinus = (x: number): boolean => x < 0 || Object.is(x, -0);
const show = ({ word, codes }: Encoded): string => `${word.toString(16)} ${codes.join()}`;

/** Fails with both texts when they differ. */
function same(found: string, right: string): void {
  if (found !== right) throw new Error(`found    ${found}\nexpected ${right}`);
}

const RECIPROCALS = [1, 205 / 256, 171 / 256, 146 / 256]; // 3f80, 3f4d, 3f2b, 3f12

const NEAREST = ['even', 'away', 'zero', 'up'] as const;

/** Of two neighbours equally near, the one a rule takes. */
function tieGoesUp(rule: (typeof NEAREST)[number], lower: number, negative: boolean): boolean {
  if (rule === 'even') return lower % 2 === 1;
  return rule === 'away' || (rule === 'up' && !negative);
}

interface Property {
  readonly name: string;
  readonly check: (runs: number) => void;
}

export const hif4Properties: readonly Property[] = [
  {
    name: 'the code is the nearest multiple of 1/4 to V x REC x 2^-k, ties by the policy, saturated at 7 [HIF4-12]',
    check: (numRuns) =>
      fc.assert(
        fc.property(
          policies,
          fc.constantFrom(...NEAREST),
          units(fc.integer({ min: -70, max: 100 })),
          (any, ties, x) => {
            const policy = { ...any, ties, reciprocal: 'bf16', 'zero-sign': 'keep' } as const;
            const { word, codes } = encode(x, policy);
            if (word === 0xff) return; // a wrapped byte
            const reciprocal = RECIPROCALS[word & 3]! * power(48 - ((word >> 2) & 63));
            const right = x.map((v, q) => {
              const increment = ((word >>> (8 + (q >> 3))) & 1) + ((word >>> (16 + (q >> 2))) & 1);
              const product = Math.abs(v) * reciprocal;
              const quarters =
                (4 * (policy.products === 'bf16' ? toBF16Grid(product) : product)) / 2 ** increment;
              const lower = Math.floor(quarters);
              const rest = quarters - lower;
              const up = rest > 0.5 || (rest === 0.5 && tieGoesUp(ties, lower, v < 0));
              return Math.min(7, lower + Number(up)) + (isMinus(v) ? 8 : 0);
            });
            same(codes.join(), right.join());
          },
        ),
        { numRuns },
      ),
  },
  {
    name: 'inputs times 2^k: the scale by k, bits and codes unchanged [HIF4-07]',
    check: (numRuns) =>
      fc.assert(
        fc.property(policies, units(inRange), fc.integer({ min: -45, max: 45 }), (policy, x, k) => {
          const { word, codes } = encode(x, policy);
          const moved = (word & 0xff) + 4 * k;
          fc.pre(moved >= 4 && moved <= 251); // at the ends the scale may have been clamped
          const zero = x.every((v) => v === 0);
          const y = x.map((v) => v * power(k));
          same(show(encode(y, policy)), show({ word: zero ? 0 : word - (word & 0xff) + moved, codes }));
        }),
        { numRuns },
      ),
  },
  {
    name: 'permuting the elements of a quad permutes their codes, and nothing else [HIF4-01]',
    check: (numRuns) =>
      fc.assert(
        fc.property(
          policies,
          units(inRange),
          fc.array(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), { minLength: 16, maxLength: 16 }),
          (policy, x, orders) => {
            const permute = <T>(list: readonly T[]): T[] =>
              list.map((_, q) => list[(q & ~3) + orders[q >> 2]![q & 3]!]!);
            const { word, codes } = encode(x, policy);
            same(show(encode(permute(x), policy)), show({ word, codes: permute(codes) }));
          },
        ),
        { numRuns },
      ),
  },
  {
    name: 'permuting octets, or the quads of an octet, permutes the level bits with the codes [HIF4-02]',
    check: (numRuns) =>
      fc.assert(
        fc.property(
          policies,
          units(inRange),
          fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 8 }),
          fc.integer({ min: 0, max: 255 }),
          (policy, x, order, swaps) => {
            const quad = (k: number): number => 2 * order[k >> 1]! + ((k & 1) ^ ((swaps >> (k >> 1)) & 1));
            const permute = <T>(list: readonly T[]): T[] =>
              list.map((_, q) => list[4 * quad(q >> 2) + (q & 3)]!);
            const { word, codes } = encode(x, policy);
            let moved = word & 0xff;
            for (let k = 0; k < 8; k++) moved += ((word >>> (8 + order[k]!)) & 1) * 2 ** (8 + k);
            for (let k = 0; k < 16; k++) moved += ((word >>> (16 + quad(k))) & 1) * 2 ** (16 + k);
            same(show(encode(permute(x), policy)), show({ word: moved, codes: permute(codes) }));
          },
        ),
        { numRuns },
      ),
  },
  {
    name: 'negating what is not zero flips its sign bits (ceil and floor exchanged) [HIF4-12] [CON-06]',
    check: (numRuns) =>
      fc.assert(
        fc.property(
          policies.filter((p) => p.ties !== 'up'),
          units(inRange),
          (policy, x) => {
            const mirrored = { ceil: 'floor', floor: 'ceil' } as const;
            const ties =
              policy.ties === 'ceil' || policy.ties === 'floor' ? mirrored[policy.ties] : policy.ties;
            const { word, codes } = encode(x, policy);
            const right = codes.map((code, q) => {
              const unsigned = x[q] === 0 || (policy['zero-sign'] === 'drop' && code % 8 === 0);
              return unsigned ? code : code ^ 8;
            });
            const y = x.map((v) => (v === 0 ? v : -v));
            same(show(encode(y, { ...policy, ties })), show({ word, codes: right }));
          },
        ),
        { numRuns },
      ),
  },
  {
    name: 'zeros at the end in place of smaller values: octets before them, and the scale, are unchanged [HIF4-14]',
    check: (numRuns) =>
      fc.assert(
        fc.property(
          policies,
          units(fc.integer({ min: -70, max: 100 })),
          fc.integer({ min: 1, max: 7 }),
          fc.boolean(),
          (policy, values, octets, minus) => {
            // The largest magnitude comes first, so that it stays.
            const top = values.reduce((best, v, q) => (Math.abs(v) > Math.abs(values[best]!) ? q : best), 0);
            const x = [...values];
            [x[0], x[top]] = [x[top]!, x[0]!];
            const { word, codes } = encode(x, policy);
            if (word === 0xff) return;
            const kept = 8 * octets;
            const padded = x.map((v, q) => (q < kept ? v : minus ? -0 : 0));
            const zero = minus && policy['zero-sign'] === 'keep' ? 8 : 0;
            let left = word & 0xff;
            for (let k = 0; k < octets; k++) left += word & (2 ** (8 + k));
            for (let k = 0; k < 2 * octets; k++) left += ((word >>> (16 + k)) & 1) * 2 ** (16 + k);
            const right = { word: left, codes: codes.map((code, q) => (q < kept ? code : zero)) };
            same(show(encode(padded, policy)), show(right));
          },
        ),
        { numRuns },
      ),
  },
];
