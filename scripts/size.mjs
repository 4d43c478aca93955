#!/usr/bin/env node
// Reports the sizes of our source: files, functions, interfaces, and files that one file alone imports.
//   node scripts/size.mjs           the sizes
//   node scripts/size.mjs check     fails on files and interfaces that are too large; the lint holds the functions
//   node scripts/size.mjs walk      the files that run between a user's message and the agent's answer
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printWalk } from './walk.mjs';
import { wideInterfaces } from './wide-interfaces.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const MAX_LINES = 400;
const MAX_FUNCTION = 60;
const HARD_MAX_FUNCTION = 80;
const MAX_MEMBERS = 8;
/** Run by tests alone, or made by a program. */
const LEFT_OUT = /\.test(-support)?\.tsx?$|\/(?:contract|fixtures|testing)\/|\/contract\.ts$|\/price-table\.ts$/;

function* sources(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name === 'node_modules' || name === 'dist') continue;
    if (statSync(path).isDirectory()) yield* sources(path);
    else if (/\.tsx?$/.test(name) && !LEFT_OUT.test(path)) yield path;
  }
}

/** Functions over `MAX_FUNCTION` lines, blank ones and comments aside, as the lint counts them. */
function longFunctions(files) {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-size-'));
  const config = join(folder, 'oxlint.json');
  const rule = ['error', { max: MAX_FUNCTION, skipBlankLines: true, skipComments: true }];
  writeFileSync(config, JSON.stringify({ categories: { correctness: 'off' }, rules: { 'max-lines-per-function': rule } }));
  const args = [join(root, 'node_modules/oxlint/bin/oxlint'), '-c', config, '--format', 'json', 'packages'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  rmSync(folder, { recursive: true });
  const wanted = new Set(files.map((file) => relative(root, file)));
  return JSON.parse(stdout).diagnostics.flatMap(({ filename, message, labels }) => {
    const lines = Number(/\((\d+)\)/.exec(message)?.[1]);
    return wanted.has(filename) && lines ? [{ size: lines, name: `${filename}:${labels[0].span.line}` }] : [];
  });
}

const IMPORT = /(?:\bfrom\s+|\bimport\(\s*|^import\s+)'(\.[^']+)'/gm;

/** Files that one other source file imports, and of those the ones whose importer lies in the same folder. */
function singleImporters(texts) {
  const importers = new Map();
  for (const [file, text] of texts)
    for (const [, specifier] of text.matchAll(IMPORT)) {
      const target = resolve(dirname(file), specifier);
      importers.set(target, (importers.get(target) ?? new Set()).add(file));
    }
  const single = [...importers].filter(([file, by]) => texts.has(file) && by.size === 1);
  return { all: single.length, sameFolder: single.filter(([file, [by]]) => dirname(by) === dirname(file)).length };
}

function quantiles(files) {
  const sorted = files.toSorted((a, b) => a.size - b.size);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].size;
  const { size, name } = sorted.at(-1);
  return `${String(files.length).padStart(5)} files  median ${at(0.5)}  p90 ${at(0.9)}  max ${size} (${name})`;
}

function printLargest(what, list) {
  process.stdout.write(`\n${list.length} ${what}\n`);
  for (const { size, name } of list.toSorted((a, b) => b.size - a.size).slice(0, 12))
    process.stdout.write(`${String(size).padStart(5)}  ${name}\n`);
}

function readPackages() {
  return readdirSync(join(root, 'packages'))
    .filter((name) => name !== 'testing')
    .map((name) => [name, [...sources(join(root, 'packages', name, 'src'))].map((file) => [file, readFileSync(file, 'utf8')])]);
}

const wideOnes = (texts) =>
  wideInterfaces(texts, MAX_MEMBERS).map(({ size, file, name }) => ({ size, name: `${name} (${relative(root, file)})` }));

function printSizes() {
  const packages = readPackages();
  for (const [name, own] of packages) process.stdout.write(`${name.padEnd(13)}${quantiles(sizesOf(own))}\n`);
  const texts = new Map(packages.flatMap(([, own]) => own));
  process.stdout.write(`${'all'.padEnd(13)}${quantiles(sizesOf([...texts]))}\n`);

  const single = singleImporters(texts);
  process.stdout.write(`\n${single.all} files have one importer, ${single.sameFolder} of them in the same folder\n`);
  const long = longFunctions([...texts.keys()]);
  printLargest(
    `functions over ${MAX_FUNCTION} lines, ${long.filter(({ size }) => size > HARD_MAX_FUNCTION).length} over ${HARD_MAX_FUNCTION}`,
    long,
  );
  printLargest(`interfaces over ${MAX_MEMBERS} members that are not data`, wideOnes(texts));
}

function check() {
  const texts = new Map(readPackages().flatMap(([, own]) => own));
  const long = sizesOf([...texts]).filter(({ size }) => size > MAX_LINES);
  const wide = wideOnes(texts);
  for (const { size, name } of long)
    process.stdout.write(`${name} has ${size} lines, more than ${MAX_LINES}: give one concept of it a file\n`);
  for (const { size, name } of wide)
    process.stdout.write(`${name} has ${size} members, more than ${MAX_MEMBERS}: name what belongs together, and extend that\n`);
  if (long.length + wide.length > 0) process.exitCode = 1;
  else
    process.stdout.write(`${texts.size} files, none over ${MAX_LINES} lines, no interface over ${MAX_MEMBERS} members that is not data\n`);
}

function sizesOf(files) {
  return files.map(([file, text]) => ({ name: relative(root, file), size: text.split('\n').length - 1 }));
}

if (process.argv[2] === 'walk') await printWalk();
else if (process.argv[2] === 'check') check();
else printSizes();
