#!/usr/bin/env node
// Reports the sizes of our source files beside the figures of the codebases we learn from. A report, not a gate.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function* sources(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name === 'node_modules' || name === 'dist') continue;
    if (statSync(path).isDirectory()) yield* sources(path);
    else if (/\.tsx?$/.test(name) && !/\.test(-support)?\.tsx?$/.test(name) && name !== 'price-table.ts') yield path;
  }
}

for (const name of readdirSync(join(root, 'packages'))) {
  const files = [...sources(join(root, 'packages', name, 'src'))]
    .map((file) => ({ file: relative(root, file), lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
    .toSorted((a, b) => a.lines - b.lines);
  if (files.length === 0) continue;
  const at = (share) => files[Math.min(files.length - 1, Math.floor(files.length * share))].lines;
  const largest = files.at(-1);
  process.stdout.write(
    `${name.padEnd(9)} ${String(files.length).padStart(4)} files  median ${at(0.5)}  p90 ${at(0.9)}  max ${largest.lines} (${largest.file})\n`,
  );
}
