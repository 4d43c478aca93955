// Shows whether something built from sources is stale: one hash over the contents of the files it was made from.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LEFT_OUT = new Set(['node_modules', 'dist', '__pycache__']);

function* files(path) {
  if (!existsSync(path)) return;
  if (statSync(path).isFile()) {
    yield path;
    return;
  }
  for (const name of readdirSync(path).toSorted()) {
    if (!LEFT_OUT.has(name) && !/\.test\.tsx?$/.test(name)) yield* files(join(path, name));
  }
}

/** Hash of all files under `paths`; of folders without tests, and without what is made from sources. */
function hashSources(paths) {
  const hash = createHash('sha256').update(process.versions.node);
  for (const path of paths) for (const file of files(path)) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

/** Runs `build` unless `stampFile` holds the hash of `paths`; returns whether it ran. */
export async function buildIfStale({ paths, stampFile, build }) {
  const hash = hashSources(paths);
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash) return false;
  await build();
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, hash);
  return true;
}
