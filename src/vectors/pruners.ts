/**
 * 2:4 pruning as the vectors see it, with its flags. Clauses: spec/sparsity.md SPA-15.
 * @module
 */
import type { OracleFunction } from '../functions/oracle-function.ts';
import { ALWAYS, type Flag } from './flag.ts';
import type { Subject } from './subject.ts';

interface PrunerCase {
  readonly scale: number;
  /** Groups of four codes. */
  readonly groups: readonly (readonly number[])[];
}

const magnitudes = (group: readonly number[]): number[] =>
  group.map((code) => code & 7).sort((a, b) => b - a);

const some =
  (test: (group: readonly number[], sorted: readonly number[]) => boolean) =>
  ({ groups }: PrunerCase): boolean =>
    groups.some((group) => test(group, magnitudes(group)));

const flags: readonly Flag<PrunerCase>[] = [
  {
    name: 'TieForLast',
    text: 'Several equal magnitudes, not zero, stand for the second place of a group.',
    clauses: ['SPA-05', 'SPA-08'],
    faults: ['P3'],
    applies: ALWAYS,
    holds: some((_, m) => m[1] === m[2] && m[1] !== 0),
  },
  {
    name: 'LoneValue',
    text: 'A group has one nonzero: its indices differ all the same, and it is held once.',
    clauses: ['SPA-08', 'SPA-09'],
    faults: ['P1'],
    applies: ALWAYS,
    holds: some((_, m) => m[0] !== 0 && m[1] === 0),
  },
  {
    name: 'ZeroGroup',
    text: 'A group is all zeros; two indices are kept all the same.',
    clauses: ['SPA-08', 'SPA-09'],
    faults: ['P3'],
    applies: ALWAYS,
    holds: some((_, m) => m[0] === 0),
  },
  {
    name: 'NegZero',
    text: 'A -0 among the codes: it is zero, stays as it is where it is kept, and becomes 0 where not.',
    clauses: ['SPA-02', 'SPA-08'],
    faults: ['P2'],
    applies: ALWAYS,
    holds: some((group) => group.includes(8)),
  },
  {
    name: 'SignedTie',
    text: 'Equal magnitudes of either sign stand for the second place.',
    clauses: ['SPA-02', 'SPA-05'],
    faults: ['P3'],
    applies: ALWAYS,
    holds: some(
      (group, m) => m[1] === m[2] && m[1] !== 0 && [m[1]!, m[1]! + 8].every((code) => group.includes(code)),
    ),
  },
  {
    name: 'ScaleNaN',
    text: 'The scale is a NaN: the codes are ranked by their magnitudes all the same.',
    clauses: ['SPA-03'],
    faults: [],
    applies: ALWAYS,
    holds: ({ scale }) => (scale & 0xff) === 0xff,
  },
];

export const pruner = (f: OracleFunction): Subject<PrunerCase> => ({
  flags,
  examples: [],
  define: (inputs, policy) => {
    const codes = Array.from(inputs[1]!);
    const groups = Array.from({ length: codes.length / 4 }, (_, g) => codes.slice(4 * g, 4 * g + 4));
    return { outputs: f.define(inputs, policy).outputs, about: { scale: inputs[0]![0]!, groups } };
  },
  refused: () => {
    throw new Error(`${f.name} refuses nothing`);
  },
});
