/**
 * Strict JSON with nothing lost: a name that occurs twice is an error, where JSON.parse keeps the last one silently,
 * and an integer stays exact. RFC 8259. Clauses: spec/tensors.md TEN-03.
 * @module
 */

/** Integers (no fraction, no exponent) are bigints, other numbers are numbers. */
export type JsonValue = null | boolean | bigint | number | string | JsonValue[] | Map<string, JsonValue>;

/** Deeper than any header; a bound, so that hostile text cannot exhaust the stack. */
const DEEPEST = 16;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SPACE = /[ \t\r\n]*/y;
const LITERALS = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** What is wrong with a text, and at which character. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

class Scanner {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonValue {
    const value = this.#value(0);
    this.#match(SPACE);
    if (this.#at < this.#text.length) throw this.#unexpected('the end');
    return value;
  }

  #value(depth: number): JsonValue {
    if (depth > DEEPEST) throw new JsonError(`nested more than ${DEEPEST} deep`);
    this.#match(SPACE);
    const first = this.#text[this.#at];
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    if (first === '"') return this.#string();
    for (const [word, value] of LITERALS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    const digits = this.#match(NUMBER);
    if (digits === undefined) throw this.#unexpected('a value');
    // Converting an integer of a million digits takes a second; none that long means anything here.
    return /^-?[0-9]{1,40}$/.test(digits) && digits !== '-0' ? BigInt(digits) : Number(digits);
  }

  #object(depth: number): Map<string, JsonValue> {
    const members = new Map<string, JsonValue>();
    this.#at++;
    if (this.#accept('}')) return members;
    do {
      this.#match(SPACE);
      const name = this.#string();
      if (members.has(name)) throw new JsonError(`${JSON.stringify(name)} occurs twice`);
      if (!this.#accept(':')) throw this.#unexpected('":"');
      members.set(name, this.#value(depth + 1));
    } while (this.#accept(','));
    if (!this.#accept('}')) throw this.#unexpected('"," or "}"');
    return members;
  }

  #array(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.#at++;
    if (this.#accept(']')) return items;
    do items.push(this.#value(depth + 1));
    while (this.#accept(','));
    if (!this.#accept(']')) throw this.#unexpected('"," or "]"');
    return items;
  }

  /** The end is looked for by hand, since a pattern's own stack does not hold a string of megabytes. */
  #string(): string {
    const start = this.#at;
    if (this.#text[start] !== '"') throw this.#unexpected('a string');
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    this.#at = end + 1;
    const value = parseString(this.#text.slice(start, end + 1));
    if (value === undefined) throw new JsonError(`character ${start}: not a valid string`);
    return value;
  }

  #accept(character: string): boolean {
    this.#match(SPACE);
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #unexpected(expected: string): JsonError {
    const found = this.#text.slice(this.#at, this.#at + 12);
    const what = found === '' ? 'the end' : JSON.stringify(found);
    return new JsonError(`character ${this.#at}: found ${what}, expected ${expected}`);
  }
}

/** The value of a quoted string; undefined where it is none, or holds half of a surrogate pair, which no UTF-8 can. */
function parseString(quoted: string): string | undefined {
  try {
    const value: string = JSON.parse(quoted);
    return /\p{Surrogate}/u.test(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * The value of a JSON text.
 * @throws JsonError
 */
export const scanJson = (text: string): JsonValue => new Scanner(text).document();

/** An array of integers from 0 to 2^53 - 1, or undefined where the value is anything else. */
export function sizes(value: JsonValue | undefined): number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const fits = (item: JsonValue): boolean =>
    typeof item === 'bigint' && item >= 0n && item <= BigInt(Number.MAX_SAFE_INTEGER);
  return value.every(fits) ? value.map(Number) : undefined;
}
