import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/tools/**/*.test.ts'], testTimeout: 120_000 },
});
