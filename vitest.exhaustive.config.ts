import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { include: ['test/exhaustive/**/*.test.ts'], testTimeout: 1_800_000 } });
