/** Builds the bundle into a folder of the test's own. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const CONFIG = fileURLToPath(new URL('../../bundle.config.ts', import.meta.url));

/** The path of a fresh fp4.mjs, alone in its folder. */
export async function bundle(): Promise<string> {
  const outDir = mkdtempSync(join(tmpdir(), 'fp4-bundle-'));
  await build({ configFile: CONFIG, mode: 'production', build: { outDir } });
  return join(outDir, 'fp4.mjs');
}
