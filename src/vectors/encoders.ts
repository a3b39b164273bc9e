/**
 * The block encoders as the vectors see them: the definition's answer with everything a flag asks about it.
 * @module
 */
import { encodeUnit } from '../format/hif4.ts';
import type { HiF4Policy } from '../format/hif4-policy.ts';
import { encodeBlock } from '../format/mxfp4.ts';
import type { Mxfp4Policy } from '../format/mxfp4-policy.ts';
import { blockInput } from '../format/nonfinite.ts';
import type { Words } from '../functions/field.ts';
import type { AnyPolicy, OracleFunction } from '../functions/oracle-function.ts';
import { decode, type FloatValue } from '../number/binary-format.ts';
import { maximum } from '../number/exact.ts';
import { BF16 } from '../number/floats.ts';
import { hif4Examples, mxfp4Examples } from './examples.ts';
import { type HiF4Case, hif4Flags } from './hif4-flags.ts';
import { type Mxfp4Case, mxfp4Flags } from './mxfp4-flags.ts';
import { type Subject, same } from './subject.ts';

/** Whether the fast path gives other outputs under overrides; a refusal is no other output. */
const differs =
  (f: OracleFunction, words: Words, policy: AnyPolicy, outputs: () => readonly Words[]) =>
  (overrides: AnyPolicy): boolean =>
    !same(f.fast([words], { ...policy, ...overrides }), outputs());

const decoded = new WeakMap<object, readonly FloatValue[]>();

/** The values of a case's words; kept, since every profile is asked about them. */
function valuesOf(f: OracleFunction, words: Words): readonly FloatValue[] {
  const { format } = f.inputs[0]!;
  const values = decoded.get(words) ?? Array.from(words, (w) => decode(format!, w));
  decoded.set(words, values);
  return values;
}

const nothing = {
  trace: undefined,
  input: undefined,
  max: undefined,
  codes: undefined,
  scaleCode: undefined,
};

export function hif4Encoder(f: OracleFunction): Subject<HiF4Case> {
  const narrow = f.inputs[0]!.format === BF16;
  return {
    flags: hif4Flags,
    examples: narrow
      ? hif4Examples
      : hif4Examples.map(({ inputs, note }) => ({
          inputs: [Array.from(inputs[0]!, (w) => w * 0x10000)],
          note,
        })),
    define: ([words], policy) => {
      const raw = valuesOf(f, words!);
      const { word, codes, trace } = encodeUnit(raw, policy as HiF4Policy);
      const outputs: Words[] = [[word], codes];
      const common = { words: words!, raw, policy, codes, scaleCode: word & 0xff, trace };
      const differsUnder = differs(f, words!, policy, () => outputs);
      return { outputs, about: { ...common, input: trace?.input, max: trace?.max64, differsUnder } };
    },
    refused: ([words], policy) => ({
      ...nothing,
      words: words!,
      raw: valuesOf(f, words!),
      policy,
      differsUnder: () => false,
    }),
  };
}

export function mxfp4Encoder(f: OracleFunction): Subject<Mxfp4Case> {
  const narrow = f.inputs[0]!.format === BF16;
  return {
    flags: mxfp4Flags,
    examples: narrow
      ? mxfp4Examples.map(({ inputs, note }) => ({
          inputs: [Array.from(inputs[0]!, (w) => w >>> 16)],
          note: `${note}; cut to BF16`,
        }))
      : mxfp4Examples,
    define: ([words], policy) => {
      const raw = valuesOf(f, words!);
      const { scale, codes, trace } = encodeBlock(raw, policy as Mxfp4Policy);
      const outputs: Words[] = [[scale], codes];
      // A block whose exponent makes it NaN has no trace, yet an amax that flags ask about.
      const { input: rounding, nonfinite } = policy as Mxfp4Policy;
      const input = trace?.input ?? blockInput(raw, rounding, nonfinite);
      const finite = input.kind !== 'nan-block' && input.kind !== 'nan-scale';
      const max = finite ? maximum(input.values.map((v) => v.magnitude)) : undefined;
      const common = { words: words!, raw, policy, codes, scaleCode: scale, trace, input: trace?.input, max };
      return { outputs, about: { ...common, differsUnder: differs(f, words!, policy, () => outputs) } };
    },
    refused: ([words], policy) => ({
      ...nothing,
      words: words!,
      raw: valuesOf(f, words!),
      policy,
      differsUnder: () => false,
    }),
  };
}
