/**
 * A HiF4 unit for a person: the fields of its scale word, what each exponent bit covers, its values; and, where the input is
 * known, every stage of the encoder. Clauses: spec/hif4.md.
 * @module
 */
import { decodeUnit, encodeUnit, OCTET, QUAD, UNIT, unpackScaleWord } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { E6M2 } from '../format/scalar.ts';
import type { Field, Words } from '../functions/field.ts';
import { decode, finite } from '../number/binary-format.ts';
import { exact, multiply, powerOfTwo } from '../number/exact.ts';
import { elementLines } from './elements.ts';
import { type ShownStage, stageLines } from './stages.ts';
import { binary, decimal, hex, table } from './table.ts';

const bit = (word: number, k: number): number => (word >> k) & 1;

/** The unit's bytes: fields, groups, codes and values. */
export function describeHiF4(word: number, codes: readonly number[]): string[] {
  const { e6m2, e1_8, e1_16 } = unpackScaleWord(word);
  const level1 = decode(E6M2, e6m2);
  const values = decodeUnit(word, codes);
  const fields = [
    ['E6M2', hex(e6m2, 2), binary(e6m2, 8), 'bits 7:0', `level 1, all 64 elements: ${decimal(level1)}`],
    ['E1_8', hex(e1_8, 2), binary(e1_8, 8), 'bits 15:8', 'level 2, bit 8+k: elements 8k to 8k+7'],
    ['E1_16', hex(e1_16, 4), binary(e1_16, 16), 'bits 31:16', 'level 3, bit 16+k: elements 4k to 4k+3'],
  ];
  const groups = Array.from({ length: UNIT / QUAD }, (_, k) => {
    const [level2, level3] = [bit(e1_8, (k * QUAD) / OCTET), bit(e1_16, k)];
    const scale =
      level1.kind === 'finite' ? finite(multiply(level1.magnitude, powerOfTwo(level2 + level3))) : level1;
    const slice = [QUAD * k, QUAD * (k + 1)] as const;
    return [
      `${slice[0]}-${slice[1] - 1}`,
      `[${Math.floor(k / 2)}]=${level2}`,
      `[${k}]=${level3}`,
      decimal(scale),
      codes
        .slice(...slice)
        .map((c) => hex(c, 1))
        .join(' '),
      ...values.slice(...slice).map(decimal),
    ];
  });
  return [
    `scale word ${hex(word, 8)}`,
    ...table(fields, [0, 2, 3, 4]),
    '',
    ...table([['elements', 'E1_8', 'E1_16', 'scale', 'codes', 'values', '', '', ''], ...groups], [4]),
  ];
}

/** Every stage of the encoder for an input: the intermediates that are shared, then the elements. */
export function describeHiF4Encoding(
  words: Words,
  input: Field,
  policy: HiF4Policy,
  stages: readonly ShownStage[],
): string[] {
  const x = Array.from(words, (w) => decode(input.format!, w));
  const { word, codes, trace } = encodeUnit(x, policy);
  if (trace === undefined) return ['a NaN unit: every intermediate is NaN or zero'];
  const { input: rounded, scaled } = trace;
  const values = decodeUnit(word, codes);
  const largest = exact(7, -2);
  return [
    ...stageLines(stages),
    '',
    ...elementLines({ input, words, rounded, scaled, codes, values, largest }),
  ];
}
