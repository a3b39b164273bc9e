/** Builds dist/fp4.mjs: every module and both dependencies of the command in one file. */
import { builtinModules } from 'node:module';
import { defineConfig, type Plugin } from 'vite';

const PREFIX = '\0builtin:';

/**
 * Node's own modules, fetched when the file runs and only where there are any, so that a browser can load it too: a static
 * import of `node:fs` would stop it there.
 */
const builtins: Plugin = {
  name: 'builtins',
  enforce: 'pre',
  resolveId: (id) =>
    id.startsWith('node:') || builtinModules.includes(id) ? PREFIX + id.replace('node:', '') : null,
  load: (id) =>
    id.startsWith(PREFIX)
      ? `module.exports = globalThis.process?.getBuiltinModule?.('node:${id.slice(PREFIX.length)}') ?? {};`
      : null,
};

export default defineConfig({
  plugins: [builtins],
  logLevel: 'warn',
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    copyPublicDir: false,
    target: 'es2022',
    minify: false,
    lib: { entry: 'src/bundle.ts', formats: ['es'], fileName: () => 'fp4.mjs' },
    rolldownOptions: { output: { codeSplitting: false } },
  },
});
