/**
 * STR-10. The whole project as one file without dependencies: dist/fp4.mjs (`npm run bundle`). Under Node it is the command when it
 * is run, and a module when it is imported; in a browser it is a module.
 * @module
 */
export { describe, FUNCTIONS } from './functions/registry.ts';
export { evaluateText, type TextOptions } from './functions/text.ts';
export * from './index.ts';

import { WORKER_MARK } from './node/worker-job.ts';

/** Whether this very file was started by Node, under its own name or by a link. */
async function isCommand(): Promise<boolean> {
  const started = globalThis.process?.argv?.[1];
  if (started === undefined) return false;
  const { realpathSync } = await import('node:fs');
  const { pathToFileURL } = await import('node:url');
  return pathToFileURL(realpathSync(started)).href === import.meta.url;
}

/** Node's threads; nothing in a browser. */
const threads = globalThis.process?.getBuiltinModule?.('node:worker_threads');

if (threads?.workerData === WORKER_MARK && threads.parentPort) {
  // The worker pool started this file as one of its threads: then it is neither the command nor a module.
  const { serve } = await import('./node/worker-serve.ts');
  serve(threads.parentPort);
} else if (await isCommand()) {
  const { run } = await import('./cli/program.ts');
  await run(process.argv.slice(2));
}
