import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/exhaustive/**/*.test.ts'], testTimeout: 3_600_000, maxWorkers: '100%' },
});
