/**
 * Vectors of the input families: words of every family in both types, and known answers of the generator.
 * Clauses: spec/random.md RND-01 to RND-10.
 * @module
 */
import { FAMILIES, type Family, fillFamily } from '../random/families.ts';
import { philox } from '../random/philox.ts';
import type { PackContext } from './block-cases.ts';
import { idOf } from './hash.ts';
import { SCHEMA, type VectorFile } from './vector-file.ts';

const CLAUSES: Readonly<Record<Family, string>> = {
  bits: 'RND-04',
  'bits-any': 'RND-04',
  gauss: 'RND-05',
  ladder: 'RND-06',
  ties: 'RND-07',
  'outlier-element': 'RND-08',
  'outlier-channel': 'RND-09',
  'zeros-mixed': 'RND-10',
};

/** Seeds, operands and first elements: both halves of the key, the counter's carry at 2^32, and beyond. */
const DRAWS = [
  { seed: 0n, operand: 0, first: 0 },
  { seed: 1n, operand: 1, first: 48 },
  { seed: 0xfedcba9876543210n, operand: 1, first: 2 ** 32 - 32 },
  { seed: 1n << 63n, operand: 3, first: 2 ** 40 },
] as const;

const COUNT = 64;
/** No divisor of 64, so that channels and groups differ. */
const CHANNELS = 387;
/** Ends of ladder where BF16 and FP32 have subnormals, and where they overflow. */
const RANGES = [
  [-150, -126],
  [120, 130],
] as const;

const hex = (word: number, digits: number): string => word.toString(16).padStart(digits, '0');
const seedHex = (seed: bigint): string => seed.toString(16).padStart(16, '0');

interface Chosen {
  readonly family: Family;
  readonly type: 'bf16' | 'f32' | { readonly bits: number };
  readonly seed: bigint;
  readonly operand: number;
  readonly first: number;
  readonly range?: readonly [number, number];
}

function drawTest(context: PackContext, draw: Chosen) {
  const out = new Uint32Array(COUNT);
  fillFamily({ ...draw, channels: CHANNELS }, draw.first, out);
  const type = typeof draw.type === 'object' ? `u${draw.type.bits}` : draw.type;
  const digits = typeof draw.type === 'object' ? Math.ceil(draw.type.bits / 4) : type === 'bf16' ? 4 : 8;
  const what = {
    family: draw.family,
    number: FAMILIES[draw.family],
    type,
    seed: seedHex(draw.seed),
    operand: draw.operand,
    first: draw.first,
    channels: CHANNELS,
    ...(draw.range === undefined ? {} : { range: draw.range }),
  };
  return {
    id: idOf(context.sha256, JSON.stringify(what)),
    clauses: ['RND-02', 'RND-03', CLAUSES[draw.family]],
    ...what,
    words: Array.from(out, (w) => hex(w, digits)).join(' '),
  };
}

type Six = [number, number, number, number, number, number];

/** Keys and counters of Random123's own known answers, and one of the counters of RND-02. */
const KEYS: readonly Six[] = [
  [0, 0, 0, 0, 0, 0],
  [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
  [0xa4093822, 0x299f31d0, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
  [7, 0, 5, 1, 3, 18],
];

function philoxTest(context: PackContext, given: Six) {
  const out = new Uint32Array(4);
  philox(...given, out);
  const [key, counter] = [given.slice(0, 2), given.slice(2)].map((part) =>
    part.map((w) => hex(w, 8)).join(' '),
  );
  return {
    id: idOf(context.sha256, 'philox4x32-10', key!, counter!),
    clauses: ['RND-01'],
    key,
    counter,
    words: Array.from(out, (w) => hex(w, 8)).join(' '),
  };
}

export function familiesFile(context: PackContext) {
  const names = Object.keys(FAMILIES) as Family[];
  const floats = names.flatMap((family) =>
    (['bf16', 'f32'] as const).flatMap((type) => DRAWS.map((draw) => ({ family, type, ...draw }))),
  );
  const ranged = RANGES.flatMap((range) =>
    (['bf16', 'f32'] as const).map((type): Chosen => ({ family: 'ladder', type, ...DRAWS[0], range })),
  );
  const plain = [4, 8, 32].map((bits): Chosen => ({ family: 'gauss', type: { bits }, ...DRAWS[1] }));
  return {
    schema: SCHEMA,
    kind: 'families' as const,
    generator: context.generator,
    groups: [
      {
        subject: 'philox4x32-10',
        clauses: ['RND-01'],
        tests: KEYS.map((given) => philoxTest(context, given)),
      },
      {
        subject: 'families',
        clauses: ['RND-02', 'RND-03'],
        tests: [...floats, ...ranged, ...plain].map((draw) => drawTest(context, draw)),
      },
    ],
  } satisfies VectorFile & Record<string, unknown>;
}
