/**
 * Flags of the scalar conversions into a narrower format. Clauses: spec/scalars.md SCA-09, spec/conventions.md NUM-05 to NUM-07.
 * @module
 */

import type { AnyPolicy } from '../functions/oracle-function.ts';
import type { Overflow } from '../number/binary-format.ts';
import {
  type BinaryFormat,
  decode,
  encode,
  type FloatValue,
  largestFinite,
  place,
} from '../number/binary-format.ts';
import { isZero } from '../number/exact.ts';
import { BF16, FP32 } from '../number/floats.ts';
import type { Ties } from '../number/round.ts';
import type { Note } from './flag.ts';

/** One conversion. */
export interface ScalarCase {
  readonly from: BinaryFormat;
  readonly to: BinaryFormat;
  readonly policy: AnyPolicy;
  readonly word: number;
  readonly value: FloatValue;
  readonly code: number;
}

export interface ScalarFlag extends Note {
  readonly name: string;
  readonly applies: (from: BinaryFormat, to: BinaryFormat, policy: AnyPolicy) => boolean;
  readonly holds: (c: ScalarCase) => boolean;
}

const ALWAYS = (): boolean => true;

/** Where a word's magnitude lies in the target; undefined where it is not finite. */
function placeOf({ from, to }: ScalarCase, word: number) {
  const value = decode(from, word);
  return value.kind === 'finite' ? place(to, value.magnitude) : undefined;
}

const isTie = (c: ScalarCase, word: number): boolean => placeOf(c, word)?.position === 'half';
const atTie =
  (test: (index: number, largest: number) => boolean) =>
  (c: ScalarCase): boolean =>
    isTie(c, c.word) && test(placeOf(c, c.word)!.index, largestFinite(c.to));
/** The next word in magnitude, up or down, is a tie and this one is none. */
const besideTie =
  (step: 1 | -1) =>
  (c: ScalarCase): boolean =>
    c.value.kind === 'finite' && !isZero(c.value.magnitude) && !isTie(c, c.word) && isTie(c, c.word + step);

const signed = (to: BinaryFormat): boolean => to.signBits === 1;
const magnitudeOf = ({ to, code }: ScalarCase): number => code % 2 ** (to.exponentBits + to.fractionBits);
const unbounded = (to: BinaryFormat): BinaryFormat => ({
  ...to,
  exponentBits: to.exponentBits + 1,
  top: 'finite',
});

export const scalarFlags: readonly ScalarFlag[] = [
  {
    name: 'NaNInput',
    text: 'The input is a NaN.',
    clauses: ['NUM-07'],
    faults: ['S8'],
    applies: ALWAYS,
    holds: ({ value }) => value.kind === 'nan',
  },
  {
    name: 'InfInput',
    text: 'The input is an infinity.',
    clauses: ['NUM-05', 'NUM-06'],
    faults: ['S12', 'R7'],
    applies: ALWAYS,
    holds: ({ value }) => value.kind === 'infinite',
  },
  {
    name: 'NegZero',
    text: 'The input is -0.',
    clauses: ['NUM-05', 'NUM-06'],
    faults: [],
    applies: ALWAYS,
    holds: ({ value }) => value.kind === 'finite' && value.negative && isZero(value.magnitude),
  },
  {
    name: 'NegativeScale',
    text: 'The input is negative and the target has no sign.',
    clauses: ['NUM-06'],
    faults: [],
    applies: (_, to) => !signed(to),
    holds: ({ value, to }) =>
      !signed(to) &&
      value.kind !== 'nan' &&
      value.negative &&
      !(value.kind === 'finite' && isZero(value.magnitude)),
  },
  {
    name: 'TieEven',
    text: 'The input lies half-way between two codes, the lower of them even: half-even and half-away differ.',
    clauses: ['NUM-02', 'NUM-05'],
    faults: ['R1', 'S9'],
    applies: ALWAYS,
    holds: atTie((index, largest) => index >= 0 && index < largest && index % 2 === 0),
  },
  {
    name: 'TieOdd',
    text: 'The input lies half-way between two codes, the lower of them odd: half-even and half-away agree, truncation differs.',
    clauses: ['NUM-02', 'NUM-05'],
    faults: ['R1', 'S9'],
    applies: ALWAYS,
    holds: atTie((index, largest) => index >= 0 && index < largest && index % 2 === 1),
  },
  {
    name: 'OverflowTie',
    text: 'The input lies half-way between the largest finite number and the one that would follow.',
    clauses: ['NUM-05'],
    faults: ['R7'],
    applies: ALWAYS,
    holds: atTie((index, largest) => index === largest),
  },
  {
    name: 'JustBelowTie',
    text: 'The next larger word is a tie.',
    clauses: ['NUM-02'],
    faults: ['R2', 'R5'],
    applies: ALWAYS,
    holds: besideTie(1),
  },
  {
    name: 'JustAboveTie',
    text: 'The next smaller word is a tie.',
    clauses: ['NUM-02'],
    faults: ['R2', 'R5'],
    applies: ALWAYS,
    holds: besideTie(-1),
  },
  {
    name: 'Overflow',
    text: 'The input is finite and, after rounding with an unbounded exponent, above the largest finite number.',
    clauses: ['NUM-05', 'NUM-06'],
    faults: ['R7'],
    // No FP32 number is far enough above the largest BF16 to be rounded up by these; its code is odd.
    applies: (_, to, { ties }) => to !== BF16 || (ties !== 'truncate' && ties !== 'odd'),
    holds: ({ to, value, policy }) => {
      if (value.kind !== 'finite') return false;
      const magnitude = { ...value, negative: value.negative && signed(to) };
      const code = encode(unbounded(to), magnitude, policy['ties'] as Ties);
      return code % 2 ** (to.exponentBits + 1 + to.fractionBits) > largestFinite(to);
    },
  },
  {
    name: 'SubnormalResult',
    text: 'The result is a subnormal number of the target.',
    clauses: ['NUM-04', 'NUM-05'],
    faults: ['R2', 'D5'],
    applies: (_, to) => signed(to),
    holds: (c) => signed(c.to) && magnitudeOf(c) > 0 && magnitudeOf(c) < 2 ** c.to.fractionBits,
  },
  {
    name: 'Underflow',
    text: 'A nonzero input gets a code of magnitude 0, or the smallest scale from below it.',
    clauses: ['NUM-05', 'NUM-06'],
    faults: ['S6', 'S11'],
    // To odd, nothing but a zero has the even code 0.
    applies: (_, to, { ties }) => !signed(to) || ties !== 'odd',
    holds: (c) => {
      if (c.value.kind !== 'finite' || isZero(c.value.magnitude)) return false;
      if (signed(c.to)) return magnitudeOf(c) === 0;
      return !c.value.negative && place(c.to, c.value.magnitude).index < 0;
    },
  },
  {
    name: 'DoubleRounding',
    text: 'Rounding to BF16 first, half-even, gives another code.',
    clauses: ['NUM-05', 'SCA-09'],
    faults: ['R5', 'S1'],
    applies: (from, to) => from === FP32 && to !== BF16,
    holds: ({ from, to, value, code, policy }) => {
      if (from !== FP32 || to === BF16) return false;
      const narrow = decode(BF16, encode(BF16, value, 'even', 'nonfinite'));
      return encode(to, narrow, policy['ties'] as Ties, policy['overflow'] as Overflow) !== code;
    },
  },
];
