/**
 * Flags of a HiF4 encoding, from its stages. Clauses: spec/hif4.md.
 * @module
 */
import { type HiF4Trace, QUAD } from '../format/hif4.ts';
import { bf16Value, E6M2 } from '../format/scalar.ts';
import type { AnyPolicy } from '../functions/oracle-function.ts';
import { place } from '../number/binary-format.ts';
import { add, compare, type Exact, exact, HALF, isZero, multiply, scale } from '../number/exact.ts';
import { BF16, roundTo } from '../number/floats.ts';
import { roundMagnitude, split } from '../number/round.ts';
import { ALWAYS, elementTies, type Flag, type TieKind, tieKind } from './flag.ts';
import { type BlockCase, inputFlags } from './input-flags.ts';

export interface HiF4Case extends BlockCase {
  readonly trace: HiF4Trace | undefined;
}

const LARGEST_CODE = 7;
const LARGEST_SCALED = exact(7, -2);
const TOP_SCALE = 0xfe;
const SCALE_BELOW = exact(1, -48);
/** Between 49152, the largest scale, and 57344, the next step. */
const SCALE_ABOVE = exact(3, 14);

const traced =
  (test: (t: HiF4Trace, c: HiF4Case) => boolean) =>
  (c: HiF4Case): boolean =>
    c.trace !== undefined && test(c.trace, c);

const quarters = (m: Exact) => {
  const { lower, position } = split(m, -2);
  return { index: Number(lower), position };
};

const hasTie = (kind: TieKind) => traced((t) => elementTies(t, LARGEST_CODE, quarters).has(kind));

/** The product of a group's maximum with the reciprocal: rounded as the policy has it. */
const product = (t: HiF4Trace, { policy }: HiF4Case, max: Exact): Exact => {
  const wide = multiply(max, t.rcp);
  return policy['products'] === 'bf16' ? roundTo(BF16, wide) : wide;
};
/** P of each octet, and of each quad before and after the level-2 halving. */
const octets = (t: HiF4Trace, c: HiF4Case): Exact[] => t.max8.map((m) => product(t, c, m));
const raised = (t: HiF4Trace, k: number): number => (t.e1_8 >> (k >> 1)) & 1;
const quads = (t: HiF4Trace, c: HiF4Case): Exact[] =>
  t.max4.map((m, k) => scale(product(t, c, m), -raised(t, k)));

const at =
  (threshold: number, of: (t: HiF4Trace, c: HiF4Case) => Exact[]) =>
  (t: HiF4Trace, c: HiF4Case): boolean =>
    of(t, c).some((p) => compare(p, exact(threshold)) === 0);
/** Below a threshold by less than 2^-6 of it. */
const justBelow =
  (threshold: number, of: (t: HiF4Trace, c: HiF4Case) => Exact[]) =>
  (t: HiF4Trace, c: HiF4Case): boolean =>
    of(t, c).some(
      (p) => compare(p, exact(threshold)) < 0 && compare(add(p, scale(p, -6)), exact(threshold)) >= 0,
    );

const seventh = bf16Value(0x3e12) as { magnitude: Exact };
const unroundedSf = (t: HiF4Trace): Exact => multiply(t.max64, seventh.magnitude);
const sfTie = (t: HiF4Trace): TieKind =>
  isZero(t.sf) || compare(t.sf, SCALE_BELOW) < 0 || compare(t.sf, SCALE_ABOVE) >= 0
    ? undefined
    : tieKind(t.sf, TOP_SCALE, (m) => place(E6M2, m));

/** HIF4-12. Whether floor(x + 1/2) is another integer when the sum is rounded to BF16. */
const halfAddRounds = (t: HiF4Trace): boolean =>
  // The sum has eight bits, so it can only reach an integer from just below a tie.
  elementTies(t, LARGEST_CODE, quarters).has('below') &&
  t.scaled.some(({ magnitude }) => {
    const sum = add(scale(magnitude, 2), HALF);
    if (compare(sum, exact(8)) >= 0) return false;
    return (
      roundMagnitude(roundTo(BF16, sum), 0, false, 'truncate') !== roundMagnitude(sum, 0, false, 'truncate')
    );
  });

const withSf = (value: string) => (policy: AnyPolicy) => policy['sf'] === value;
const nanScale = (policy: AnyPolicy): boolean =>
  policy['nonfinite'] === 'nan' || policy['nonfinite'] === 'nan-saturate' || policy['e6m2-range'] === 'wrap';
const another = (policy: AnyPolicy, parameter: string, values: readonly string[]): AnyPolicy[] =>
  values.filter((v) => v !== policy[parameter]).map((v) => ({ [parameter]: v }));

export const hif4Flags: readonly Flag<HiF4Case>[] = [
  ...inputFlags,
  {
    name: 'AllZero',
    text: 'Every input is a zero.',
    clauses: ['HIF4-14'],
    faults: ['H5', 'H9', 'S13'],
    applies: ALWAYS,
    holds: traced((t) => isZero(t.max64)),
  },
  {
    name: 'ScaleNaN',
    text: 'The unit is a NaN unit.',
    clauses: ['HIF4-13'],
    faults: ['S8'],
    applies: nanScale,
    holds: (c) => c.scaleCode === 0xff,
  },
  {
    name: 'SfTie',
    text: 'The largest magnitude times 3e12 lies half-way between two BF16 numbers.',
    clauses: ['HIF4-06', 'NUM-02'],
    faults: ['H1'],
    applies: withSf('bf16'),
    holds: traced((t) => split(unroundedSf(t), sfQuantum(t)).position === 'half'),
  },
  {
    name: 'SfRule',
    text: 'Another way to a seventh of the largest magnitude (rounded product, exact product, quotient) changes the outputs.',
    clauses: ['HIF4-06'],
    faults: ['H1'],
    applies: ALWAYS,
    holds: (c) => another(c.policy, 'sf', ['bf16', 'product', 'quotient']).some(c.differsUnder),
  },
  {
    name: 'E6m2TieEven',
    text: 'SF lies half-way between two E6M2 numbers, the lower of which has the even code.',
    clauses: ['HIF4-07'],
    faults: ['H4', 'S9'],
    // 73/512 times a word never is an odd multiple of a power of two as short as a tie: 73 is prime.
    applies: (policy) => policy['sf'] !== 'product',
    holds: traced((t) => sfTie(t) === 'even'),
  },
  {
    name: 'E6m2TieOdd',
    text: 'SF lies half-way between two E6M2 numbers, the lower of which has the odd code.',
    clauses: ['HIF4-07'],
    faults: ['H4'],
    applies: (policy) => policy['sf'] !== 'product',
    holds: traced((t) => sfTie(t) === 'odd'),
  },
  {
    name: 'E6m2Carry',
    text: 'SF is rounded up to the next power of two.',
    clauses: ['HIF4-07'],
    faults: ['H4'],
    applies: (policy) => policy['e6m2-ties'] !== 'truncate',
    holds: traced((t) => sfTie(t) !== undefined && t.e6m2 % 4 === 0 && place(E6M2, t.sf).index % 4 === 3),
  },
  {
    name: 'ClampHigh',
    text: 'SF is above 49152 after rounding to three bits: e6m2-range decides.',
    clauses: ['HIF4-07'],
    faults: ['H5'],
    applies: ALWAYS,
    holds: traced((t) => compare(t.sf, exact(26, 11)) > 0),
  },
  {
    name: 'ClampLow',
    text: 'SF is below 2^-48 and not 0: e6m2-range decides.',
    clauses: ['HIF4-07'],
    faults: ['H5', 'H12'],
    applies: ALWAYS,
    holds: traced((t) => !isZero(t.sf) && compare(t.sf, SCALE_BELOW) < 0),
  },
  {
    name: 'SfZero',
    text: 'SF is 0 although the largest magnitude is not.',
    clauses: ['HIF4-06', 'HIF4-07'],
    faults: ['H9', 'H12'],
    applies: withSf('bf16'),
    holds: traced((t) => isZero(t.sf) && !isZero(t.max64)),
  },
  {
    name: 'ScaleByte0',
    text: 'E6M2 is 00, 2^-48, in a unit that is not all zero.',
    clauses: ['HIF4-07', 'SCA-03'],
    faults: ['H12'],
    applies: ALWAYS,
    holds: traced((t) => t.e6m2 === 0 && !isZero(t.max64)),
  },
  {
    name: 'ScaleTop',
    text: 'E6M2 is fe, 49152.',
    clauses: ['HIF4-07', 'SCA-03'],
    faults: ['H5', 'H11'],
    applies: ALWAYS,
    holds: traced((t) => t.e6m2 === TOP_SCALE),
  },
  {
    name: 'Reciprocal',
    text: 'The exact reciprocal in place of the BF16 one, or the reverse, changes the outputs.',
    clauses: ['HIF4-08', 'HIF4-15', 'SCA-04'],
    faults: ['H2', 'R4'],
    applies: ALWAYS,
    holds: (c) => another(c.policy, 'reciprocal', ['bf16', 'exact']).some(c.differsUnder),
  },
  {
    name: 'Products',
    text: 'Products rounded to BF16 in place of exact ones, or the reverse, change the outputs.',
    clauses: ['HIF4-09'],
    faults: ['H3'],
    applies: ALWAYS,
    holds: (c) => another(c.policy, 'products', ['exact', 'bf16']).some(c.differsUnder),
  },
  {
    name: 'Level2Threshold',
    text: 'The product of an octet is exactly 4, which sets its bit.',
    clauses: ['HIF4-10'],
    faults: ['H6'],
    applies: ALWAYS,
    holds: traced(at(4, octets)),
  },
  {
    name: 'Level2JustBelow',
    text: 'The product of an octet is just below 4.',
    clauses: ['HIF4-10'],
    faults: ['H3', 'H6'],
    applies: ALWAYS,
    holds: traced(justBelow(4, octets)),
  },
  {
    name: 'Level2Index',
    text: 'Some octets have their bit and some do not, so that their order shows.',
    clauses: ['HIF4-01', 'HIF4-02', 'HIF4-10'],
    faults: ['L8'],
    applies: ALWAYS,
    holds: traced((t) => t.e1_8 !== 0 && t.e1_8 !== 0xff),
  },
  {
    name: 'Level2High',
    text: 'One of the upper four level-2 bits is set.',
    clauses: ['HIF4-02', 'HIF4-10'],
    faults: ['L6'],
    applies: ALWAYS,
    holds: traced((t) => t.e1_8 > 0x0f),
  },
  {
    name: 'Level3Threshold',
    text: 'The product of a quad, halved where its octet has a bit, is exactly 2, which sets its bit.',
    clauses: ['HIF4-11'],
    faults: ['H6'],
    applies: ALWAYS,
    holds: traced(at(2, quads)),
  },
  {
    name: 'Level3JustBelow',
    text: 'The product of a quad, halved where its octet has a bit, is just below 2.',
    clauses: ['HIF4-11'],
    faults: ['H3', 'H6'],
    applies: ALWAYS,
    holds: traced(justBelow(2, quads)),
  },
  {
    name: 'Level3Halving',
    text: 'A quad reaches 2 only without the halving by its octet: its bit is 0.',
    clauses: ['HIF4-11'],
    faults: ['H7'],
    applies: ALWAYS,
    holds: traced((t, c) =>
      quads(t, c).some((p, k) => raised(t, k) === 1 && compare(p, exact(2)) < 0 && compare(p, exact(1)) >= 0),
    ),
  },
  {
    name: 'Level3Index',
    text: 'Some quads have their bit and some do not, so that their order shows.',
    clauses: ['HIF4-01', 'HIF4-02', 'HIF4-11'],
    faults: ['L8', 'H8'],
    applies: ALWAYS,
    holds: traced((t) => t.e1_16 !== 0 && t.e1_16 !== 2 ** (64 / QUAD) - 1),
  },
  {
    name: 'TieEven',
    text: 'An element lies half-way between two codes, the lower of them even: half-even and half-away differ.',
    clauses: ['HIF4-12', 'NUM-02'],
    faults: ['R1'],
    applies: ALWAYS,
    holds: hasTie('even'),
  },
  {
    name: 'TieOdd',
    text: 'An element lies half-way between two codes, the lower of them odd: half-even and half-away agree, truncation differs.',
    clauses: ['HIF4-12', 'NUM-02'],
    faults: ['R1'],
    applies: ALWAYS,
    holds: hasTie('odd'),
  },
  {
    name: 'JustBelowTie',
    text: 'An element lies below a tie by less than 2^-7 of itself.',
    clauses: ['NUM-01', 'HIF4-12'],
    faults: ['R2', 'R5', 'H3', 'H10'],
    applies: ALWAYS,
    holds: hasTie('below'),
  },
  {
    name: 'JustAboveTie',
    text: 'An element lies above a tie by less than 2^-7 of itself.',
    clauses: ['NUM-01', 'HIF4-12'],
    faults: ['R2', 'R5', 'H3'],
    applies: ALWAYS,
    holds: hasTie('above'),
  },
  {
    name: 'HalfAdd',
    text: 'floor(x + 1/2) of an element gives another integer when the sum is rounded to BF16.',
    clauses: ['HIF4-12'],
    faults: ['H10'],
    applies: ALWAYS,
    holds: traced(halfAddRounds),
  },
  {
    name: 'Saturate',
    text: 'An element lies above 1.75, the largest code.',
    clauses: ['HIF4-12'],
    faults: ['R7', 'H11'],
    applies: ALWAYS,
    holds: traced((t) =>
      t.scaled.some((s, q) => !t.input.dictated.has(q) && compare(s.magnitude, LARGEST_SCALED) > 0),
    ),
  },
];

/** The spacing of BF16 about the unrounded SF; 0 has none and is no tie. */
function sfQuantum(t: HiF4Trace): number {
  const { index } = place(BF16, unroundedSf(t));
  return Math.max(Math.floor(index / 128), 1) - 127 - 7;
}
