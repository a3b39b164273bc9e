/**
 * An MXFP4 block for a person: its scale and its values; and, where the input is known, every stage of the encoder.
 * Clauses: spec/mxfp4.md.
 * @module
 */
import { BLOCK, decodeBlock, encodeBlock } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { E8M0 } from '../format/scalar.ts';
import type { Field, Words } from '../functions/field.ts';
import { decode } from '../number/binary-format.ts';
import { exact } from '../number/exact.ts';
import { elementLines } from './elements.ts';
import { type ShownStage, stageLines } from './stages.ts';
import { binary, decimal, hex, table } from './table.ts';

/** Elements a row of the values. */
const ROW = 8;

/** The block's bytes: scale, codes and values. */
export function describeMxfp4(scale: number, codes: readonly number[]): string[] {
  const exponent =
    scale === E8M0.canonicalNaN ? 'NaN' : `2^${scale - E8M0.bias} = ${decimal(decode(E8M0, scale))}`;
  const values = decodeBlock(scale, codes);
  const rows = Array.from({ length: BLOCK / ROW }, (_, k) => {
    const slice = [ROW * k, ROW * (k + 1)] as const;
    const digits = codes.slice(...slice).map((c) => hex(c, 1));
    return [`${slice[0]}-${slice[1] - 1}`, digits.join(' '), ...values.slice(...slice).map(decimal)];
  });
  const header = ['elements', 'codes', 'values', ...Array.from({ length: ROW - 1 }, () => '')];
  return [
    `scale E8M0 ${hex(scale, 2)} ${binary(scale, 8)}: ${exponent}`,
    '',
    ...table([header, ...rows], [1]),
  ];
}

/** Every stage of the encoder for an input: the intermediates that are shared, then the elements. */
export function describeMxfp4Encoding(
  words: Words,
  input: Field,
  policy: Mxfp4Policy,
  stages: readonly ShownStage[],
): string[] {
  const x = Array.from(words, (w) => decode(input.format!, w));
  const { scale, codes, trace } = encodeBlock(x, policy);
  if (trace === undefined) return ['a NaN block: every intermediate is NaN or zero'];
  const { input: rounded, scaled } = trace;
  const values = decodeBlock(scale, codes);
  const largest = exact(6);
  return [
    ...stageLines(stages),
    '',
    ...elementLines({ input, words, rounded, scaled, codes, values, largest }),
  ];
}
