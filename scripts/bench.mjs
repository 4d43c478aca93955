#!/usr/bin/env node
// `npm run bench`: builds what is stale, then measures; `--help` names the options.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root, say, setup } from './setup.mjs';

try {
  const { node, env } = await setup('start');
  const run = (...args) => spawnSync(node, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
  process.exitCode =
    run(join(root, 'scripts/build.mjs'), '--if-stale') ||
    run('--conditions=tendon-source', join(root, 'bench/figures.ts'), ...process.argv.slice(2));
} catch (error) {
  say(`bench: ${error.message}`);
  process.exitCode = 1;
}
