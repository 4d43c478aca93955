#!/usr/bin/env node
// Builds what runs: the executor folder, the web app, the bundles of server and command line, and the SDK.
//   build.mjs [--if-stale] [executor] [web] [bundle] [client] [faults]      (default: all but `faults`, servers that tests kill)
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { EXECUTOR } from './build-executor.mjs';
import { isRecent, nodeBinary } from './node-binary.mjs';
import { root, say } from './setup.mjs';
import { buildIfStale } from './source-stamp.mjs';

const at = (...names) => join(root, ...names);
const sourcesOf = (...names) => names.flatMap((name) => [at('packages', name, 'src'), at('packages', name, 'package.json')]);

/** `paths`: what it is made from. */
const TARGETS = {
  executor: EXECUTOR,
  web: {
    paths: [
      ...sourcesOf('web', 'client', 'protocol'),
      at('packages/web/index.html'),
      at('packages/web/public'),
      at('packages/web/vite.config.ts'),
      at('scripts/build-web.mjs'),
    ],
    stampFile: at('packages/web/dist/.stamp'),
    build: async () => (await import('./build-web.mjs')).buildWeb(),
  },
  bundle: {
    paths: [
      ...sourcesOf('cli', 'conformance', 'sandbox-host', 'server', 'runtime', 'core', 'protocol', 'client'),
      at('scripts/build-bundle.mjs'),
      at('scripts/bundle-options.mjs'),
    ],
    stampFile: at('packages/cli/dist/.stamp'),
    build: async () => (await import('./build-bundle.mjs')).buildBundle(),
  },
  client: {
    paths: [...sourcesOf('client', 'protocol'), at('scripts/build-client.mjs')],
    stampFile: at('packages/client/dist/.stamp'),
    build: async () => (await import('./build-client.mjs')).buildClient(),
  },
  faults: {
    paths: [
      ...sourcesOf('server', 'runtime', 'core', 'protocol'),
      at('test/faults/faulty-server.ts'),
      at('test/faults/sandbox-server.ts'),
      at('test/faults/sandbox-drivers.ts'),
      at('scripts/build-bundle.mjs'),
      at('scripts/bundle-options.mjs'),
    ],
    stampFile: at('packages/testing/dist/faults/.stamp'),
    build: async () => (await import('./build-bundle.mjs')).buildFaults(),
  },
};
const SHIPPED = ['executor', 'web', 'bundle', 'client'];

if (!isRecent()) {
  const { status } = spawnSync(nodeBinary(root), process.argv.slice(1), { cwd: root, stdio: 'inherit' });
  process.exit(status ?? 1);
}

const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith('--'));
for (const name of names.length > 0 ? names : SHIPPED) {
  const target = TARGETS[name];
  if (!target) {
    say(`build: there is no target ${name}; there are ${Object.keys(TARGETS).join(', ')}`);
    process.exit(2);
  }
  const started = Date.now();
  if (!args.includes('--if-stale')) rmSync(target.stampFile, { force: true });
  if (await buildIfStale(target)) say(`Built ${name} in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}
