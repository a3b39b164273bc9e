/**
 * Numbers as the hex of their bits, most significant digit first. Clauses: spec/adamw.md ADW-11.
 * @module
 */
import { excerpt, Fp4Error } from '../error.ts';
import { ARITHMETIC, type Dtype } from './float-arithmetic.ts';

const view = new DataView(new ArrayBuffer(8));

/**
 * @param path where the list stands, for messages
 * @throws Fp4Error E_JSON for what is no list, E_WORD_WIDTH, E_WORD_DIGIT
 */
export function parseHexNumbers(list: unknown, dtype: Dtype, path: string): Float64Array {
  if (!Array.isArray(list)) {
    throw new Fp4Error('E_JSON', `${path}: ${shown(list)}; expected a list of hex numbers`);
  }
  return Float64Array.from(list, (text, i) => parseHexNumber(text, dtype, `${path}[${i}]`));
}

function parseHexNumber(text: unknown, dtype: Dtype, path: string): number {
  const { digits } = ARITHMETIC[dtype];
  if (typeof text !== 'string' || text.length !== digits) {
    throw new Fp4Error('E_WORD_WIDTH', `${path}: ${shown(text)}; a ${dtype} number has ${digits} hex digits`);
  }
  if (!/^[0-9a-fA-F]+$/.test(text)) {
    throw new Fp4Error('E_WORD_DIGIT', `${path}: ${shown(text)}; expected hex digits`);
  }
  view.setUint32(0, Number.parseInt(text.slice(0, 8), 16));
  if (digits === 8) return view.getFloat32(0);
  view.setUint32(4, Number.parseInt(text.slice(8), 16));
  return view.getFloat64(0);
}

/** A value of foreign origin, as a message shows it. */
export const shown = (value: unknown): string =>
  value === undefined ? 'it is missing' : `found ${excerpt(JSON.stringify(value))}`;

const padded = (word: number): string => word.toString(16).padStart(8, '0');

/** ADW-11. A NaN is written as the canonical one. */
export function formatHexNumbers(values: Float64Array, dtype: Dtype): string[] {
  return Array.from(values, (x) => {
    if (dtype === 'float32') {
      if (Number.isNaN(x)) return '7fc00000';
      view.setFloat32(0, x);
      return padded(view.getUint32(0));
    }
    if (Number.isNaN(x)) return '7ff8000000000000';
    view.setFloat64(0, x);
    return padded(view.getUint32(0)) + padded(view.getUint32(4));
  });
}
