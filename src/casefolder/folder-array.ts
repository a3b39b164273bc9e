/**
 * The arrays of a case folder: what is fed to a device and what is expected of it, element by element, before any
 * encoding as a file. Clauses: spec/folders.md FOL-03, FOL-04, FOL-09.
 * @module
 */
import type { Field } from '../functions/field.ts';
import { decode } from '../number/binary-format.ts';
import { BF16, FP16, FP32 } from '../number/floats.ts';

/** FOL-03. The types of elements; u4x2 is two codes a byte. */
export const DTYPES = ['bf16', 'f16', 'f32', 'u8', 'u16', 'u32', 'u4x2'] as const;
export type Dtype = (typeof DTYPES)[number];

/** Bytes of an element that is not a code. */
export const DTYPE_BYTES: Readonly<Record<Exclude<Dtype, 'u4x2'>, number>> = {
  ...{ bf16: 2, f16: 2, f32: 4 },
  ...{ u8: 1, u16: 2, u32: 4 },
};

export type Role = 'input' | 'stage' | 'expected';

/** FOL-09. Where the elements of a permuted array stand in the linear form; padding is nowhere. */
export interface Places {
  /** For each element its index in the linear form, or `PADDING`. */
  readonly indices: Uint32Array;
  /** Rows, blocks of a row, elements of a block. */
  readonly shape: readonly [rows: number, blocks: number, count: number];
}

/** FOL-09. The place of an element that belongs to no block. */
export const PADDING = 0xffffffff;

export interface FolderArray {
  readonly name: string;
  readonly role: Role;
  readonly dtype: Dtype;
  /** In elements, for u4x2 too. */
  readonly shape: readonly number[];
  /** Elements of one block, which is one case of the function. */
  readonly count: number;
  /** Hex digits of an element. */
  readonly digits: number;
  readonly layout: string;
  /** Which nibble of a byte comes first, in u4x2. */
  readonly nibbles: 'low-first' | 'high-first';
  /** The elements in C order, one a word. */
  readonly words: Uint32Array;
  /** CON-03. The codes that are NaN, where an integer type holds floats of 8 bits with several of them. */
  readonly nans?: readonly number[];
  readonly places?: Places;
}

/** FOL-03. The type that holds the elements of a field. */
export function dtypeOf(field: Field): Dtype {
  if (field.kind === 'codes') return 'u4x2';
  if (field.format === BF16) return 'bf16';
  if (field.format === FP16) return 'f16';
  if (field.format === FP32) return 'f32';
  return field.digits <= 2 ? 'u8' : field.digits <= 4 ? 'u16' : 'u32';
}

/** The NaN codes of a field of small floats, if there are several. */
export function nansOf(field: Field): number[] | undefined {
  const { format } = field;
  if (format === undefined || field.digits > 2) return undefined;
  const codes = Array.from({ length: 16 ** field.digits }, (_, code) => code);
  const nans = codes.filter((code) => decode(format, code).kind === 'nan');
  return nans.length > 1 ? nans : undefined;
}

/** An array of a field in rows of blocks. */
export function fieldArray(field: Field, role: Role, rows: number, words: Uint32Array): FolderArray {
  const nans = nansOf(field);
  return {
    name: field.name,
    role,
    dtype: dtypeOf(field),
    shape: [rows, rows === 0 ? 0 : words.length / rows],
    count: field.count,
    digits: field.digits,
    layout: 'linear',
    nibbles: 'low-first',
    words,
    ...(nans && { nans }),
  };
}
