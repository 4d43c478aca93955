#!/usr/bin/env node
// Turns event samples of old releases (a folder of `events-<release>.json`, each class with one sample) into facts of our own:
// for every kind the order of its top-level keys, and for every key the JSON types seen. No text or value is copied.
//   node scripts/extract-facts.mjs <folder with samples> [<folder for facts>]
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [from, to = join(import.meta.dirname, '../test/conformance/facts')] = process.argv.slice(2);
if (!from) {
  console.error('usage: extract-facts.mjs <folder with events-<release>.json> [<folder for facts>]');
  process.exit(2);
}
mkdirSync(to, { recursive: true });
for (const file of readdirSync(from).toSorted()) {
  const release = /^events-(.+)\.json$/.exec(file)?.[1];
  if (!release) continue;
  const facts = extract(JSON.parse(readFileSync(join(from, file), 'utf8')));
  writeFileSync(join(to, `${release}.json`), `${JSON.stringify({ release, ...facts }, null, 1)}\n`);
  console.log(`${release}: ${Object.keys(facts.actions).length} actions, ${Object.keys(facts.observations).length} observations`);
}

/** Samples come as one flat table, or as one table of actions and one of observations with a fuller example beside. */
function extract(samples) {
  const facts = { actions: {}, observations: {} };
  const tables = samples.actions ? [samples.actions, samples.observations] : [samples];
  for (const sample of tables.flatMap((table) => Object.values(table))) {
    if (sample.action) add(facts.actions, sample.action, sample);
    else if (sample.observation) add(facts.observations, sample.observation, sample);
  }
  if (samples.full_example) facts.full = fact(samples.full_example);
  return facts;
}

function add(table, kind, sample) {
  const next = fact(sample);
  const before = table[kind] ?? { keys: [], types: {} };
  for (const [path, type] of Object.entries(before.types)) next.types[path] = union(type, next.types[path]);
  table[kind] = { keys: [...new Set([...before.keys, ...next.keys])], types: next.types };
}

function fact(sample) {
  const types = {};
  visit('', sample, types);
  delete types[''];
  return { keys: Object.keys(sample), types };
}

/** Paths are joined by dots, `[]` stands for any item. */
function visit(path, value, types) {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  types[path] = union(types[path], type);
  if (type === 'array') for (const item of value) visit(`${path}[]`, item, types);
  if (type === 'object') for (const [key, inner] of Object.entries(value)) visit(path ? `${path}.${key}` : key, inner, types);
}

function union(a, b) {
  return [...new Set([a, b].filter(Boolean).flatMap((types) => types.split('|')))].toSorted().join('|');
}
