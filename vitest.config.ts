import { defineConfig } from 'vitest/config';

const source = { conditions: ['tendon-source', 'node', 'import', 'default'] };

export default defineConfig({
  resolve: source,
  ssr: { resolve: { conditions: source.conditions, externalConditions: source.conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', 'test/shared/**', 'test/long/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
