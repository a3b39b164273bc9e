/**
 * The JSON schema of manifest.json (draft 2020-12), published into every case folder. Clauses: spec/folders.md FOL-16.
 * @module
 */
import { DTYPES } from './folder-array.ts';
import { FLAGS } from './folder-flags.ts';
import { ENCODINGS, NAMINGS } from './folder-job.ts';
import { SCHEMA } from './manifest.ts';

const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
/** A file of the folder itself: no separator, no leading dot. */
const FILE = { type: 'string', pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}$' } as const;
const SIZE = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const SHAPE = { type: 'array', items: SIZE, minItems: 1, maxItems: 8 } as const;
const NAME = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,60}$' } as const;

const orNull = (schema: object) => ({ anyOf: [{ type: 'null' }, schema] });

/** An object that has these members, and no others but the optional ones. */
const exactly = (required: Record<string, object>, optional: Record<string, object> = {}) => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
});

const PLACES = exactly({ file: FILE, shape: { ...SHAPE, minItems: 3, maxItems: 3 }, sha256: SHA256 });

const ENTRY = exactly(
  {
    name: NAME,
    role: { enum: ['input', 'stage', 'expected'] },
    file: FILE,
    dtype: { enum: DTYPES },
    shape: SHAPE,
    count: { ...SIZE, minimum: 1 },
    digits: { type: 'integer', minimum: 1, maximum: 8 },
    byteOrder: { const: 'little' },
    layout: { type: 'string' },
    order: { enum: ['row-major', 'low-first', 'high-first', 'lsb0'] },
    sha256: SHA256,
    compare: { enum: ['bits', 'bound'] },
  },
  {
    actual: FILE,
    high: FILE,
    highSha256: SHA256,
    nans: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 } },
    places: PLACES,
  },
);

const BOUNDARY = exactly({
  level: { enum: [1, 2] },
  rows: SIZE,
  perRow: SIZE,
  notes: { type: 'array', items: { type: 'string' } },
});

const GENERATOR = exactly({
  family: { type: 'string' },
  seed: {
    anyOf: [
      { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: '^[1-9][0-9]{15,19}$' },
    ],
  },
  range: orNull({ type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 }),
  boundary: orNull(BOUNDARY),
});

export const MANIFEST_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'manifest.json of an fp4-oracle case folder',
  ...exactly(
    {
      schema: { const: SCHEMA },
      producer: { type: 'string' },
      function: { type: 'string' },
      format: orNull({ type: 'string' }),
      dtype: orNull({ enum: ['bf16', 'f32'] }),
      profile: orNull({ type: 'string' }),
      parameters: { type: 'object', additionalProperties: { type: 'string' } },
      cases: { ...SIZE, minimum: 1 },
      shape: orNull({ ...SHAPE, minItems: 2, maxItems: 3 }),
      padding: orNull(exactly({ from: SIZE, to: SIZE, word: { type: 'string', pattern: '^0+$' } })),
      layout: { type: 'string' },
      encoding: { enum: ENCODINGS },
      names: { enum: NAMINGS },
      stages: { type: 'boolean' },
      nan: { enum: ['any', 'bits'] },
      generator: orNull(GENERATOR),
      files: { type: 'array', items: ENTRY, minItems: 2 },
      companions: { type: 'array', items: exactly({ file: FILE, sha256: SHA256 }) },
      flags: exactly({
        names: { type: 'array', items: { type: 'string' }, minItems: FLAGS.length },
        digits: { type: 'integer', minimum: 1 },
        cases: { type: 'string', pattern: '^[0-9a-f]*$' },
      }),
      digest: SHA256,
    },
    { comment: { type: 'string' } },
  ),
} as const;
