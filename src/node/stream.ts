/**
 * The stream's three jobs over files and pipes: eval, gen, verify.
 * Clauses: spec/stream.md STR-06 to STR-09.
 * @module
 */
import type { Readable, Writable } from 'node:stream';
import { Fp4Error } from '../error.ts';
import type { Field, Words } from '../functions/field.ts';
import { formatElement, formatFields, formatStages, parseLine } from '../functions/line.ts';
import type { AnyPolicy, OracleFunction } from '../functions/oracle-function.ts';
import { formatRecord, parseRecord, recordLength } from '../functions/record.ts';
import { answer, firstDifference, type Generation, generate } from '../functions/session.ts';
import { caseLines, records } from './input.ts';
import { Output } from './output.ts';

export type Encoding = 'text' | 'raw';

export interface StreamJob {
  readonly function: OracleFunction;
  readonly policy: AnyPolicy;
  readonly encoding: Encoding;
  readonly stages: boolean;
}

/** One case as it was read. */
interface Case {
  readonly number: number;
  readonly values: readonly Words[];
  readonly stages: ReadonlyMap<string, Words>;
}

/** The cases of a stream, field by field; stages may follow in text, and do follow in raw where `stages` is set. */
async function* cases(
  stream: Readable,
  fields: readonly Field[],
  stages: readonly Field[],
  job: StreamJob,
): AsyncGenerator<Case> {
  if (job.encoding === 'text') {
    for await (const batch of caseLines(stream)) {
      for (const { number, text } of batch) {
        yield { number, ...parseLine(text, fields, stages, `line ${number}`) };
      }
    }
    return;
  }
  const all = job.stages ? [...fields, ...stages] : fields;
  let number = 0;
  for await (const batch of records(stream, recordLength(all))) {
    for (const record of batch) {
      number++;
      const values = parseRecord(record, all, `record ${number}`);
      const named = stages.map((field, k) => [field.name, values[fields.length + k]!] as const);
      yield { number, values: values.slice(0, fields.length), stages: new Map(job.stages ? named : []) };
    }
  }
}

/** Writes fields, and stages by name, in the encoding of the job. */
function write(
  output: Output,
  job: StreamJob,
  fields: readonly Field[],
  values: readonly Words[],
  stages: readonly Words[],
): void {
  const stageFields = job.stages ? job.function.stages(job.policy) : [];
  if (job.encoding === 'raw') {
    output.bytes(formatRecord([...fields, ...stageFields], [...values, ...stages]));
    return;
  }
  const line = formatFields(fields, values);
  output.line(stageFields.length > 0 ? `${line} ${formatStages(stageFields, stages)}` : line);
}

/** The function's answer; its refusal of a NaN or an infinity is told with the number of the line. */
function answerTo(job: StreamJob, number: number, inputs: readonly Words[], withStages: boolean) {
  try {
    return answer(job.function, job.policy, inputs, withStages);
  } catch (error) {
    if (!(error instanceof Fp4Error)) throw error;
    const unit = job.encoding === 'raw' ? 'record' : 'line';
    throw new Fp4Error(error.code, `${unit} ${number}: ${error.message}`);
  }
}

/**
 * STR-06. Answers every case of the input; on a malformed one, those before it are answered first.
 * @throws Fp4Error for a malformed line or record
 */
export async function evaluate(job: StreamJob, input: Readable, out: Writable): Promise<void> {
  const output = new Output(out);
  const fields = job.function.outputs(job.policy);
  try {
    for await (const { number, values } of cases(input, job.function.inputs, [], { ...job, stages: false })) {
      const { outputs, stages } = answerTo(job, number, values, job.stages);
      write(output, job, fields, outputs, stages);
      if (output.full) await output.flush();
    }
  } finally {
    await output.flush();
  }
}

/** STR-09. Writes cases: inputs and, unless `inputsOnly`, outputs and stages. */
export async function generateTo(
  job: StreamJob,
  generation: Generation,
  inputsOnly: boolean,
  out: Writable,
): Promise<void> {
  const output = new Output(out);
  const { inputs: inputFields } = job.function;
  const fields = inputsOnly ? inputFields : [...inputFields, ...job.function.outputs(job.policy)];
  const written = inputsOnly ? { ...job, stages: false } : job;
  let number = 0;
  try {
    for (const inputs of generate(job.function, generation)) {
      number++;
      const { outputs, stages } = inputsOnly
        ? { outputs: [], stages: [] }
        : answerTo(job, number, inputs, job.stages);
      write(output, written, fields, [...inputs, ...outputs], stages);
      if (output.full) await output.flush();
    }
  } finally {
    await output.flush();
  }
}

export interface ReportedDifference {
  readonly line: number;
  /** The field and the element in it: `codes[5]`. */
  readonly field: string;
  readonly expected: string;
  readonly found: string;
}

export interface VerifySummary {
  readonly lines: number;
  readonly differences: number;
}

/**
 * STR-08. Compares every case of the input, its stages included where it gives them; tells of the first difference of each.
 * @throws Fp4Error for a malformed line or record
 */
export async function verify(
  job: StreamJob,
  input: Readable,
  tell: (difference: ReportedDifference) => void | Promise<void>,
): Promise<VerifySummary> {
  const inputFields = job.function.inputs;
  const outputFields = job.function.outputs(job.policy);
  const stageFields = job.function.stages(job.policy);
  let lines = 0;
  let differences = 0;
  for await (const given of cases(input, [...inputFields, ...outputFields], stageFields, job)) {
    lines++;
    const inputs = given.values.slice(0, inputFields.length);
    const expected = answerTo(job, given.number, inputs, given.stages.size > 0);
    const chosen = stageFields.filter((field) => given.stages.has(field.name));
    const expectedStages = chosen.map((field) => expected.stages[stageFields.indexOf(field)]!);
    const difference = firstDifference(
      [...outputFields, ...chosen],
      [...expected.outputs, ...expectedStages],
      [...given.values.slice(inputFields.length), ...chosen.map((field) => given.stages.get(field.name)!)],
      job.policy,
    );
    if (difference === undefined) continue;
    differences++;
    const told = tell({
      line: given.number,
      field: `${difference.field.name}[${difference.index}]`,
      expected: formatElement(difference.field, difference.expected),
      found: formatElement(difference.field, difference.found),
    });
    if (told) await told;
  }
  return { lines, differences };
}
