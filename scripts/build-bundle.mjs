// Bundles the command line and the server into `packages/cli/dist`: one start of Node reads a few files, not a thousand.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsdown';
import { bundleOptions } from './bundle-options.mjs';
import { root } from './setup.mjs';

export async function buildBundle() {
  const outDir = join(root, 'packages/cli/dist');
  rmSync(outDir, { recursive: true, force: true });
  await build({
    cwd: join(root, 'packages/cli'),
    ...bundleOptions,
    entry: { main: 'src/main.ts' },
    outDir,
    fixedExtension: false,
    // `import` and `require` are added for each import by its kind: a package gives each what it made for it.
    inputOptions: { resolve: { conditionNames: ['tendon-source', 'node'] } },
    deps: { alwaysBundle: [/.*/], neverBundle: [/^node:(?!http$)/, 'bufferutil', 'utf-8-validate', '@lydell/node-pty'] },
  });
}
