/** Policies of a function, for tests that go through all of them. */
import type { AnyPolicy, OracleFunction } from '../../src/functions/oracle-function.ts';

/** Every combination of the values of a function's parameters. */
export function policies(f: OracleFunction): AnyPolicy[] {
  return Object.entries(f.parameters).reduce<AnyPolicy[]>(
    (sets, [name, values]) => sets.flatMap((set) => values.map((value) => ({ ...set, [name]: value }))),
    [{}],
  );
}
