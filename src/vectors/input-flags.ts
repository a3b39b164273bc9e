/**
 * Flags of what a block takes in: NaN, infinity, zeros, and what input rounding makes of a value.
 * Clauses: spec/conventions.md CON-04 to CON-06.
 * @module
 */
import { type BlockInput, roundInput, type Signed } from '../format/nonfinite.ts';
import type { Words } from '../functions/field.ts';
import type { AnyPolicy } from '../functions/oracle-function.ts';
import type { BinaryFormat, FloatValue } from '../number/binary-format.ts';
import { compare, type Exact, isZero, powerOfTwo } from '../number/exact.ts';
import { FP32 } from '../number/floats.ts';
import { ALWAYS, type Flag } from './flag.ts';

/** What every case of an encoder is asked. */
export interface BlockCase {
  readonly words: Words;
  readonly raw: readonly FloatValue[];
  readonly policy: AnyPolicy;
  /** Undefined where the policy refuses the block, or where a NaN or an infinity leaves no intermediates. */
  readonly input: BlockInput | undefined;
  readonly max: Exact | undefined;
  readonly codes: readonly number[] | undefined;
  readonly scaleCode: number | undefined;
  /** Whether the outputs would be others under these parameters; by the fast path. */
  readonly differsUnder: (overrides: AnyPolicy) => boolean;
}

const rounded = ({ raw, policy }: BlockCase): FloatValue[] =>
  raw.map((v) => roundInput(v, policy['input'] as 'bf16' | 'f32'));

/** Some finite element of the block, with the code it got. */
export const someElement = (
  { input, codes }: BlockCase,
  test: (value: Signed, code: number) => boolean,
): boolean =>
  input !== undefined &&
  codes !== undefined &&
  input.values.some((value, i) => !input.dictated.has(i) && test(value, codes[i]!));

const wideToBF16 = (policy: AnyPolicy, from: BinaryFormat): boolean =>
  from === FP32 && policy['input'] === 'bf16';

const SMALLEST_NORMAL = powerOfTwo(-126);
const other = (input: string | undefined): AnyPolicy => ({ input: input === 'f32' ? 'bf16' : 'f32' });

export const inputFlags: readonly Flag<BlockCase>[] = [
  {
    name: 'NaNInput',
    text: 'An input is a NaN.',
    clauses: ['CON-05'],
    faults: ['S8', 'H13'],
    applies: ALWAYS,
    holds: (c) => c.raw.some((v) => v.kind === 'nan'),
  },
  {
    name: 'InfInput',
    text: 'An input is an infinity.',
    clauses: ['CON-05'],
    faults: ['S12'],
    applies: ALWAYS,
    holds: (c) => c.raw.some((v) => v.kind === 'infinite'),
  },
  {
    name: 'Bf16Overflow',
    text: 'A finite FP32 input becomes an infinity when it is rounded to BF16.',
    clauses: ['CON-04', 'CON-05'],
    faults: ['S12'],
    applies: wideToBF16,
    holds: (c) => rounded(c).some((v, i) => v.kind === 'infinite' && c.raw[i]!.kind === 'finite'),
  },
  {
    name: 'InputTie',
    text: 'An FP32 input lies half-way between two BF16 numbers.',
    clauses: ['CON-04', 'NUM-02'],
    faults: ['R1', 'R5'],
    applies: wideToBF16,
    holds: (c) =>
      c.policy['input'] === 'bf16' &&
      c.raw.some((v, i) => v.kind === 'finite' && (c.words[i]! & 0xffff) === 0x8000),
  },
  {
    name: 'InputRounding',
    text: 'The outputs would be others if the inputs were, or were not, rounded to BF16 first.',
    clauses: ['CON-04'],
    faults: ['S1', 'R5'],
    applies: (_, from) => from === FP32,
    holds: (c) => c.differsUnder(other(c.policy['input'])),
  },
  {
    name: 'NegZero',
    text: 'An input is -0 after input rounding; zero-sign decides its code.',
    clauses: ['CON-06'],
    faults: [],
    applies: ALWAYS,
    holds: (c) => someElement(c, (v) => v.negative && isZero(v.magnitude)),
  },
  {
    name: 'Underflow',
    text: 'A nonzero input gets a code of magnitude 0.',
    clauses: ['CON-06'],
    faults: ['S6', 'S11'],
    applies: ALWAYS,
    holds: (c) => someElement(c, (v, code) => !isZero(v.magnitude) && (code & 7) === 0),
  },
  {
    name: 'NegUnderflow',
    text: 'A negative nonzero input gets a code of magnitude 0; zero-sign decides between 8 and 0.',
    clauses: ['CON-06'],
    faults: [],
    applies: ALWAYS,
    holds: (c) => someElement(c, (v, code) => v.negative && !isZero(v.magnitude) && (code & 7) === 0),
  },
  {
    name: 'SubnormalAmax',
    text: 'The largest magnitude is a subnormal number.',
    clauses: ['NUM-07'],
    faults: ['S6', 'S7', 'S11'],
    applies: ALWAYS,
    holds: (c) => c.max !== undefined && !isZero(c.max) && compare(c.max, SMALLEST_NORMAL) < 0,
  },
];
