/**
 * Every vector file, from nothing but a seed: the same bytes on every machine. Clauses: spec/vectors.md VEC-01, VEC-10.
 * @module
 */
import type { Sha256 } from '../files/sha256.ts';
import { functionByName } from '../functions/registry.ts';
import { scalarFunctions } from '../functions/scalar-functions.ts';
import { VERSION } from '../version.ts';
import { adamwFile } from './adamw-file.ts';
import { ALL, type PackContext } from './block-cases.ts';
import { anyFile, parametersFile, profileFile } from './block-files.ts';
import { elementaryFile } from './elementary-file.ts';
import { familiesFile } from './families-file.ts';
import { foldersFile } from './folders-file.ts';
import { gemmFile } from './gemm-file.ts';
import { grpoFile } from './grpo-file.ts';
import { invalidFile } from './invalid-files.ts';
import { layoutsFile } from './layouts-file.ts';
import { scalarFile } from './scalar-files.ts';
import { schema } from './schema.ts';
import { sparsityFile } from './sparsity-file.ts';
import { streamFile } from './stream-file.ts';
import { tensorsFile } from './tensors-file.ts';
import { SCHEMA, textOf } from './vector-file.ts';

/** A file by name, with its bytes. */
export interface PackedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The seed of every random case. */
const SEED = 1n;

/** The encoders; the type that a format takes by default has more cases, and its default profile all of level 1. */
const ENCODERS = [
  { name: 'hif4_quantize', first: { perFlag: ALL, random: 6 }, rest: { perFlag: 8, random: 3 } },
  { name: 'hif4_quantize_f32', first: { perFlag: 6, random: 2 }, rest: { perFlag: 4, random: 2 } },
  { name: 'mxfp4_quantize_f32', first: { perFlag: ALL, random: 6 }, rest: { perFlag: 6, random: 3 } },
  { name: 'mxfp4_quantize', first: { perFlag: 6, random: 2 }, rest: { perFlag: 3, random: 2 } },
] as const;

/** Functions whose files go through every value of every parameter; for the others only `input` can matter apart. */
const PARAMETERS: Readonly<Record<string, 'all' | readonly string[]>> = {
  hif4_quantize: 'all',
  hif4_quantize_f32: ['input'],
  mxfp4_quantize_f32: 'all',
};

const DECODERS = ['hif4_dequantize', 'mxfp4_dequantize'] as const;
const DECODED = { perFlag: 8, random: 4 } as const;
const PRUNERS = ['prune_2_4_hif4', 'prune_2_4_mxfp4'] as const;

const encoded = (name: string, file: object): PackedFile => ({
  name,
  bytes: new TextEncoder().encode(textOf(file)),
});

function* files(context: PackContext): Generator<PackedFile> {
  for (const f of scalarFunctions) yield encoded(`${f.name}.any.json`, scalarFile(context, f));
  for (const { name, first, rest } of ENCODERS) {
    const f = functionByName(name);
    for (const profile of f.profiles) {
      const amount = profile === f.profiles[0] ? first : rest;
      yield encoded(`${name}.${profile.name}.json`, profileFile(context, f, profile, amount));
    }
    const chosen = PARAMETERS[name];
    if (chosen === undefined) continue;
    const parameters = chosen === 'all' ? Object.keys(f.parameters) : chosen;
    yield encoded(`${name}.parameters.json`, parametersFile(context, f, parameters));
  }
  for (const name of [...DECODERS, ...PRUNERS]) {
    yield encoded(`${name}.any.json`, anyFile(context, functionByName(name), DECODED));
  }
  yield encoded('invalid.json', invalidFile(context));
  yield encoded('stream.json', streamFile(context));
  yield encoded('families.json', familiesFile(context));
  yield encoded('tensors.json', tensorsFile(context));
  yield encoded('layouts.json', layoutsFile(context));
  yield encoded('folders.json', foldersFile(context));
  yield encoded('sparsity.json', sparsityFile(context));
  yield encoded('elementary.json', elementaryFile(context));
  yield encoded('adamw.json', adamwFile(context));
  yield encoded('grpo.json', grpoFile(context));
  yield encoded('gemm.json', gemmFile(context));
  yield { name: 'schema.json', bytes: new TextEncoder().encode(`${JSON.stringify(schema, null, 2)}\n`) };
}

/** Tests, lines of a table or runs, functions: how many records a file has. */
const entriesIn = ({ bytes }: PackedFile): number => {
  const { groups } = JSON.parse(new TextDecoder().decode(bytes)) as { groups?: Record<string, unknown>[] };
  const lists = (groups ?? []).flatMap((group) =>
    ['tests', 'table', 'runs', 'functions'].map((key) => group[key]),
  );
  return lists.reduce((sum: number, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
};

/** The clauses that the folder as a whole fulfils. */
const CLAUSES = Array.from({ length: 10 }, (_, j) => `VEC-${String(j + 1).padStart(2, '0')}`);

/**
 * Every file of vectors/v1, INDEX.json last.
 * @throws Error where definition and fast path differ, or a flag has no case
 */
export function buildPack(sha256: Sha256): PackedFile[] {
  const seed = SEED.toString(16).padStart(16, '0');
  const generator = { name: 'fp4-oracle', version: VERSION, seed };
  const made = [...files({ sha256, generator, seed: SEED })].sort((a, b) => (a.name < b.name ? -1 : 1));
  const index = {
    schema: SCHEMA,
    kind: 'index',
    generator,
    clauses: CLAUSES,
    counts: { files: made.length, bytes: made.reduce((sum, { bytes }) => sum + bytes.length, 0) },
    files: made.map((file) => ({
      name: file.name,
      bytes: file.bytes.length,
      entries: entriesIn(file),
      sha256: sha256(file.bytes),
    })),
  };
  return [...made, encoded('INDEX.json', index)];
}
