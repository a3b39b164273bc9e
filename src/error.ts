/**
 * The one error of this project, and the nearest-name hint its messages use.
 * @module
 */

/** Stable codes; a code never changes its meaning. */
export type Fp4ErrorCode =
  | 'E_ARGUMENT' // a library call with an argument of the wrong type
  | 'E_USAGE' // a command, function, option or argument that does not exist or does not fit
  | 'E_PROFILE' // a profile that does not exist
  | 'E_PARAMETER' // a parameter, or a value of it, that does not exist
  | 'E_WORD_COUNT' // a stream line with too few or too many words
  | 'E_WORD_WIDTH' // a word with the wrong number of hex digits
  | 'E_WORD_DIGIT' // a word with a character that is no hex digit
  | 'E_RECORD' // a raw record that is cut short or has bits where none belong
  | 'E_NONFINITE' // a NaN or an infinity under nonfinite=error
  | 'E_LENGTH' // an array whose length does not fit
  | 'E_SHAPE' // a shape, axis or block index that is not possible
  | 'E_DTYPE' // a data type that is not supported there
  | 'E_JSON' // a JSON text that is malformed, or has a member of the wrong kind
  | 'E_FILE' // a file that cannot be read or written
  | 'E_NPY' // not a valid .npy file
  | 'E_SAFETENSORS' // not a valid .safetensors file
  | 'E_TENSOR' // quantized data that contradicts itself
  | 'E_FOLDER'; // a case folder that is incomplete, contradicts itself, or states what the oracle does not

/** Text of foreign origin as it can be shown: control characters as escapes, so that they reach no terminal. */
export const printable = (text: string): string =>
  text.replace(/\p{Cc}|\p{Cs}/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

const LONGEST_EXCERPT = 80;

/** The beginning of a text that may be of any length. */
export const excerpt = (text: string): string =>
  text.length > LONGEST_EXCERPT ? `${text.slice(0, LONGEST_EXCERPT - 3)}...` : text;

/** Bad usage or bad input: what was found, where, and what was expected. Anything else that is thrown is a defect. */
export class Fp4Error extends Error {
  override readonly name = 'Fp4Error';
  readonly code: Fp4ErrorCode;

  constructor(code: Fp4ErrorCode, message: string) {
    super(printable(message));
    this.code = code;
  }
}

/** Edit distance (Levenshtein) of two short names. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** The sentence that tells which names exist, nearest first: `did you mean "ocp"? known: ocp, ggml`. */
export function knownNames(name: string, names: readonly string[]): string {
  if (names.length === 0) return 'there are none here';
  const [nearest] = [...names].sort((a, b) => distance(name, a) - distance(name, b));
  const hint =
    distance(name, nearest!) <= Math.max(2, nearest!.length / 3) ? `did you mean "${nearest}"? ` : '';
  return `${hint}known: ${names.join(', ')}`;
}
