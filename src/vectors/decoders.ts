/**
 * The block decoders as the vectors see them, with their flags. Clauses: spec/hif4.md HIF4-03, spec/mxfp4.md MX-02.
 * @module
 */
import { decodeUnit, unpackScaleWord } from '../format/hif4.ts';
import { decodeBlock } from '../format/mxfp4.ts';
import { outputFormat } from '../functions/decoder-function.ts';
import type { Words } from '../functions/field.ts';
import type { AnyPolicy, OracleFunction } from '../functions/oracle-function.ts';
import { decode, encode, type FloatValue } from '../number/binary-format.ts';
import { compare, isZero } from '../number/exact.ts';
import { hif4DecodingExamples, mxfp4DecodingExamples } from './examples.ts';
import { ALWAYS, type Flag } from './flag.ts';
import type { Subject } from './subject.ts';

interface DecoderCase {
  readonly scale: number;
  readonly codes: readonly number[];
  readonly exact: readonly FloatValue[];
  readonly words: Words;
  readonly policy: AnyPolicy;
}

const some = ({ exact, words }: DecoderCase, test: (value: FloatValue, word: number) => boolean): boolean =>
  exact.some((value, i) => test(value, words[i]!));

const into =
  (...outputs: string[]) =>
  (policy: AnyPolicy): boolean =>
    outputs.includes(policy['output']!);

/** Flags of both decoders; the clause and who reaches the ends of the output type differ. */
const decoderFlags = (
  clause: string,
  scaleClause: string,
  overflow: Flag<DecoderCase>['applies'],
  subnormal: Flag<DecoderCase>['applies'],
): Flag<DecoderCase>[] => [
  {
    name: 'EveryCode',
    text: 'All sixteen codes occur.',
    clauses: [clause],
    faults: ['D6', 'D7', 'L1', 'R3'],
    applies: ALWAYS,
    holds: ({ codes }) => new Set(codes).size === 16,
  },
  {
    name: 'NegZero',
    text: 'Code 8 decodes to -0.',
    clauses: [clause],
    faults: ['D6'],
    applies: ALWAYS,
    holds: (c) => some(c, (v) => v.kind === 'finite' && v.negative && isZero(v.magnitude)),
  },
  {
    name: 'ScaleByte0',
    text: 'The scale byte is 00, the smallest scale and not 0.',
    clauses: [clause, scaleClause],
    faults: ['D1', 'D4', 'H12'],
    applies: ALWAYS,
    holds: ({ scale }) => (scale & 0xff) === 0,
  },
  {
    name: 'ScaleTop',
    text: 'The scale byte is fe, the largest scale.',
    clauses: [clause, scaleClause],
    faults: ['D2'],
    applies: ALWAYS,
    holds: ({ scale }) => (scale & 0xff) === 0xfe,
  },
  {
    name: 'ScaleNaN',
    text: 'The scale byte is ff: every element is a NaN.',
    clauses: [clause, scaleClause],
    faults: ['D2'],
    applies: ALWAYS,
    holds: ({ scale }) => (scale & 0xff) === 0xff,
  },
  {
    name: 'DecodeOverflow',
    text: 'A finite value is beyond the output type and becomes an infinity.',
    clauses: [clause, 'NUM-05'],
    faults: ['S10'],
    applies: overflow,
    holds: (c) =>
      some(c, (v, w) => v.kind === 'finite' && decode(outputFormat(c.policy), w).kind === 'infinite'),
  },
  {
    name: 'SubnormalResult',
    text: 'A result is a subnormal number of the output type.',
    clauses: [clause, 'NUM-07'],
    faults: ['D5'],
    applies: subnormal,
    holds: (c) => {
      const { fractionBits, exponentBits } = outputFormat(c.policy);
      const magnitude = (w: number): number => w % 2 ** (fractionBits + exponentBits);
      return some(c, (_, w) => magnitude(w) > 0 && magnitude(w) < 2 ** fractionBits);
    },
  },
  {
    name: 'ResultRounding',
    text: 'A result is no number of the output type and is rounded.',
    clauses: [clause, 'NUM-02'],
    faults: ['D5'],
    applies: into('f16'),
    holds: (c) =>
      some(c, (v, w) => {
        const result = decode(outputFormat(c.policy), w);
        return (
          v.kind === 'finite' && result.kind === 'finite' && compare(v.magnitude, result.magnitude) !== 0
        );
      }),
  },
];

const hif4Flags: readonly Flag<DecoderCase>[] = [
  ...decoderFlags('HIF4-03', 'SCA-03', into('f16'), into('f16')),
  {
    name: 'Level2Index',
    text: 'Some level-2 bits are set and some are not, so that their order shows.',
    clauses: ['HIF4-01', 'HIF4-02', 'HIF4-03'],
    faults: ['L8'],
    applies: ALWAYS,
    holds: ({ scale }) => ![0, 0xff].includes(unpackScaleWord(scale).e1_8),
  },
  {
    name: 'Level2High',
    text: 'One of the upper four level-2 bits is set.',
    clauses: ['HIF4-02', 'HIF4-03'],
    faults: ['L6'],
    applies: ALWAYS,
    holds: ({ scale }) => unpackScaleWord(scale).e1_8 > 0x0f,
  },
  {
    name: 'Level3Index',
    text: 'Some level-3 bits are set and some are not, so that their order shows.',
    clauses: ['HIF4-01', 'HIF4-02', 'HIF4-03'],
    faults: ['L8'],
    applies: ALWAYS,
    holds: ({ scale }) => ![0, 0xffff].includes(unpackScaleWord(scale).e1_16),
  },
];

const mxfp4Flags: readonly Flag<DecoderCase>[] = [
  ...decoderFlags('MX-02', 'SCA-05', ALWAYS, ALWAYS),
  {
    name: 'Scale128',
    text: 'The scale is 86, 2^7 = 128: a number, although its byte tested after a shift looks like a NaN.',
    clauses: ['MX-02'],
    faults: ['D3'],
    applies: ALWAYS,
    holds: ({ scale }) => scale === 134,
  },
];

function decoder(
  f: OracleFunction,
  flags: readonly Flag<DecoderCase>[],
  examples: Subject<DecoderCase>['examples'],
  values: (scale: number, codes: readonly number[]) => FloatValue[],
): Subject<DecoderCase> {
  return {
    flags,
    examples,
    define: ([scale, codes], policy) => {
      const block = { scale: scale![0]!, codes: Array.from(codes!) };
      const exact = values(block.scale, block.codes);
      const words = exact.map((v) => encode(outputFormat(policy), v, 'even', 'nonfinite'));
      return { outputs: [words], about: { ...block, exact, words, policy } };
    },
    refused: () => {
      throw new Error(`${f.name} refuses nothing`);
    },
  };
}

export const hif4Decoder = (f: OracleFunction): Subject<DecoderCase> =>
  decoder(f, hif4Flags, hif4DecodingExamples, decodeUnit);
export const mxfp4Decoder = (f: OracleFunction): Subject<DecoderCase> =>
  decoder(f, mxfp4Flags, mxfp4DecodingExamples, decodeBlock);
