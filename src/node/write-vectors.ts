/**
 * `npm run vectors`: writes vectors/v1, and removes files there that are no part of it any more.
 * Clauses: spec/vectors.md VEC-10.
 * @module
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPack } from '../vectors/pack.ts';

const folder = process.argv[2] ?? join('vectors', 'v1');
const files = buildPack((bytes) => createHash('sha256').update(bytes).digest('hex'));
mkdirSync(folder, { recursive: true });
for (const { name, bytes } of files) writeFileSync(join(folder, name), bytes);
const names = files.map(({ name }) => name);
for (const name of readdirSync(folder))
  if (name.endsWith('.json') && !names.includes(name)) rmSync(join(folder, name));
const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
process.stderr.write(`${folder}: ${files.length} files, ${total} bytes\n`);
