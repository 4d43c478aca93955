// Bundles the command line and the server into `packages/cli/dist`: one start of Node reads a few files, not a thousand.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsdown';
import { bundleOptions } from './bundle-options.mjs';
import { root } from './setup.mjs';

/** Safe to call at the same time from several processes. */
export async function buildBundle() {
  const outDir = join(root, 'packages/cli/dist');
  const fresh = join(root, `packages/cli/.cache/bundle.${process.pid}`);
  rmSync(fresh, { recursive: true, force: true });
  await build({
    cwd: join(root, 'packages/cli'),
    ...bundleOptions,
    entry: { main: 'src/main.ts' },
    outDir: fresh,
    fixedExtension: false,
    // `import` and `require` are added for each import by its kind: a package gives each what it made for it.
    inputOptions: { resolve: { conditionNames: ['tendon-source', 'node'] } },
    deps: { alwaysBundle: [/.*/], neverBundle: [/^node:(?!http$)/, 'bufferutil', 'utf-8-validate', '@lydell/node-pty'] },
  });
  const old = `${fresh}.old`;
  if (existsSync(outDir)) renameSync(outDir, old);
  renameSync(fresh, outDir);
  rmSync(old, { recursive: true, force: true });
}
