#!/usr/bin/env node
// Reports what each `import()` of the bundle makes a process load, and which packages that is made of. A report, not a gate.
//   npm run build, then: node scripts/bundle-size.mjs [name of a chunk, e.g. run-task]
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const folder = join(root, 'packages/cli/dist');
const files = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
);
const kilobytes = (bytes) => `${Math.round(bytes / 1024)} KB`.padStart(8);
const named = (text, pattern) => [...text.matchAll(pattern)].map(([, name]) => name).filter((name) => files.has(name));

/** A file and all that it imports without being asked. */
function loadedWith(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const name of named(files.get(file), /^(?:import|export)\b[^;]*?"\.\/([^"]+)";?$/gm)) loadedWith(name, seen);
  return seen;
}

/** Bytes of each package (of our own: each folder below `src`) in a file, by the comments that the bundler leaves. */
function partsOf(file) {
  const parts = new Map();
  let part = file;
  for (const line of files.get(file).split('\n')) {
    const [, source] = /^(?:\t*\/\/#region|\/\/) (\S+\.(?:m|c)?[jt]s)$/.exec(line) ?? [];
    if (source) part = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? source.split('/').slice(0, -1).join('/');
    parts.set(part, (parts.get(part) ?? 0) + line.length + 1);
  }
  return parts;
}

const wanted = process.argv[2];
const asked = new Set(['main.js', ...[...files.values()].flatMap((text) => named(text, /\bimport\("\.\/([^"]+)"\)/g))]);
const rows = [...asked]
  .filter((file) => !wanted || file.startsWith(wanted))
  .map((file) => ({ file, loaded: [...loadedWith(file)] }))
  .map((row) => ({ ...row, bytes: row.loaded.reduce((sum, name) => sum + files.get(name).length, 0) }))
  .toSorted((a, b) => b.bytes - a.bytes);
for (const { file, loaded, bytes } of rows) {
  process.stdout.write(`${kilobytes(bytes)} in ${String(loaded.length).padStart(2)} files  ${file}\n`);
  if (!wanted) continue;
  const parts = new Map();
  for (const name of loaded) for (const [part, size] of partsOf(name)) parts.set(part, (parts.get(part) ?? 0) + size);
  for (const [part, size] of [...parts].toSorted(([, a], [, b]) => b - a).slice(0, 25))
    process.stdout.write(`  ${kilobytes(size)}  ${part}\n`);
}
