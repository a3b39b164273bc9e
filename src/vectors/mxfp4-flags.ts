/**
 * Flags of an MXFP4 encoding, from its stages. Clauses: spec/mxfp4.md.
 * @module
 */
import { type Mxfp4Trace, SCALE_RULES } from '../format/mxfp4.ts';
import { E2M1 } from '../format/scalar.ts';
import type { AnyPolicy } from '../functions/oracle-function.ts';
import { encode, finite, place } from '../number/binary-format.ts';
import { atLeast, compare, type Exact, exact, isZero } from '../number/exact.ts';
import { BF16, FP32, roundTo } from '../number/floats.ts';
import { ALWAYS, elementTies, type Flag, type TieKind } from './flag.ts';
import { type BlockCase, inputFlags } from './input-flags.ts';

export interface Mxfp4Case extends BlockCase {
  readonly trace: Mxfp4Trace | undefined;
}

const LARGEST_CODE = 7;
const SIX = exact(6);
const FIRST_INFINITE = exact(1, 128);
/** One step of BF16 in the fraction of an FP32 word. */
const BF16_STEP = 0x10000;

const traced =
  (test: (t: Mxfp4Trace) => boolean) =>
  (c: Mxfp4Case): boolean =>
    c.trace !== undefined && test(c.trace);

const hasTie = (kind: TieKind) =>
  traced((t) => elementTies(t, LARGEST_CODE, (m) => place(E2M1, m)).has(kind));

/** The fraction field of amax as an FP32 word where amax is a normal number; amax is exact there. */
function fractionOf(amax: Exact | undefined): number | undefined {
  if (amax === undefined || isZero(amax)) return undefined;
  const word = encode(FP32, finite(amax));
  return word < 0x00800000 ? undefined : word & 0x7fffff;
}
const amaxNear =
  (fraction: number) =>
  ({ max }: Mxfp4Case): boolean => {
    const found = fractionOf(max);
    return found !== undefined && Math.abs(found - fraction) <= BF16_STEP;
  };

/** The magnitude of an E2M1 code times its scale, in FP32 an infinity. */
const decodesToInfinity = (t: Mxfp4Trace): boolean =>
  t.codes.some((code) => {
    const value = [0, 1, 2, 3, 4, 6, 8, 12][code & 7]!;
    return atLeast(exact(value, t.scale - 127 - 1), FIRST_INFINITE);
  });

/** Which policies reach a scale under which 4 or 6 is infinite: fd needs an exponent of E - 1, fe a rule that names it. */
const reachesInfinity = (p: AnyPolicy): boolean =>
  p['nonfinite'] === 'top-scale' ||
  p['scale'] === 'ceil' ||
  p['scale'] === 'rceil' ||
  (p['scale'] === 'even' && p['even-range'] === 'unbounded');

/** Which policies give scale ff. */
const nanScale = (p: AnyPolicy): boolean =>
  p['nonfinite'] === 'nan' ||
  p['nonfinite'] === 'nan-scale' ||
  p['scale-range'] === 'wrap' ||
  (p['scale'] === 'even' && p['even-range'] === 'f32');

/** Clamped or wrapped at the bottom: the exponent's byte would be below the smallest. */
const belowRange = (t: Mxfp4Trace, c: Mxfp4Case): boolean =>
  !isZero(t.amax) && t.exponent + 127 < Number.parseInt(c.policy['scale-min']!, 16);

export const mxfp4Flags: readonly Flag<Mxfp4Case>[] = [
  ...inputFlags,
  {
    name: 'AllZero',
    text: 'Every input is, or counts as, a zero.',
    clauses: ['MX-11'],
    faults: ['S13'],
    applies: ALWAYS,
    holds: traced((t) => isZero(t.amax)),
  },
  {
    name: 'ScaleNaN',
    text: 'The scale is ff.',
    clauses: ['MX-13', 'CON-05'],
    faults: ['S8', 'S12'],
    applies: nanScale,
    holds: (c) => c.scaleCode === 0xff,
  },
  {
    name: 'Pow2',
    text: 'amax is a power of two.',
    clauses: ['MX-05', 'MX-06', 'MX-09'],
    faults: ['S3', 'S5'],
    applies: ALWAYS,
    holds: ({ max }) => fractionOf(max) === 0,
  },
  {
    name: 'JustAbovePow2',
    text: 'amax is above a power of two by at most one step of BF16.',
    clauses: ['MX-05', 'MX-06'],
    faults: ['S2', 'S5'],
    applies: ALWAYS,
    holds: (c) => amaxNear(0)(c) && fractionOf(c.max) !== 0,
  },
  {
    name: 'JustBelowPow2',
    text: 'amax is below a power of two by at most one step of BF16.',
    clauses: ['MX-04', 'MX-05'],
    faults: ['S1', 'S2'],
    applies: ALWAYS,
    holds: amaxNear(0x800000),
  },
  {
    name: 'AmaxNarrowing',
    text: 'amax rounded to BF16 would have another exponent under some scale rule.',
    clauses: ['MX-04'],
    faults: ['S1'],
    applies: (policy, from) => from === FP32 && policy['input'] === 'f32',
    holds: ({ max }) => {
      if (max === undefined || isZero(max)) return false;
      const narrow = roundTo(BF16, max);
      return !isZero(narrow) && Object.values(SCALE_RULES).some((rule) => rule(max) !== rule(narrow));
    },
  },
  {
    name: 'NearestThreshold',
    text: 'amax is within one step of BF16 of 3 / 2^1.5 times a power of two, where nearest changes.',
    clauses: ['MX-09'],
    faults: ['S4'],
    applies: ALWAYS,
    holds: amaxNear(0x07c3b6),
  },
  {
    name: 'RceilThreshold',
    text: 'amax is within one step of BF16 of 1.5 times a power of two, where rceil changes.',
    clauses: ['MX-08'],
    faults: ['S2', 'S4', 'S5'],
    applies: ALWAYS,
    holds: amaxNear(0x400000),
  },
  {
    name: 'EvenThreshold',
    text: 'amax is within one step of BF16 of 1.75 times a power of two, where even changes.',
    clauses: ['MX-07'],
    faults: ['S4', 'S5'],
    applies: ALWAYS,
    holds: amaxNear(0x600000),
  },
  {
    name: 'ScaleRule',
    text: 'Another scale rule changes the outputs.',
    clauses: ['MX-05', 'MX-06', 'MX-07', 'MX-08', 'MX-09'],
    faults: ['S3', 'S4', 'S5'],
    applies: ALWAYS,
    holds: (c) =>
      Object.keys(SCALE_RULES).some((scale) => scale !== c.policy['scale'] && c.differsUnder({ scale })),
  },
  {
    name: 'EvenOverflow',
    text: 'amax is at least 1.75 x 2^127: even-range decides.',
    clauses: ['MX-07'],
    faults: ['S10'],
    applies: (policy) => policy['scale'] === 'even',
    holds: (c) => c.policy['scale'] === 'even' && c.max !== undefined && atLeast(c.max, exact(7, 125)),
  },
  {
    name: 'ClampLow',
    text: 'The exponent is below the smallest scale: scale-range and scale-min decide.',
    clauses: ['MX-10'],
    faults: ['S6', 'S11'],
    applies: ALWAYS,
    holds: (c) => c.trace !== undefined && belowRange(c.trace, c),
  },
  {
    name: 'ScaleByte0',
    text: 'The scale is 00, 2^-127, in a block that is not all zero.',
    clauses: ['MX-10', 'SCA-05'],
    faults: ['S6', 'S7', 'S11', 'D1'],
    applies: (policy) => policy['scale-min'] === '00',
    holds: traced((t) => t.scale === 0 && !isZero(t.amax)),
  },
  {
    name: 'ScaleTop',
    text: 'The scale is fe, as an infinity under nonfinite=top-scale has it; no exponent rule gets there.',
    clauses: ['CON-05', 'MX-10'],
    faults: ['S12'],
    applies: (policy) => policy['nonfinite'] === 'top-scale',
    holds: traced((t) => t.scale === 0xfe && t.input.kind === 'top-scale'),
  },
  {
    name: 'TieEven',
    text: 'An element lies half-way between two codes, the lower of them even: half-even and half-away differ.',
    clauses: ['MX-12', 'NUM-02'],
    faults: ['R1'],
    applies: ALWAYS,
    holds: hasTie('even'),
  },
  {
    name: 'TieOdd',
    text: 'An element lies half-way between two codes, the lower of them odd: half-even and half-away agree, truncation differs.',
    clauses: ['MX-12', 'NUM-02'],
    faults: ['R1'],
    applies: ALWAYS,
    holds: hasTie('odd'),
  },
  {
    name: 'JustBelowTie',
    text: 'An element lies below a tie by less than 2^-7 of itself.',
    clauses: ['NUM-01', 'MX-12'],
    faults: ['R2', 'R5'],
    applies: ALWAYS,
    holds: hasTie('below'),
  },
  {
    name: 'JustAboveTie',
    text: 'An element lies above a tie by less than 2^-7 of itself.',
    clauses: ['NUM-01', 'MX-12'],
    faults: ['R2', 'R5'],
    applies: ALWAYS,
    holds: hasTie('above'),
  },
  {
    name: 'Saturate',
    text: 'An element lies above 6, the largest code.',
    clauses: ['MX-12', 'NUM-05'],
    faults: ['R7'],
    // Under ceil, rceil no element is above 6 scales, unless the byte wraps.
    applies: (policy) => policy['scale-range'] === 'wrap' || !['ceil', 'rceil'].includes(policy['scale']!),
    holds: traced((t) => t.scaled.some((s, i) => !t.input.dictated.has(i) && compare(s.magnitude, SIX) > 0)),
  },
  {
    name: 'DecodeOverflow',
    text: 'A finite element is encoded to a code that decodes beyond FP32, to an infinity.',
    clauses: ['MX-02'],
    faults: ['S10'],
    applies: reachesInfinity,
    holds: traced(decodesToInfinity),
  },
];
