/**
 * A line of the stream for a person: which function's it is, told by its words; then the block, field by field.
 * @module
 */
import { excerpt, Fp4Error } from '../error.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { codes, type Words, word } from '../functions/field.ts';
import { parseLine } from '../functions/line.ts';
import type { AnyPolicy, Evaluation, OracleFunction } from '../functions/oracle-function.ts';
import { functionByName, policyOf } from '../functions/registry.ts';
import { firstDifference } from '../functions/session.ts';
import { describeHiF4, describeHiF4Encoding } from './hif4.ts';
import { describeMxfp4, describeMxfp4Encoding } from './mxfp4.ts';
import type { ShownStage } from './stages.ts';
import { hex } from './table.ts';

const QUANTIZERS = ['hif4_quantize', 'hif4_quantize_f32', 'mxfp4_quantize', 'mxfp4_quantize_f32'].map(
  functionByName,
);
const PAIRS = [
  { name: 'HiF4', fields: [word('scale', 8), codes('codes', 64)], describe: describeHiF4 },
  { name: 'MXFP4', fields: [word('scale', 2), codes('codes', 32)], describe: describeMxfp4 },
] as const;

/** The quantizer whose inputs a line starts with, told by how many words there are and how long the first is. */
function quantizerOf(words: readonly string[]): OracleFunction | undefined {
  const fitting = QUANTIZERS.filter(({ inputs: [input] }) => [0, 2].includes(words.length - input!.count));
  return fitting.find(({ inputs: [input] }) => words[0]!.length === input!.digits) ?? fitting[0];
}

const describeBytes = (f: OracleFunction, scale: Words, given: Words): string[] =>
  f.name.startsWith('hif4')
    ? describeHiF4(scale[0]!, Array.from(given))
    : describeMxfp4(scale[0]!, Array.from(given));

function defined(f: OracleFunction, input: Words, policy: AnyPolicy, at: string): Evaluation {
  try {
    return f.define([input], policy);
  } catch (error) {
    throw error instanceof Fp4Error ? new Fp4Error(error.code, `${at}: ${error.message}`) : error;
  }
}

/** The encoder's answer to a line's input, and where the line gives outputs of its own, whether they agree. */
function describeQuantizer(
  f: OracleFunction,
  line: string,
  at: string,
  profile: string | undefined,
  set: AnyPolicy,
): string[] {
  const policy = policyOf(f, profile, set);
  const input = f.inputs[0]!;
  const outputs = f.outputs(policy);
  const givesOutputs = line.split(' ').length > input.count;
  const { values } = parseLine(line, givesOutputs ? [input, ...outputs] : [input], [], at);
  const { outputs: answer, stages } = defined(f, values[0]!, policy, at);
  const shown = f.stages(policy).map((field, k): ShownStage => [field, stages[k]!]);
  const encoding = f.name.startsWith('hif4')
    ? describeHiF4Encoding(values[0]!, input, policy as HiF4Policy, shown)
    : describeMxfp4Encoding(values[0]!, input, policy as Mxfp4Policy, shown);
  const lines = [
    `${f.name} ${JSON.stringify(policy)}`,
    '',
    ...describeBytes(f, answer[0]!, answer[1]!),
    '',
    ...encoding,
  ];
  if (!givesOutputs) return lines;
  const d = firstDifference(outputs, answer, values.slice(1), policy);
  const verdict =
    d === undefined
      ? 'the outputs on the line agree'
      : `the outputs on the line differ, first at ${d.field.name}[${d.index}]: expected ${hex(d.expected, d.field.digits)}, found ${hex(d.found, d.field.digits)}`;
  return [...lines, '', verdict];
}

/**
 * Describes one line: 64 or 32 input words, alone or with scale and codes; or scale and codes alone.
 * @param at how messages name the line
 * @throws Fp4Error for a line that is none of these
 */
export function describeLine(
  line: string,
  at: string,
  profile: string | undefined,
  set: AnyPolicy,
): string[] {
  const words = line.split(' ');
  const f = quantizerOf(words);
  if (f !== undefined) return describeQuantizer(f, line, at, profile, set);
  const pair =
    words.length === 2
      ? (PAIRS.find(({ fields }) => words[0]!.length === fields[0].digits) ?? PAIRS[0])
      : undefined;
  if (pair === undefined) {
    const expected =
      '64 words of 4 or 8 digits (HiF4), 32 of 4 or 8 (MXFP4), or a scale (8 or 2 digits) and codes';
    throw new Fp4Error(
      'E_WORD_COUNT',
      `${at}: ${words.length} words, "${excerpt(line)}"; expected ${expected}`,
    );
  }
  const { values } = parseLine(line, pair.fields, [], at);
  return [`${pair.name} block`, '', ...pair.describe(values[0]![0]!, Array.from(values[1]!))];
}
