import { existsSync, globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { OrderOfFiles } from './test/order-of-files.ts';

const EXCLUDE = ['**/node_modules/**', '**/dist/**'];

/**
 * Deadlines, not measurements: up to six files run at a time, so what a test takes is a matter of the machine, and one that starts git
 * twenty times in a second takes as many seconds beside enough others.
 */
const TIMEOUTS = {
  quick: { testTimeout: 60_000, hookTimeout: 60_000 },
  others: { testTimeout: 180_000, hookTimeout: 180_000 },
};

/** `quick` is the daily check; `thorough` adds real processes, faults and the browser; the others run only when asked for. */
const project = (name: 'quick' | 'thorough' | 'cluster' | 'shared' | 'long', include: string[], exclude: string[] = []) => ({
  extends: true as const,
  test: {
    name,
    include,
    exclude: [...EXCLUDE, ...exclude],
    ...TIMEOUTS[name === 'quick' ? 'quick' : 'others'],
    provide:
      name === 'long' ? { engine: 'podman' as const, effort: 'full' as const } : { engine: 'docker' as const, effort: 'daily' as const },
  },
});

/** Tested on Docker by `thorough`, once more on Podman by `long`. */
const ON_EITHER_ENGINE = [
  'packages/runtime/src/drivers/docker/docker-driver.slow.test.ts',
  'packages/runtime/src/drivers/docker/hidden-folders.slow.test.ts',
  'packages/runtime/src/drivers/docker/suspend.slow.test.ts',
  'packages/runtime/src/drivers/docker/sidecar.slow.test.ts',
  'test/isolation/workspace-swap-container.test.ts',
];
/** Tested in Chromium's headless shell by `thorough`, where there is one, once more in a whole Chromium by `long`. */
const IN_EITHER_CHROMIUM = ['browse', 'interact', 'lifecycle'].map((name) => `packages/executor/src/browser/${name}.slow.test.ts`);
/** A file that has moved would be left out in silence. */
for (const path of [...ON_EITHER_ENGINE, ...IN_EITHER_CHROMIUM])
  if (!existsSync(join(import.meta.dirname, path))) throw new Error(`no such test file: ${path}`);

/** Tried as often as they ask only by `long`: see `runs.ts` of `@tendon/testing`, and `missedIn` of the conformance suite's tests. */
const TRIED_MORE_OFTEN = globSync('{packages/*/src,test}/**/*.test.ts', { cwd: import.meta.dirname }).filter((path) =>
  /\b(?:runs|someOf|itInFull|isFull|missedIn)\(/.test(readFileSync(join(import.meta.dirname, path), 'utf8')),
);

export default defineConfig({
  test: {
    // A deadline, not a measurement: machines are busy.
    expect: { poll: { timeout: 45_000 } },
    // A failing comparison of two long texts must fail, not be drawn for minutes.
    diff: { truncateThreshold: 400 },
    // Programs that tests start from source, and kill, read what an earlier one of them has compiled.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    globalSetup: [join(import.meta.dirname, 'test/postgres.setup.ts')],
    pool: 'forks',
    // A worker takes one file after another and loads what they share once: no module of ours keeps state that a test could find there.
    isolate: false,
    // Most tests wait for processes: on two cores four files at a time leave a third of the time unused.
    maxWorkers: 6,
    // Node loads what is tested, no module runner: see `load-sources.ts`.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A young generation of this size is collected rarely; tests make much that does not last.
    execArgv: ['--conditions=tendon-source', `--import=${join(import.meta.dirname, 'test/load-sources.ts')}`, '--max-semi-space-size=64'],
    sequence: { sequencer: OrderOfFiles },
    projects: [
      project('quick', ['packages/*/src/**/*.test.{ts,tsx}', 'test/conformance/**/*.test.ts'], ['**/*.{slow,cluster,long}.test.{ts,tsx}']),
      project(
        'thorough',
        ['packages/*/src/**/*.slow.test.{ts,tsx}', 'test/conformance/**/*.slow.test.ts', 'test/{e2e,faults,isolation}/**/*.test.ts'],
        ['**/*.long.test.ts'],
      ),
      project('cluster', ['test/cluster/**/*.test.ts', 'packages/*/src/**/*.cluster.test.ts']),
      project('shared', ['test/shared/**/*.test.ts']),
      project('long', [
        'test/long/**/*.test.ts',
        '{packages/*/src,test}/**/*.long.test.ts',
        ...ON_EITHER_ENGINE,
        ...IN_EITHER_CHROMIUM,
        ...TRIED_MORE_OFTEN,
      ]),
    ],
  },
});
