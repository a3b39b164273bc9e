/** Policies of a function, for tests that go through all of them. */
import type { ParameterTable, Policy } from '../../src/format/policy.ts';
import type { AnyPolicy, OracleFunction } from '../../src/functions/oracle-function.ts';

/** Every combination of the values of a function's parameters. */
export function policies(f: OracleFunction): AnyPolicy[] {
  return Object.entries(f.parameters).reduce<AnyPolicy[]>(
    (sets, [name, values]) => sets.flatMap((set) => values.map((value) => ({ ...set, [name]: value }))),
    [{}],
  );
}

/** Every two values of different parameters together in some policy: a few dozen policies, chosen greedily. */
export function pairwise<T extends ParameterTable>(table: T): Policy<T>[] {
  const names = Object.keys(table);
  const open = new Set<string>();
  const pair = (a: string, x: string, b: string, y: string): string => `${a}=${x} ${b}=${y}`;
  for (const [i, a] of names.entries()) {
    for (const b of names.slice(i + 1)) {
      for (const x of table[a]!) for (const y of table[b]!) open.add(pair(a, x, b, y));
    }
  }
  const found: Policy<T>[] = [];
  while (open.size > 0) {
    const [first, second] = [...open][0]!.split(' ').map((text) => text.split('=') as [string, string]);
    const policy: Record<string, string> = Object.fromEntries([first!, second!]);
    const covered = (name: string, value: string): number =>
      names.filter((other) => {
        if (policy[other] === undefined) return false;
        return (
          open.has(pair(name, value, other, policy[other])) ||
          open.has(pair(other, policy[other], name, value))
        );
      }).length;
    for (const name of names.filter((n) => policy[n] === undefined)) {
      const values = [...table[name]!];
      policy[name] = values.reduce((best, value) =>
        covered(name, value) > covered(name, best) ? value : best,
      );
    }
    for (const [i, a] of names.entries()) {
      for (const b of names.slice(i + 1)) open.delete(pair(a, policy[a]!, b, policy[b]!));
    }
    found.push(policy as Policy<T>);
  }
  return found;
}
