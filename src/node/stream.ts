/**
 * The stream's three jobs over files and pipes: eval, gen, verify.
 * Clauses: spec/stream.md STR-06 to STR-09.
 * @module
 */
import type { Readable, Writable } from 'node:stream';
import { Fp4Error } from '../error.ts';
import { type Columns, caseOf, columnsFor, fitColumns, formatRaw, formatText } from '../functions/columns.ts';
import type { Field, Words } from '../functions/field.ts';
import { formatElement, formatFields, formatStages, parseLine } from '../functions/line.ts';
import type { AnyPolicy, OracleFunction } from '../functions/oracle-function.ts';
import { formatRecord, parseRecord, recordLength } from '../functions/record.ts';
import {
  answer,
  type Difference,
  firstDifference,
  type Generation,
  generate,
  generateColumns,
} from '../functions/session.ts';
import { batchCases, type CaseBatch, rawBatches, textBatches } from './case-batches.ts';
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

/** What a batch was answered with: its first cases, and why it was not answered further. */
interface Answers {
  readonly outputs: Columns;
  readonly count: number;
  readonly error?: Fp4Error;
}

/** A job whose cases are read, answered and written many at a time. */
interface BatchJob {
  readonly inputs: readonly Field[];
  readonly answers: (inputs: Columns, numbers: Float64Array) => Answers;
  readonly format: (fields: readonly Field[], columns: Columns, count: number) => Uint8Array;
}

/** The job in batches, where its function has them; stages are a matter of single cases. */
function batchJob(job: StreamJob): BatchJob | undefined {
  const { function: f, policy } = job;
  const fields = f.outputs(policy);
  if (f.batch === undefined || job.stages || !fitColumns([...f.inputs, ...fields])) return undefined;
  const batch = f.batch(policy);
  return {
    inputs: f.inputs,
    answers: (inputs, numbers) => {
      const count = numbers.length;
      const outputs = columnsFor(fields, count);
      try {
        batch(inputs, outputs, count);
        return { outputs, count };
      } catch (error) {
        if (!(error instanceof Fp4Error)) throw error;
        return oneByOne(job, fields, inputs, numbers);
      }
    },
    format: (written, columns, count) =>
      job.encoding === 'raw'
        ? formatRaw(written, columns, count, recordLength(written))
        : formatText(written, columns, count),
  };
}

/** A batch of which some case is refused, up to that case. */
function oneByOne(job: StreamJob, fields: readonly Field[], inputs: Columns, numbers: Float64Array): Answers {
  const outputs = columnsFor(fields, numbers.length);
  for (const [j, number] of numbers.entries()) {
    try {
      const answered = answerTo(job, number, caseOf(job.function.inputs, inputs, j), false);
      for (const [k, field] of fields.entries()) outputs[k]!.set(answered.outputs[k]!, j * field.count);
    } catch (error) {
      if (!(error instanceof Fp4Error)) throw error;
      return { outputs, count: j, error };
    }
  }
  return { outputs, count: numbers.length };
}

const batchesOf = (
  job: StreamJob,
  input: Readable,
  fields: readonly Field[],
  stages: readonly Field[],
): AsyncGenerator<CaseBatch> =>
  job.encoding === 'raw' ? rawBatches(input, fields) : textBatches(input, fields, stages);

/** The cases of a batch in which some bit differs. */
function differing(fields: readonly Field[], a: Columns, b: Columns, count: number): Set<number> {
  const cases: number[] = [];
  for (const [k, field] of fields.entries()) {
    const [left, right] = [a[k]!, b[k]!];
    const end = count * field.count;
    for (let i = 0; i < end; i++) if (left[i] !== right[i]) cases.push(Math.floor(i / field.count));
  }
  return new Set(fields.length > 1 ? cases.sort((x, y) => x - y) : cases);
}

/**
 * STR-06. Answers every case of the input; on a malformed one, those before it are answered first.
 * @throws Fp4Error for a malformed line or record
 */
export async function evaluate(job: StreamJob, input: Readable, out: Writable): Promise<void> {
  const output = new Output(out);
  const fields = job.function.outputs(job.policy);
  const batches = batchJob(job);
  try {
    if (batches) {
      for await (const given of batchesOf(job, input, batches.inputs, [])) {
        const { outputs, count, error } = batches.answers(given.columns, given.numbers);
        output.bytes(batches.format(fields, outputs, count));
        if (error) throw error;
        if (output.full) await output.flush();
      }
      return;
    }
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
  const batches = batchJob(job);
  try {
    if (batches) {
      for (const { columns, count } of generateColumns(job.function, generation, batchCases(fields))) {
        const numbers = Float64Array.from({ length: count }, () => ++number);
        const answered = inputsOnly ? { outputs: [], count } : batches.answers(columns, numbers);
        output.bytes(batches.format(fields, [...columns, ...answered.outputs], answered.count));
        if (answered.error) throw answered.error;
        if (output.full) await output.flush();
      }
      return;
    }
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
  const fields = [...inputFields, ...outputFields];
  let lines = 0;
  let differences = 0;
  const judge = (given: Case): void | Promise<void> => {
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
    return difference && told(given.number, difference);
  };
  const told = (line: number, { field, index, expected, found }: Difference): void | Promise<void> => {
    differences++;
    return tell({
      line,
      field: `${field.name}[${index}]`,
      expected: formatElement(field, expected),
      found: formatElement(field, found),
    });
  };
  const batches = batchJob(job);
  if (batches === undefined) {
    for await (const given of cases(input, fields, stageFields, job)) {
      const waiting = judge(given);
      if (waiting) await waiting;
    }
    return { lines, differences };
  }
  for await (const given of batchesOf(job, input, fields, stageFields)) {
    const { columns, numbers, stages } = given;
    if (stages) {
      await judge({ number: numbers[0]!, values: columns, stages });
      continue;
    }
    const { outputs, count, error } = batches.answers(columns.slice(0, inputFields.length), numbers);
    const found = columns.slice(inputFields.length);
    lines += count;
    for (const j of differing(outputFields, outputs, found, count)) {
      const [expected, actual] = [caseOf(outputFields, outputs, j), caseOf(outputFields, found, j)];
      const difference = firstDifference(outputFields, expected, actual, job.policy);
      const waiting = difference && told(numbers[j]!, difference);
      if (waiting) await waiting;
    }
    if (error) throw error;
  }
  return { lines, differences };
}
