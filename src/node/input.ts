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

/**
 * STR-03. The lines of a stream that carry a case: comments and empty lines are left out, CRLF is accepted.
 * @throws Fp4Error E_WORD_COUNT for an endless line
 */
export async function* caseLines(stream: Readable): AsyncGenerator<Line[]> {
  let rest = '';
  let number = 0;
  const batch = (text: string): Line[] => {
    const lines: Line[] = [];
    for (const raw of text.split('\n')) {
      number++;
      const text = caseText(raw);
      if (text !== undefined) lines.push({ number, text });
    }
    return lines;
  };
  for await (const chunk of stream) {
    const text = rest + (chunk as Buffer).toString('latin1');
    const end = text.lastIndexOf('\n');
    rest = text.slice(end + 1);
    if (rest.length > LONGEST_LINE) {
      throw new Fp4Error('E_WORD_COUNT', `line ${number + 1} is longer than ${LONGEST_LINE} characters`);
    }
    if (end >= 0) yield batch(text.slice(0, end));
  }
  if (rest !== '') yield batch(rest);
}

/**
 * STR-04. The records of a stream, `length` bytes each, in batches.
 * @throws Fp4Error E_RECORD when the stream ends within a record
 */
export async function* records(stream: Readable, length: number): AsyncGenerator<Uint8Array[]> {
  let rest: Buffer = Buffer.alloc(0);
  let count = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    const whole = Math.floor(bytes.length / length);
    rest = bytes.subarray(whole * length);
    count += whole;
    yield Array.from({ length: whole }, (_, j) => bytes.subarray(j * length, (j + 1) * length));
  }
  if (rest.length > 0) {
    throw new Fp4Error(
      'E_RECORD',
      `record ${count + 1}: the input ends after ${rest.length} of its ${length} bytes`,
    );
  }
}
