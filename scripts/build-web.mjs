// Builds the web app into `packages/web/dist`. Whether that is needed is for the caller to say (`build.mjs --if-stale web`).
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { root } from './setup.mjs';

const dist = join(root, 'packages/web/dist');
const TEXTS = new Set(['.html', '.js', '.css', '.svg', '.json', '.webmanifest']);
/** Smaller ones are one packet anyway. */
const LEAST_BYTES = 1_024;

export async function buildWeb() {
  // Whoever calls may be a test: what is served is the production build all the same.
  process.env.NODE_ENV = 'production';
  await build({ configFile: join(root, 'packages/web/vite.config.ts'), logLevel: 'warn' });
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && TEXTS.has(extname(entry.name))) compress(join(entry.parentPath, entry.name));
  }
}

/** Once here instead of with every request: the server sends `.br` and `.gz` as they are (CL595). */
function compress(path) {
  const bytes = readFileSync(path);
  if (bytes.length < LEAST_BYTES) return;
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
}
