/**
 * What the stream answers to lines or records, up to the first that is refused. By the definition and the fast path both.
 * Clauses: spec/stream.md STR-03, STR-04, STR-06.
 * @module
 */
import { Fp4Error, type Fp4ErrorCode } from '../error.ts';
import type { Words } from '../functions/field.ts';
import { formatFields, formatStages, parseLine } from '../functions/line.ts';
import type { AnyPolicy, OracleFunction } from '../functions/oracle-function.ts';
import { formatRecord, parseRecord, recordLength } from '../functions/record.ts';
import { bytesOfHex, hexOf } from './file-bytes.ts';

export interface Answered {
  readonly answered: readonly string[] | string;
  readonly error?: Fp4ErrorCode;
  /** The line or record that was refused, from 1. */
  readonly at?: number;
}

/** The outputs that both paths give; a refusal is thrown. */
export function outputsOf(
  f: OracleFunction,
  policy: AnyPolicy,
  inputs: readonly Words[],
): ReturnType<OracleFunction['define']> {
  const defined = f.define(inputs, policy);
  const text = (words: readonly Words[]): string => formatFields(f.outputs(policy), words);
  if (text(defined.outputs) === text(f.fast(inputs, policy))) return defined;
  throw new Error(`${f.name}: definition and fast path differ on ${formatFields(f.inputs, inputs)}`);
}

/** Runs one step after the other, until one is refused. */
function untilRefused(steps: Iterable<readonly [at: number, step: () => void]>): {
  error?: Fp4ErrorCode;
  at?: number;
} {
  for (const [at, step] of steps) {
    try {
      step();
    } catch (error) {
      if (error instanceof Fp4Error) return { error: error.code, at };
      throw error;
    }
  }
  return {};
}

/** Answers to lines of text: one a line that is not skipped. */
export function answerLines(
  f: OracleFunction,
  policy: AnyPolicy,
  lines: readonly string[],
  withStages = false,
): Answered {
  const answered: string[] = [];
  const steps = lines.map((text, j) => {
    const step = (): void => {
      const line = text.endsWith('\r') ? text.slice(0, -1) : text;
      if (line === '' || line.startsWith('#')) return;
      const { values } = parseLine(line, f.inputs, [], `line ${j + 1}`);
      const { outputs, stages } = outputsOf(f, policy, values);
      const shown = formatFields(f.outputs(policy), outputs);
      answered.push(withStages ? `${shown} ${formatStages(f.stages(policy), stages)}` : shown);
    };
    return [j + 1, step] as const;
  });
  const refusal = untilRefused(steps);
  return { answered, ...refusal };
}

/** Answers to raw records, all in hex. */
export function answerRecords(f: OracleFunction, policy: AnyPolicy, hex: string): Answered {
  const bytes = bytesOfHex(hex);
  const length = recordLength(f.inputs);
  let answered = '';
  const steps = Array.from({ length: Math.ceil(bytes.length / length) }, (_, j) => {
    const step = (): void => {
      const record = bytes.subarray(j * length, (j + 1) * length);
      if (record.length < length) throw new Fp4Error('E_RECORD', `record ${j + 1} is cut short`);
      const { outputs } = outputsOf(f, policy, parseRecord(record, f.inputs, `record ${j + 1}`));
      answered += hexOf(formatRecord(f.outputs(policy), outputs));
    };
    return [j + 1, step] as const;
  });
  const refusal = untilRefused(steps);
  return { answered, ...refusal };
}
