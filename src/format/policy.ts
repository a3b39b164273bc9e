/**
 * Policies as data: parameter tables, named profiles, and the one function that resolves a name and overrides to a policy.
 * Clauses: spec/conventions.md CON-02.
 * @module
 */
import { Fp4Error, knownNames } from '../error.ts';

/** Every value a parameter can take; the first is the default. */
export type ParameterTable = { readonly [parameter: string]: readonly string[] };

/** One value for each parameter of a table. */
export type Policy<T extends ParameterTable> = { readonly [K in keyof T]: T[K][number] };

/** A known implementation, or a reading of the standard: what it does, and who says so. */
export interface Profile<P> {
  readonly name: string;
  /** Where the rules were seen. */
  readonly source: string;
  readonly policy: P;
}

/** The policy made of every parameter's default. */
export function defaultPolicy<T extends ParameterTable>(table: T): Policy<T> {
  return Object.fromEntries(Object.entries(table).map(([name, values]) => [name, values[0]])) as Policy<T>;
}

/**
 * CON-02. The policy of a profile with single parameters overridden.
 * @param profile a profile's name; undefined means the first
 * @throws Fp4Error E_PROFILE, E_PARAMETER for a name or value that does not exist
 */
export function resolvePolicy<T extends ParameterTable>(
  table: T,
  profiles: readonly Profile<Policy<T>>[],
  profile?: string,
  overrides: Readonly<Record<string, string>> = {},
): Policy<T> {
  const chosen = profile === undefined ? profiles[0] : profiles.find((p) => p.name === profile);
  if (profile !== undefined && chosen === undefined) {
    const names = profiles.map((p) => p.name);
    throw new Fp4Error('E_PROFILE', `unknown profile "${profile}"; ${knownNames(profile, names)}`);
  }
  for (const [name, value] of Object.entries(overrides)) {
    const values = Object.hasOwn(table, name) ? table[name]! : undefined;
    if (values === undefined) {
      throw new Fp4Error(
        'E_PARAMETER',
        `unknown parameter "${name}"; ${knownNames(name, Object.keys(table))}`,
      );
    }
    if (!values.includes(value)) {
      throw new Fp4Error(
        'E_PARAMETER',
        `${name}="${value}" does not exist; ${knownNames(String(value), values)}`,
      );
    }
  }
  return { ...(chosen?.policy ?? defaultPolicy(table)), ...overrides } as Policy<T>;
}
