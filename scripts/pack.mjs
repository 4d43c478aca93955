#!/usr/bin/env node
// Makes the package as it is published: `pack.mjs [FOLDER]` writes it to FOLDER (default .cache/package) and prints its size.
// It holds the bundles, the executor and the web app, and depends on nothing but, where the host's is older, a packaged Node.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeClientTypes } from './client-types.mjs';
import { root } from './setup.mjs';

const target = resolve(process.argv[2] ?? join(root, '.cache/package'));
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const manifest = read('package.json');
const { version } = read('packages/cli/package.json');

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const copy = (from, to) => cpSync(join(root, from), join(target, to), { recursive: true, filter: (path) => !/\/\.[^/]*stamp$/.test(path) });
copy('packages/cli/bin', 'bin');
copy('packages/cli/dist', 'dist');
copy('packages/executor/dist/executor', 'dist/executor');
copy('packages/web/dist', 'dist/web');
copy('packages/client/dist', 'dist/client');
copy('packages/client/README.md', 'dist/client/README.md');
writeClientTypes(join(target, 'dist/client/types'));
for (const file of ['README.md', 'LICENSE']) copy(file, file);
const published = {
  name: 'tendon',
  version,
  description: manifest.description,
  license: manifest.license,
  type: 'module',
  bin: { tendon: 'bin/tendon.mjs' },
  exports: {
    './client': { types: './dist/client/types/client/src/index.d.ts', default: './dist/client/index.js' },
    './package.json': './package.json',
  },
  files: ['bin', 'dist'],
  engines: manifest.engines,
  optionalDependencies: manifest.optionalDependencies,
};
writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);

const bytesOf = (path) =>
  statSync(path).isDirectory() ? readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0) : statSync(path).size;
process.stdout.write(`${target}: ${(bytesOf(target) / 1024 / 1024).toFixed(1)} MiB, 1 package, without Node\n`);
