import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/exhaustive/**', 'test/tools/**'],
    testTimeout: 120_000,
  },
});
