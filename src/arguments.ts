/**
 * What the library's calls accept, checked: JavaScript would take anything, and an oracle must not.
 * @module
 */
import { Fp4Error, knownNames } from './error.ts';

const kindOf = (value: unknown): string =>
  value === null || typeof value !== 'object'
    ? String(value)
    : Object.prototype.toString.call(value).slice(8, -1);

/** The typed arrays that are asked for by name; one of another realm, as of a frame, is as good. */
interface TypedArrays {
  Float32Array: Float32Array;
  Uint32Array: Uint32Array;
  Uint8Array: Uint8Array;
}

/**
 * @param what how the message names the argument
 * @throws Fp4Error E_ARGUMENT
 */
export function expectArray<K extends keyof TypedArrays>(
  value: unknown,
  type: K,
  what: string,
): TypedArrays[K] {
  // A Buffer is a Uint8Array, which its tag says.
  if (ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === `[object ${type}]`) {
    return value as unknown as TypedArrays[K];
  }
  throw new Fp4Error('E_ARGUMENT', `${what} is ${kindOf(value)}; expected a ${type}`);
}

/**
 * An object of options that has none but known names.
 * @throws Fp4Error E_ARGUMENT
 */
export function expectOptions(
  value: unknown,
  known: readonly string[],
  what: string,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fp4Error(
      'E_ARGUMENT',
      `${what} is ${kindOf(value)}; expected an object with ${known.join(', ')}`,
    );
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) {
      throw new Fp4Error('E_ARGUMENT', `${what} has "${name}"; ${knownNames(name, known)}`);
    }
  }
  return value as Record<string, unknown>;
}

/** @throws Fp4Error E_ARGUMENT for a name that is given and no string */
export function expectName(value: unknown, what: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new Fp4Error('E_ARGUMENT', `${what} is ${kindOf(value)}; expected a string`);
}
