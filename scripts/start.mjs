#!/usr/bin/env node
// `npm start`: everything a fresh clone needs, then the server.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root, say, setup } from './setup.mjs';

try {
  const { node, env } = await setup('start');
  const built = spawnSync(node, [join(root, 'scripts/build.mjs'), '--if-stale'], { cwd: root, env, stdio: ['ignore', 2, 'inherit'] });
  if (built.status !== 0) throw new Error('the build failed; its output above names the cause');
  const server = spawn(node, [join(root, 'packages/cli/dist/main.js'), 'serve', ...process.argv.slice(2)], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
  server.on('error', (error) => {
    say(`start: ${error.message}`);
    process.exitCode = 1;
  });
  server.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal ? 128 : 1);
  });
} catch (error) {
  say(`start: ${error.message}`);
  process.exitCode = 1;
}
