// Bundles the SDK into one file without dependencies, for browsers and Node, and refuses one that has grown too large.
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { build } from 'tsdown';
import { root, say } from './setup.mjs';

/** Compressed, as it is sent. */
const MOST_BYTES = 30 * 1024;

/** Safe to call at the same time from several processes. */
export async function buildClient() {
  const cwd = join(root, 'packages/client');
  const fresh = join(cwd, `.cache/client.${process.pid}`);
  await build({
    ...{ config: false, cwd, entry: { index: 'src/index.ts' }, outDir: fresh, format: 'esm', platform: 'browser', target: 'es2023' },
    ...{ dts: false, sourcemap: false, minify: true, clean: false, fixedExtension: false, logLevel: 'warn' },
    inputOptions: { resolve: { conditionNames: ['tendon-source', 'browser', 'import'] } },
    deps: { alwaysBundle: [/.*/] },
  });
  const code = readFileSync(join(fresh, 'index.js'));
  const bytes = gzipSync(code, { level: constants.Z_BEST_COMPRESSION }).length;
  const size = `the SDK is ${(bytes / 1024).toFixed(1)} KB compressed`;
  if (bytes > MOST_BYTES || code.includes('ZodError')) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`${size}; it must be at most ${MOST_BYTES / 1024} KB and hold no zod. Look for what it imports from the protocol.`);
  }
  mkdirSync(join(cwd, 'dist'), { recursive: true });
  renameSync(join(fresh, 'index.js'), join(cwd, 'dist/index.js'));
  rmSync(fresh, { recursive: true, force: true });
  say(`${size}.`);
}
