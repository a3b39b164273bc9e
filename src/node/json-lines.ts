/**
 * A file of JSON texts, a line each, read with memory for one line; or of one. Clauses: spec/adamw.md ADW-12, spec/grpo.md GRP-18.
 * @module
 */
import { Fp4Error } from '../error.ts';
import { JsonError, type JsonValue, scanJson } from '../files/json-scan.ts';
import { InputFile } from './input-file.ts';

const PIECE = 1 << 20;
/** The longest string V8 takes is not far above; and a file without line ends must not fill the memory. */
const LONGEST_LINE = 1 << 28;
const LINE_FEED = 0x0a;

export interface JsonLine {
  /** `FILE: line 3`, for messages. Empty lines are counted. */
  readonly place: string;
  readonly value: unknown;
}

/** As JSON.parse has it, for the code that knows no bigints. */
function plain(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]));
  return value;
}

function parse(bytes: Uint8Array, place: string): JsonLine | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Fp4Error('E_JSON', `${place}: it is not UTF-8`);
  }
  if (/^[ \t\r\n]*$/.test(text)) return undefined;
  try {
    return { place, value: plain(scanJson(text)) };
  } catch (error) {
    if (error instanceof JsonError) throw new Fp4Error('E_JSON', `${place}: ${error.message}`);
    throw error;
  }
}

/**
 * ADW-12. Every line that is not empty.
 * @throws Fp4Error E_FILE, E_JSON
 */
export function* jsonLines(path: string): Generator<JsonLine> {
  const file = InputFile.open(path);
  try {
    let number = 0;
    let pieces: Uint8Array[] = []; // of a line whose end has not been read yet
    let length = 0;
    const take = (bytes: Uint8Array): void => {
      pieces.push(bytes);
      length += bytes.length;
      if (length > LONGEST_LINE)
        throw new Fp4Error('E_JSON', `${path}: line ${number + 1} is longer than ${LONGEST_LINE} bytes`);
    };
    const finish = (): JsonLine | undefined => {
      number++;
      const line = Buffer.concat(pieces);
      pieces = [];
      length = 0;
      return parse(line, `${path}: line ${number}`);
    };
    for (let offset = 0; offset < file.size; offset += PIECE) {
      const bytes = file.read(offset, PIECE, 'short');
      let start = 0;
      for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
        take(bytes.subarray(start, end));
        start = end + 1;
        const line = finish();
        if (line) yield line;
      }
      take(bytes.subarray(start));
    }
    const last = finish();
    if (last) yield last;
  } finally {
    file.close();
  }
}

/**
 * GRP-18. The one JSON text of a file.
 * @throws Fp4Error E_FILE, E_JSON
 */
export function jsonFile(path: string): JsonLine {
  const file = InputFile.open(path);
  try {
    if (file.size > LONGEST_LINE)
      throw new Fp4Error('E_JSON', `${path}: it is longer than ${LONGEST_LINE} bytes`);
    const text = parse(file.read(0, file.size), path);
    if (text === undefined) throw new Fp4Error('E_JSON', `${path}: it is empty`);
    return text;
  } finally {
    file.close();
  }
}
