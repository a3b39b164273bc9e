/**
 * The cases of a stream in batches of columns, with memory that does not grow. Lines as programs write them are read straight
 * from the bytes; any other is read by line.ts, which knows what is wrong with it.
 * Clauses: spec/stream.md STR-03, STR-04.
 * @module
 */
import type { Readable } from 'node:stream';
import {
  type Columns,
  columnsFor,
  firstCases,
  lineLength,
  parseRaw,
  parseText,
} from '../functions/columns.ts';
import type { Field, Words } from '../functions/field.ts';
import { parseLine } from '../functions/line.ts';
import { parseRecord, recordLength } from '../functions/record.ts';
import { caseText } from '../functions/text.ts';
import { lineBytes, recordBytes } from './input.ts';

/** Elements of a batch: a few hundred blocks, more than a chunk of a pipe has. */
const BATCH_ELEMENTS = 2 ** 16;

/** How many cases of these fields make a batch. */
export const batchCases = (fields: readonly Field[]): number =>
  Math.max(1, Math.floor(BATCH_ELEMENTS / fields.reduce((sum, { count }) => sum + count, 0)));

/** Valid until the next one is asked for. */
export interface CaseBatch {
  readonly columns: Columns;
  readonly count: number;
  /** The line or record of each case, from 1; skipped lines are counted. */
  readonly numbers: Float64Array;
  /** What follows the fields on the line; such a case is alone in its batch. */
  readonly stages?: ReadonlyMap<string, Words>;
}

/** Cases on their way into a batch. */
class Collected {
  readonly #fields: readonly Field[];
  readonly #room: Columns;
  readonly #numbers: Float64Array;
  readonly #capacity: number;
  count = 0;

  constructor(fields: readonly Field[]) {
    this.#fields = fields;
    this.#capacity = batchCases(fields);
    this.#room = columnsFor(fields, this.#capacity);
    this.#numbers = new Float64Array(this.#capacity);
  }

  get full(): boolean {
    return this.count === this.#capacity;
  }

  /** Where the next case goes; it counts once `add` is called. */
  get room(): Columns {
    return this.#room;
  }

  add(number: number): void {
    this.#numbers[this.count++] = number;
  }

  put(values: readonly Words[], number: number): void {
    for (const [k, { count }] of this.#fields.entries()) this.#room[k]!.set(values[k]!, this.count * count);
    this.add(number);
  }

  take(): CaseBatch {
    const { count } = this;
    this.count = 0;
    return {
      columns: firstCases(this.#fields, this.#room, count),
      count,
      numbers: this.#numbers.subarray(0, count),
    };
  }
}

const CARRIAGE_RETURN = 0x0d;
const NEWLINE = 0x0a;

/**
 * STR-03. The cases of lines. On a malformed one those before it come first.
 * @throws Fp4Error for a malformed line
 */
export async function* textBatches(
  stream: Readable,
  fields: readonly Field[],
  stages: readonly Field[],
): AsyncGenerator<CaseBatch> {
  const cases = new Collected(fields);
  const length = lineLength(fields);
  let number = 0;
  for await (const bytes of lineBytes(stream)) {
    for (let at = 0; at < bytes.length; ) {
      number++;
      let end = at + length;
      if (bytes[end] === CARRIAGE_RETURN) end++;
      if (bytes[end] === NEWLINE && parseText(bytes, at, fields, cases.room, cases.count)) {
        cases.add(number);
        at = end + 1;
      } else {
        end = bytes.indexOf(NEWLINE, at);
        const text = caseText(bytes.toString('latin1', at, end));
        at = end + 1;
        if (text === undefined) continue;
        let parsed: ReturnType<typeof parseLine>;
        try {
          parsed = parseLine(text, fields, stages, `line ${number}`);
        } catch (error) {
          if (cases.count > 0) yield cases.take();
          throw error;
        }
        if (parsed.stages.size > 0) {
          if (cases.count > 0) yield cases.take();
          cases.put(parsed.values, number);
          yield { ...cases.take(), stages: parsed.stages };
          continue;
        }
        cases.put(parsed.values, number);
      }
      if (cases.full) yield cases.take();
    }
    if (cases.count > 0) yield cases.take();
  }
}

/**
 * STR-04. The cases of records without stages. On a malformed one those before it come first.
 * @throws Fp4Error for a malformed record
 */
export async function* rawBatches(stream: Readable, fields: readonly Field[]): AsyncGenerator<CaseBatch> {
  const cases = new Collected(fields);
  const length = recordLength(fields);
  let number = 0;
  for await (const bytes of recordBytes(stream, length)) {
    for (let at = 0; at < bytes.length; at += length) {
      number++;
      if (!parseRaw(bytes, at, fields, cases.room, cases.count)) {
        if (cases.count > 0) yield cases.take();
        parseRecord(bytes.subarray(at, at + length), fields, `record ${number}`); // tells what is wrong
        throw new RangeError(`record ${number} is read in two ways`);
      }
      cases.add(number);
      if (cases.full) yield cases.take();
    }
    if (cases.count > 0) yield cases.take();
  }
}
