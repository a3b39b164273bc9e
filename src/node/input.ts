/**
 * Reading a stream of cases with memory that does not grow: lines of text, or raw records of fixed length.
 * Clauses: spec/stream.md STR-03, STR-04.
 * @module
 */
import type { Readable } from 'node:stream';
import { Fp4Error } from '../error.ts';
import { caseText } from '../functions/text.ts';

/** A line longer than any function's, so that a file without line ends cannot fill the memory. */
const LONGEST_LINE = 1 << 24;

export interface Line {
  /** From 1; skipped lines are counted. */
  readonly number: number;
  readonly text: string;
}

const NEWLINE = 0x0a;

/**
 * Whole lines of a stream as bytes, many at a time; a last one without an end gets one.
 * @throws Fp4Error E_WORD_COUNT for an endless line
 */
export async function* lineBytes(stream: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let length = 0;
  let lines = 0;
  for await (const chunk of stream) {
    const bytes = chunk as Buffer;
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      const whole =
        rest.length > 0 ? Buffer.concat([...rest, bytes.subarray(0, end)]) : bytes.subarray(0, end);
      rest = [];
      length = 0;
      yield whole;
      lines += linesIn(whole);
    }
    if (end < bytes.length) rest.push(bytes.subarray(end));
    length += bytes.length - end;
    if (length > LONGEST_LINE) {
      throw new Fp4Error('E_WORD_COUNT', `line ${lines + 1} is longer than ${LONGEST_LINE} characters`);
    }
  }
  if (length > 0) yield Buffer.concat([...rest, Buffer.of(NEWLINE)]);
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/**
 * STR-03. The lines of a stream that carry a case: comments and empty lines are left out, CRLF is accepted.
 * @throws Fp4Error E_WORD_COUNT for an endless line
 */
export async function* caseLines(stream: Readable): AsyncGenerator<Line[]> {
  let number = 0;
  for await (const bytes of lineBytes(stream)) {
    const lines: Line[] = [];
    for (const raw of bytes.toString('latin1', 0, bytes.length - 1).split('\n')) {
      number++;
      const text = caseText(raw);
      if (text !== undefined) lines.push({ number, text });
    }
    yield lines;
  }
}

/**
 * STR-04. Whole records of a stream, `length` bytes each, many at a time.
 * @throws Fp4Error E_RECORD when the stream ends within a record
 */
export async function* recordBytes(stream: Readable, length: number): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let count = 0;
  for await (const chunk of stream) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk as Buffer]) : (chunk as Buffer);
    const whole = Math.floor(bytes.length / length);
    rest = bytes.subarray(whole * length);
    count += whole;
    if (whole > 0) yield bytes.subarray(0, whole * length);
  }
  if (rest.length > 0) {
    throw new Fp4Error(
      'E_RECORD',
      `record ${count + 1}: the input ends after ${rest.length} of its ${length} bytes`,
    );
  }
}

/** STR-04. The records of a stream, in batches. */
export async function* records(stream: Readable, length: number): AsyncGenerator<Uint8Array[]> {
  for await (const bytes of recordBytes(stream, length)) {
    yield Array.from({ length: bytes.length / length }, (_, j) =>
      bytes.subarray(j * length, (j + 1) * length),
    );
  }
}
