#!/usr/bin/env node
// `npm run dev`: the server from source, restarted on change. Running sandboxes outlive the restart.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root, say, setup } from './setup.mjs';

const { node, env } = await setup('start');
spawnSync(node, [join(root, 'scripts/build.mjs'), '--if-stale', 'executor', 'web'], { cwd: root, env, stdio: ['ignore', 2, 'inherit'] });
say('Serving from source; a change restarts the server. For the web app, loaded anew when it changes: npx vite packages/web');
const watched = ['protocol', 'core', 'runtime', 'server', 'sandbox-host'].map(
  (name) => `--watch-path=${join(root, 'packages', name, 'src')}`,
);
const args = ['--conditions=tendon-source', ...watched, join(root, 'packages/cli/src/main.ts'), 'serve', ...process.argv.slice(2)];
const server = spawn(node, args, { cwd: root, env, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
server.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
