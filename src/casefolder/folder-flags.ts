/**
 * Flags of a case: what about its values makes it worth a look. Clauses: spec/folders.md FOL-07.
 * @module
 */
import type { Field, Words } from '../functions/field.ts';
import { decode } from '../number/binary-format.ts';
import { isZero } from '../number/exact.ts';
import type { FolderInputs } from './folder-inputs.ts';
import { isTail } from './folder-inputs.ts';

/** FOL-07. Flag k is bit k. */
export const FLAGS = [
  'Boundary',
  'Tail',
  'NaNInput',
  'InfInput',
  'NegZero',
  'AllZero',
  'Subnormal',
  'ScaleNaN',
  'ScaleByte0',
] as const;
export type Flag = (typeof FLAGS)[number];

/** Hex digits of the flags of one case. */
export const FLAG_DIGITS = Math.ceil(FLAGS.length / 4);

function inputFlags(field: Field, words: Words, found: Set<Flag>): boolean {
  const { format } = field;
  if (format === undefined || format.signBits === 0) return false;
  const sign = 2 ** (format.exponentBits + format.fractionBits);
  const smallestNormal = 2 ** format.fractionBits;
  let zeros = 0;
  for (let j = 0; j < words.length; j++) {
    const magnitude = words[j]! % sign;
    if (magnitude === 0) zeros++;
    if (words[j] === sign && format.top !== 'negative-zero-nan') found.add('NegZero');
    if (magnitude > 0 && magnitude < smallestNormal) found.add('Subnormal');
    const value = magnitude < sign / 2 ? undefined : decode(format, words[j]!);
    if (value?.kind === 'nan') found.add('NaNInput');
    if (value?.kind === 'infinite') found.add('InfInput');
    if (value?.kind === 'finite' && isZero(value.magnitude)) zeros++;
  }
  return zeros === words.length;
}

/** The scale of a block, whose low byte is that of its E6M2 or E8M0. */
function scaleFlags(field: Field, words: Words, found: Set<Flag>): void {
  if (field.name !== 'scale') return;
  const byte = words[0]! % 256;
  if (byte === 0xff) found.add('ScaleNaN');
  if (byte === 0x00) found.add('ScaleByte0');
}

/** FOL-07. The flags of one case as a number. */
export function flagsOf(
  inputs: FolderInputs,
  row: number,
  block: number,
  inputFields: readonly Field[],
  inputWords: readonly Words[],
  outputFields: readonly Field[],
  outputWords: readonly Words[],
): number {
  const found = new Set<Flag>();
  if (row < inputs.boundaryRows && block < inputs.grid.whole) found.add('Boundary');
  if (isTail(inputs.grid, block)) found.add('Tail');
  const allZero = inputFields.map((field, k) => inputFlags(field, inputWords[k]!, found));
  if (allZero.every(Boolean)) found.add('AllZero');
  for (const [k, field] of inputFields.entries()) scaleFlags(field, inputWords[k]!, found);
  for (const [k, field] of outputFields.entries()) scaleFlags(field, outputWords[k]!, found);
  return FLAGS.reduce((bits, flag, k) => bits + (found.has(flag) ? 2 ** k : 0), 0);
}
