import { defineConfig } from 'vitest/config';

const conditions = ['tendon-source', 'node'];
const EXCLUDE = ['**/node_modules/**', '**/dist/**'];

/** `quick` is the daily check; `thorough` adds real processes, faults and the browser; `shared` and `long` run only when asked for. */
const project = (name: string, include: string[], exclude: string[] = []) => ({
  extends: true as const,
  test: { name, include, exclude: [...EXCLUDE, ...exclude] },
});

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['tendon-source'] } },
  test: {
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // A deadline, not a measurement: machines are busy.
    expect: { poll: { timeout: 45_000 } },
    // A failing comparison of two long texts must fail, not be drawn for minutes.
    diff: { truncateThreshold: 400 },
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      project('quick', ['packages/*/src/**/*.test.{ts,tsx}', 'test/conformance/**/*.test.ts'], ['**/*.slow.test.ts']),
      project('thorough', [
        'packages/*/src/**/*.slow.test.ts',
        'test/conformance/**/*.slow.test.ts',
        'test/{e2e,faults,isolation}/**/*.test.ts',
      ]),
      project('shared', ['test/shared/**/*.test.ts']),
      project('long', ['test/long/**/*.test.ts']),
    ],
  },
});
