/**
 * Properties of the MXFP4 encoder, for random policies and blocks; the ordinary run takes few runs of each, the exhaustive
 * run 10^5. Shared by test/format and test/exhaustive.
 * @module
 */
import fc from 'fast-check';
import { encodeBlock } from '../../src/format/mxfp4.ts';
import { type Mxfp4Policy, mxfp4Parameters } from '../../src/format/mxfp4-policy.ts';
import { fromBinary64 } from '../../src/number/floats.ts';
import { power } from '../independent/platform-floats.ts';

/** Policies but for `nonfinite`, which has no part in this. */
const policies: fc.Arbitrary<Mxfp4Policy> = fc.record({
  input: fc.constantFrom(...mxfp4Parameters.input),
  scale: fc.constantFrom(...mxfp4Parameters.scale),
  ties: fc.constantFrom(...mxfp4Parameters.ties),
  'zero-scale': fc.constantFrom(...mxfp4Parameters['zero-scale']),
  'scale-range': fc.constantFrom(...mxfp4Parameters['scale-range']),
  'scale-min': fc.constantFrom(...mxfp4Parameters['scale-min']),
  'even-range': fc.constantFrom(...mxfp4Parameters['even-range']),
  'nan-code': fc.constantFrom(...mxfp4Parameters['nan-code']),
  'zero-sign': fc.constantFrom(...mxfp4Parameters['zero-sign']),
  nonfinite: fc.constant('nan'),
});

/**
 * An element: sign in bit 31, binades below the base in bits 30:28, a zero where bits 27:24 are 0, fraction in bits 22:0,
 * cut to two or seven bits half of the time (bits 24:23), so that ties are met and BF16 input changes nothing.
 */
function element(bits: number, base: number): number {
  const sign = bits >= 2 ** 31 ? -1 : 1;
  if (((bits >>> 24) & 15) === 0) return sign * 0;
  const kept = [23, 23, 7, 2][(bits >>> 23) & 3]!;
  const fraction = Math.floor((bits & 0x7fffff) / 2 ** (23 - kept)) / 2 ** kept;
  return sign * (1 + fraction) * power(base - ((bits >>> 28) & 7));
}

/** 32 FP32 numbers of magnitude below 2^(base + 1), subnormal where the base is that low; none rounds to an infinity. */
const blocks = (base: fc.Arbitrary<number>): fc.Arbitrary<number[]> =>
  fc
    .tuple(base, fc.array(fc.integer({ min: 0, max: 0xffffffff }), { minLength: 32, maxLength: 32 }))
    .map(([b, words]) => words.map((w) => Math.fround(element(w, b))));

const anywhere = fc.integer({ min: -148, max: 126 });
/** Where neither end of the scale's range, nor FP32's or BF16's subnormals, are near. */
const inRange = fc.integer({ min: -60, max: 60 });

interface Encoded {
  scale: number;
  codes: readonly number[];
}
const encode = (x: readonly number[], policy: Mxfp4Policy): Encoded =>
  encodeBlock(x.map(fromBinary64), policy);

const isMinus = (x: number): boolean => x < 0 || Object.is(x, -0);
const show = ({ scale, codes }: Encoded): string => `${scale.toString(16)} ${codes.join()}`;

/** Fails with both texts when they differ. */
function same(found: string, right: string): void {
  if (found !== right) throw new Error(`found    ${found}\nexpected ${right}`);
}

const VALUES = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
const NEAREST = ['even', 'away', 'zero', 'up'] as const;

/** The code of the nearest E2M1 value by distance; of two equally near, the one the rule takes. */
function nearest(x: number, ties: (typeof NEAREST)[number], negative: boolean): number {
  const distances = VALUES.map((v) => Math.abs(x - v)); // exact: x has 24 bits, and beyond 12 only the order counts
  const least = Math.min(...distances);
  const lower = distances.indexOf(least);
  if (distances[lower + 1] !== least) return lower;
  if (ties === 'even') return lower % 2 === 0 ? lower : lower + 1;
  return ties === 'away' || (ties === 'up' && !negative) ? lower + 1 : lower;
}

/** amax / scale lies between these: the first included under floor and even, the second under ceil and rceil. */
const BETWEEN = {
  floor: [4, 8],
  ceil: [2, 4],
  even: [3.5, 7],
  rceil: [3, 6],
  nearest: [18 ** 0.5, 72 ** 0.5],
};

interface Property {
  readonly name: string;
  readonly check: (runs: number) => void;
}

export const mxfp4Properties: readonly Property[] = [
  {
    name: 'the code is the nearest E2M1 value on the chosen scale, ties by the policy, saturated at 6 [MX-12]',
    check: (numRuns) =>
      fc.assert(
        fc.property(policies, fc.constantFrom(...NEAREST), blocks(anywhere), (any, ties, x) => {
          const policy = { ...any, ties, input: 'f32', 'zero-sign': 'keep' } as const;
          const { scale, codes } = encode(x, policy);
          if (scale === 0xff) return; // a wrapped byte, or beyond even-range
          const right = x.map(
            (v) => nearest(Math.min(8, Math.abs(v) / power(scale - 127)), ties, v < 0) + (isMinus(v) ? 8 : 0),
          );
          same(codes.join(), right.join());
        }),
        { numRuns },
      ),
  },
  {
    name: 'amax on the chosen scale lies where its rule puts it [MX-05] [MX-06] [MX-07] [MX-08] [MX-09]',
    check: (numRuns) =>
      fc.assert(
        fc.property(policies, blocks(inRange), (any, x) => {
          const policy = { ...any, input: 'f32' } as const;
          const amax = Math.max(...x.map(Math.abs)) / power(encode(x, policy).scale - 127);
          if (amax === 0) return;
          const [low, high] = BETWEEN[policy.scale];
          const closedBelow = policy.scale === 'floor' || policy.scale === 'even';
          const inside = closedBelow ? amax >= low! && amax < high! : amax > low! && amax <= high!;
          if (!inside) throw new Error(`amax / scale is ${amax} under ${policy.scale}`);
        }),
        { numRuns },
      ),
  },
  {
    name: 'inputs times 2^k: the scale by k, codes unchanged [MX-10]',
    check: (numRuns) =>
      fc.assert(
        fc.property(policies, blocks(inRange), fc.integer({ min: -50, max: 50 }), (policy, x, k) => {
          const { scale, codes } = encode(x, policy);
          const zero = x.every((v) => v === 0);
          const y = x.map((v) => v * power(k));
          same(show(encode(y, policy)), show({ scale: zero ? scale : scale + k, codes }));
        }),
        { numRuns },
      ),
  },
  {
    name: 'permuting the elements of a block permutes their codes, and nothing else [MX-01]',
    check: (numRuns) =>
      fc.assert(
        fc.property(
          policies,
          blocks(anywhere),
          fc.shuffledSubarray(
            Array.from({ length: 32 }, (_, i) => i),
            { minLength: 32 },
          ),
          (policy, x, order) => {
            const permute = <T>(list: readonly T[]): T[] => order.map((i) => list[i]!);
            const { scale, codes } = encode(x, policy);
            same(show(encode(permute(x), policy)), show({ scale, codes: permute(codes) }));
          },
        ),
        { numRuns },
      ),
  },
  {
    name: 'negating what is not zero flips its sign bits (ceil and floor exchanged) [MX-12] [CON-06]',
    check: (numRuns) =>
      fc.assert(
        fc.property(
          policies.filter((p) => p.ties !== 'up'),
          blocks(inRange),
          (policy, x) => {
            const mirrored = { ceil: 'floor', floor: 'ceil' } as const;
            const ties =
              policy.ties === 'ceil' || policy.ties === 'floor' ? mirrored[policy.ties] : policy.ties;
            const { scale, codes } = encode(x, policy);
            const right = codes.map((code, i) => {
              const unsigned = x[i] === 0 || (policy['zero-sign'] === 'drop' && code % 8 === 0);
              return unsigned ? code : code ^ 8;
            });
            const y = x.map((v) => (v === 0 ? v : -v));
            same(show(encode(y, { ...policy, ties })), show({ scale, codes: right }));
          },
        ),
        { numRuns },
      ),
  },
  {
    name: 'zeros at the end in place of smaller values: scale and codes before them are unchanged [MX-11]',
    check: (numRuns) =>
      fc.assert(
        fc.property(
          policies,
          blocks(anywhere),
          fc.integer({ min: 1, max: 31 }),
          fc.boolean(),
          (policy, values, kept, minus) => {
            // The largest magnitude comes first, so that it stays.
            const top = values.reduce((best, v, i) => (Math.abs(v) > Math.abs(values[best]!) ? i : best), 0);
            const x = [...values];
            [x[0], x[top]] = [x[top]!, x[0]!];
            const { scale, codes } = encode(x, policy);
            if (scale === 0xff) return;
            const padded = x.map((v, i) => (i < kept ? v : minus ? -0 : 0));
            const zero = minus && policy['zero-sign'] === 'keep' ? 8 : 0;
            const right = { scale, codes: codes.map((code, i) => (i < kept ? code : zero)) };
            same(show(encode(padded, policy)), show(right));
          },
        ),
        { numRuns },
      ),
  },
];
