/**
 * 2:4 pruning in the stream: prune_2_4_hif4, prune_2_4_mxfp4. Clauses: spec/sparsity.md SPA-15.
 * @module
 */
import { UNIT } from '../format/hif4.ts';
import { BLOCK } from '../format/mxfp4.ts';
import { keptOfFour, nibbleOf, prunePackedCodes } from '../sparsity/codes.ts';
import { TIE_RULES } from '../sparsity/ties.ts';
import { codes, type Field, word } from './field.ts';
import type { AnyPolicy, OracleFunction } from './oracle-function.ts';
import { pack, unpack } from './packing.ts';
import { pruneBoundary } from './prune-boundary.ts';

const parameters = { ties: TIE_RULES } as const;

type Ties = (typeof TIE_RULES)[number];
const tiesOf = (policy: AnyPolicy): Ties => policy['ties'] as Ties;

const pruner = (name: string, what: string, scale: Field, count: number): OracleFunction => ({
  name,
  summary: `the codes of ${what} pruned to 2:4, and a metadata nibble a group`,
  clauses: ['SPA-01', 'SPA-02', 'SPA-03', 'SPA-05', 'SPA-08', 'SPA-09', 'SPA-15'],
  parameters,
  profiles: [],
  inputs: [scale, codes('codes', count)],
  outputs: () => [codes('pruned', count), codes('metadata', count / 4)],
  stages: () => [],
  define: ([, x], policy) => {
    const all = Array.from(x!);
    const kept = Array.from({ length: count / 4 }, (_, g) =>
      keptOfFour(all.slice(4 * g, 4 * g + 4), tiesOf(policy)),
    );
    const pruned = all.map((code, i) => (kept[i >> 2]!.includes(i & 3) ? code : 0));
    return { outputs: [pruned, kept.map(nibbleOf)], stages: [] };
  },
  fast: ([, x], policy) => {
    const pruned = prunePackedCodes(pack(x!), tiesOf(policy));
    return [unpack(pruned.codes), pruned.nibbles];
  },
  boundary: (level) => pruneBoundary(level, scale.digits, count),
});

export const pruneFunctions: readonly OracleFunction[] = [
  pruner('prune_2_4_hif4', 'a HiF4 unit', word('scale', 8), UNIT),
  pruner('prune_2_4_mxfp4', 'an MXFP4 block', word('scale', 2), BLOCK),
];
