// Bundles the command line and the server into `packages/cli/dist`: one start of Node reads a few files, not a thousand.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'tsdown';
import { bundleOptions } from './bundle-options.mjs';
import { root } from './setup.mjs';

export const buildBundle = () =>
  bundle({ cwd: join(root, 'packages/cli'), entry: { main: 'src/main.ts' }, outDir: join(root, 'packages/cli/dist') });

/** The servers that tests start and kill, by their sources. */
const FAULTS = {
  'faulty-server': join(root, 'test/faults/faulty-server.ts'),
  'sandbox-server': join(root, 'test/faults/sandbox-server.ts'),
  'killed-fork': join(root, 'packages/server/src/checkpoints/fixtures/killed-fork.ts'),
  'killed-push': join(root, 'packages/server/src/push/fixtures/killed-push.ts'),
  'killed-delivery': join(root, 'packages/server/src/triggers/fixtures/killed-delivery.ts'),
  'killed-retention': join(root, 'packages/server/src/retention/fixtures/killed-retention.ts'),
  'killed-erasure': join(root, 'packages/server/src/erasure/fixtures/killed-erasure.ts'),
};

/** They find the executor from there as the shipped one does. */
export const buildFaults = () =>
  bundle({
    cwd: join(root, 'test/faults'),
    entry: FAULTS,
    outDir: join(root, 'packages/testing/dist/faults'),
  });

/** Safe to call at the same time from several processes. */
async function bundle({ cwd, entry, outDir }) {
  const fresh = join(outDir, `../.cache/bundle.${process.pid}`);
  rmSync(fresh, { recursive: true, force: true });
  await build({
    cwd,
    ...bundleOptions,
    entry,
    outDir: fresh,
    fixedExtension: false,
    // `import` and `require` are added for each import by its kind: a package gives each what it made for it.
    inputOptions: { resolve: { conditionNames: ['tendon-source', 'node'] } },
    deps: { alwaysBundle: [/.*/], neverBundle: [/^node:/, 'bufferutil', 'utf-8-validate', '@lydell/node-pty'] },
  });
  const old = `${fresh}.old`;
  mkdirSync(dirname(outDir), { recursive: true });
  if (existsSync(outDir)) renameSync(outDir, old);
  renameSync(fresh, outDir);
  rmSync(old, { recursive: true, force: true });
}
