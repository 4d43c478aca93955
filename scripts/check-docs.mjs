#!/usr/bin/env node
// Holds the documents to the code: a test cites every rule of docs/spec, every cited rule exists and says what MUST be, links and their anchors resolve, decisions are few,
// letters of invariants are of one file, and docs/rules.md lists the rules as they are (`node scripts/check-docs.mjs --write` makes it).
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { headingIds } from './docs-site/heading-id.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const RULE = /\b(?:EL|AS|DL|RT|SB|EN|LM|SV|CL|TJ|TR|CK|EV|EX|TG)\d+\b/g;
const failures = [];

function* walk(folder, pattern) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name === 'node_modules' || name === 'dist') continue;
    if (statSync(path).isDirectory()) yield* walk(path, pattern);
    else if (pattern.test(name)) yield path;
  }
}

const rules = new Map();
/** Of the same rules: the section they are in and the beginning of what they hold, for the list. */
const places = new Map();
for (const file of walk(join(root, 'docs/spec'), /\.md$/)) {
  let section = '';
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    section = /^##+ (.*)/.exec(line)?.[1] ?? section;
    const id = /^(?:[-*|]\s*)?\**((?:EL|AS|DL|RT|SB|EN|LM|SV|CL|TJ|TR|CK|EV|EX|TG)\d+)\b/.exec(line)?.[1];
    if (!id) continue;
    if (rules.has(id)) failures.push(`${relative(root, file)}: rule ${id} is defined twice (also in ${rules.get(id)})`);
    if (!/\b(?:MUST|MAY)\b/.test(line)) failures.push(`${relative(root, file)}: rule ${id} does not say what MUST or MAY be`);
    rules.set(id, relative(root, file));
    places.set(id, { page: relative(join(root, 'docs'), file), section, text: line.replace(/^.*?\d+\**\s*\|?\s*/, '') });
  }
}

const LIST = join(root, 'docs/rules.md');
const list = listOfRules();
if (process.argv.includes('--write')) writeFileSync(LIST, list);
else if (!existsSync(LIST) || readFileSync(LIST, 'utf8') !== list)
  failures.push('docs/rules.md does not list the rules as they are: run node scripts/check-docs.mjs --write');

function listOfRules() {
  const families = Object.groupBy(rules.keys(), (id) => id.slice(0, 2));
  const tables = Object.keys(families)
    .toSorted()
    .map((family) => {
      const rows = families[family].toSorted((a, b) => Number(a.slice(2)) - Number(b.slice(2))).map(rowOf);
      return `## ${family}\n| rule | beginning | in |\n|---|---|---|\n${rows.join('\n')}\n`;
    });
  return `# Rules by number\n\nGenerated from [docs/spec](spec) by \`node scripts/check-docs.mjs --write\`; each rule has its full text there.\n\n${tables.join('\n')}`;
}

function rowOf(id) {
  const { page, section, text } = places.get(id);
  const words = text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('|', '¦')
    .split(' ');
  const beginning = words.slice(0, 14).join(' ');
  const isCutInCode = beginning.split('`').length % 2 === 0;
  const anchor = section
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
  const place = section === '' ? `[${page.slice(5, -3)}](${page})` : `[${page.slice(5, -3)}: ${section}](${page}#${anchor})`;
  return `| ${id} | ${beginning}${isCutInCode ? '`' : ''}${words.length > 14 ? ' …' : ''} | ${place} |`;
}

const cited = new Set();
/** A rule keeps a daily proof: what a file tries in the long tests beside what it tries daily is none. */
const IN_FULL = /\bitInFull\(\s*(['"`])[^]*?\1/g;
for (const folder of ['packages', 'test']) {
  for (const file of walk(join(root, folder), /\.tsx?$/)) {
    if (!/\.test\.tsx?$|contract[^/]*\.ts$|\/contract\/|\/escape\/threats\.ts$/.test(file)) continue;
    const text = readFileSync(file, 'utf8');
    for (const [id] of text.matchAll(RULE))
      if (!rules.has(id)) failures.push(`${relative(root, file)}: cites ${id}, which docs/spec does not define`);
    for (const [id] of text.replaceAll(IN_FULL, '').matchAll(RULE)) cited.add(id);
  }
}
for (const [id, file] of rules) if (!cited.has(id)) failures.push(`${file}: no test cites rule ${id}`);

// The conformance suite asks for every rule that a client can see; what none can is listed with the reason. coverage.test.ts holds the rest.
const asked = new Set();
for (const file of walk(join(root, 'packages/conformance/src/levels'), /\.ts$/))
  for (const [id] of readFileSync(file, 'utf8').matchAll(RULE)) asked.add(id);
for (const [, letters, first, last = first] of readFileSync(join(root, 'test/conformance/not-on-the-wire.ts'), 'utf8').matchAll(
  /\b([A-Z]{2})(\d+)(?:–\1(\d+))?/g,
))
  for (let number = Number(first); number <= Number(last); number += 1) asked.add(`${letters}${number}`);
for (const [id, file] of rules) {
  if (!asked.has(id))
    failures.push(`${file}: ${id} needs a check in packages/conformance/src/levels, or a place in test/conformance/not-on-the-wire.ts`);
}

// What a comment cites as (BS2) must be one thing: an invariant is numbered with letters that no other file and no rule has.
const owners = new Map([...rules.keys()].map((id) => [id.replace(/\d+$/, ''), 'docs/spec']));
for (const file of walk(join(root, 'packages'), /\.tsx?$|\.m?js$/)) {
  const own = new Set();
  for (const [, label, letters] of readFileSync(file, 'utf8').matchAll(/^(?: \*|\/\/) (([A-Z]{1,3})\d+) {2}\S/gm)) {
    const owner = owners.get(letters) ?? file;
    if (owner !== file)
      failures.push(`${relative(root, file)}: the invariant ${label} has letters of ${relative(root, owner)}; take others`);
    else if (own.has(label)) failures.push(`${relative(root, file)}: the invariant ${label} is there twice`);
    own.add(label);
    owners.set(letters, owner);
  }
}

const documents = [
  ...walk(join(root, 'docs'), /\.md$/),
  ...readdirSync(root)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(root, name)),
];
const anchors = new Map();
for (const file of documents) {
  for (const [, target, anchor] of readFileSync(file, 'utf8').matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
    const path = target === '' ? file : resolve(dirname(file), target);
    if (!existsSync(path)) failures.push(`${relative(root, file)}: link to ${target} leads nowhere`);
    else if (anchor !== undefined && path.endsWith('.md')) {
      if (!anchors.has(path)) anchors.set(path, new Set(headingIds(readFileSync(path, 'utf8'))));
      if (!anchors.get(path).has(anchor)) failures.push(`${relative(root, file)}: ${target} has no heading #${anchor}`);
    }
  }
}

// Decisions are pages by subject that are edited, not a diary.
const MAX_DECISIONS = 15;
const decisions = readdirSync(join(root, 'docs/decisions'));
if (decisions.length > MAX_DECISIONS) failures.push(`docs/decisions: ${decisions.length} pages, at most ${MAX_DECISIONS}`);
for (const name of decisions)
  if (/^\d/.test(name)) failures.push(`docs/decisions/${name}: pages have a subject and no date; write into the page on its subject`);

if (failures.length > 0) {
  process.stdout.write(`${[...new Set(failures)].join('\n')}\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(`${rules.size} rules, each cited by a test; ${documents.length} documents\n`);
}
