/**
 * The text form of a case: fixed-width hex words separated by one space, code strings unseparated; stages by name.
 * Clauses: spec/stream.md STR-01, STR-03, STR-05.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';
import type { Field, Words } from './field.ts';

const HEX = '0123456789abcdef';
const BYTES = Array.from({ length: 256 }, (_, b) => HEX[b >> 4]! + HEX[b & 15]!);

/** One element as lower-case hex digits, most significant first. */
function hex(value: number, digits: number): string {
  switch (digits) {
    case 1:
      return HEX[value]!;
    case 2:
      return BYTES[value]!;
    case 4:
      return BYTES[value >>> 8]! + BYTES[value & 255]!;
    case 8:
      return (
        BYTES[value >>> 24]! +
        BYTES[(value >>> 16) & 255]! +
        BYTES[(value >>> 8) & 255]! +
        BYTES[value & 255]!
      );
    default:
      return value.toString(16).padStart(digits, '0');
  }
}

/** The hex digits of one element of a field. */
export const formatElement = (field: Field, value: number): string => hex(value, field.digits);

function join(field: Field, words: Words, separator: string): string {
  let text = hex(words[0]!, field.digits);
  for (let j = 1; j < field.count; j++) text += separator + hex(words[j]!, field.digits);
  return text;
}

/** STR-01. Fields as they stand on a line, without its end. */
export const formatFields = (fields: readonly Field[], values: readonly Words[]): string =>
  fields.map((field, k) => join(field, values[k]!, field.kind === 'codes' ? '' : ' ')).join(' ');

/** STR-05. Stages as `name=word,word,...`, codes unseparated. */
export const formatStages = (fields: readonly Field[], values: readonly Words[]): string =>
  fields
    .map((field, k) => `${field.name}=${join(field, values[k]!, field.kind === 'codes' ? '' : ',')}`)
    .join(' ');

/** The value of a hex digit's character code; -1 for anything else. */
const DIGIT = (() => {
  const table = new Int8Array(128).fill(-1);
  for (let d = 0; d < 16; d++) {
    table[HEX.charCodeAt(d)] = d;
    table[HEX[d]!.toUpperCase().charCodeAt(0)] = d;
  }
  return table;
})();

/** The value of `digits` hex digits at a position, or -1 where they are not all there. */
function readHex(line: string, at: number, digits: number): number {
  let value = 0;
  for (let j = at; j < at + digits; j++) {
    const character = line.charCodeAt(j);
    const digit = character < 128 ? DIGIT[character]! : -1;
    if (digit < 0 || Number.isNaN(character)) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/** What follows the fields of a line: the stages it gives, by name. */
export interface ParsedLine {
  readonly values: Words[];
  readonly stages: ReadonlyMap<string, Words>;
}

const NO_STAGES: ReadonlyMap<string, Words> = new Map();

/**
 * STR-03. The fields of a line, and any of the stages that may follow them.
 * @param line without its end
 * @param at how messages name the line, such as `line 3`
 * @throws Fp4Error E_WORD_COUNT, E_WORD_WIDTH, E_WORD_DIGIT
 */
export function parseLine(
  line: string,
  fields: readonly Field[],
  stages: readonly Field[],
  at: string,
): ParsedLine {
  let position = 0;
  const values: Words[] = [];
  for (const field of fields) {
    const step = field.digits + (field.kind === 'codes' ? 0 : 1);
    const words = new Uint32Array(field.count);
    for (let j = 0; j < field.count; j++) {
      const value = readHex(line, position + j * step, field.digits);
      const previous = j > 0 && step > field.digits && line[position + j * step - 1] !== ' ';
      if (value < 0 || previous) throw malformed(line, fields, at);
      words[j] = value;
    }
    position += (field.count - 1) * step + field.digits;
    if (position < line.length && line[position] !== ' ') throw malformed(line, fields, at);
    position += 1;
    values.push(words);
  }
  if (position > line.length) return { values, stages: NO_STAGES };
  return { values, stages: parseStages(line.slice(position), fields, stages, at) };
}

function parseStages(
  text: string,
  fields: readonly Field[],
  stages: readonly Field[],
  at: string,
): Map<string, Words> {
  const found = new Map<string, Words>();
  for (const token of text.split(' ')) {
    const equals = token.indexOf('=');
    if (equals < 0) throw tooMany(text.split(' '), fields, at);
    const name = token.slice(0, equals);
    const field = stages.find((f) => f.name === name);
    if (field === undefined) {
      throw new Fp4Error(
        'E_WORD_COUNT',
        `${at}: no stage "${name}"; ${knownNames(
          name,
          stages.map((f) => f.name),
        )}`,
      );
    }
    if (found.has(name)) throw new Fp4Error('E_WORD_COUNT', `${at}: stage ${name} twice`);
    const separated =
      field.kind === 'codes' ? token.slice(equals + 1) : token.slice(equals + 1).replaceAll(',', ' ');
    found.set(name, parseLine(separated, [field], [], `${at}, stage ${name}`).values[0]!);
  }
  return found;
}

const expectation = (fields: readonly Field[]): string =>
  fields
    .map((f) => {
      if (f.kind === 'codes') return `${f.name} (one word of ${f.count} digits)`;
      return `${f.name} (${f.count} word${f.count > 1 ? 's' : ''} of ${f.digits} digit${f.digits > 1 ? 's' : ''})`;
    })
    .join(', then ');

function tooMany(extra: readonly string[], fields: readonly Field[], at: string): Fp4Error {
  const words = fields.reduce((sum, f) => sum + (f.kind === 'codes' ? 1 : f.count), 0);
  const what = extra[0] === '' ? 'a space too many' : `a word too many, "${shortened(extra[0]!)}"`;
  return new Fp4Error('E_WORD_COUNT', `${at}, word ${words + 1}: ${what}; expected ${expectation(fields)}`);
}

const shortened = (word: string): string => (word.length > 80 ? `${word.slice(0, 77)}...` : word);

/** Why a line is malformed: the slow way, since it happens once. */
function malformed(line: string, fields: readonly Field[], at: string): Fp4Error {
  const words = line.split(' ');
  let index = 0;
  for (const field of fields) {
    const length = field.kind === 'codes' ? field.count : field.digits;
    for (let j = 0; j < (field.kind === 'codes' ? 1 : field.count); j++, index++) {
      const found = words[index];
      const place = `${at}, word ${index + 1}`;
      if (found === undefined) {
        const count = `${words.length} word${words.length > 1 ? 's' : ''}`;
        return new Fp4Error('E_WORD_COUNT', `${at}: ${count}; expected ${expectation(fields)}`);
      }
      const wrong = [...found].find((c) => readHex(c, 0, 1) < 0);
      if (wrong !== undefined) {
        const shown = JSON.stringify(wrong);
        return new Fp4Error(
          'E_WORD_DIGIT',
          `${place}: "${shortened(found)}" has ${shown}, which is no hex digit`,
        );
      }
      if (found.length !== length) {
        const digits = `${found.length} hex digit${found.length === 1 ? '' : 's'}`;
        const kind =
          field.format && field.kind === 'word'
            ? `${/^[EF]/.test(field.format.name) ? 'an' : 'a'} ${field.format.name} word`
            : field.name;
        return new Fp4Error(
          'E_WORD_WIDTH',
          `${place}: "${shortened(found)}" has ${digits}; ${kind} has ${length}`,
        );
      }
    }
  }
  return tooMany(words.slice(index), fields, at);
}
