#!/usr/bin/env node
// Makes the documentation as a site, `npm run docs [-- FOLDER] [--source URL]` (default dist/docs): static files that need no server and no
// other host. A link that leads nowhere is an error. Links to source files become links below URL, or plain words without one.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { isRecent, nodeBinary } from './node-binary.mjs';
import { root } from './setup.mjs';

// The renderer is written in TypeScript in part, which older Nodes do not read.
if (!isRecent()) {
  const { status } = spawnSync(nodeBinary(root), process.argv.slice(1), { cwd: process.cwd(), stdio: 'inherit' });
  process.exit(status ?? 1);
}
const { renderMarkdown } = await import('./docs-site/render-markdown.mjs');
const { pageFrame } = await import('./docs-site/page-frame.mjs');

const { positionals, values } = parseArgs({ allowPositionals: true, options: { source: { type: 'string' } } });
const target = resolve(positionals[0] ?? join(root, 'dist/docs'));
const failures = [];

const allIn = (folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const USE = [
  'install',
  'guide',
  'terminal',
  'settings',
  'triggers',
  'notifications',
  'tools',
  'schema',
  'remote',
  'kubernetes',
  'postgres',
  'deploy',
  'teams',
  'governance',
  'operations',
  'capacity',
  'evaluation',
  'document-clients',
];
const PROJECT = ['ui', 'benchmarks', 'conformance', 'rules'];
const GROUPS = [
  { name: 'Use', files: ['README.md', ...USE.map((name) => `docs/${name}.md`)] },
  { name: 'Contracts', files: allIn('docs/contracts') },
  { name: 'Project', files: ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...PROJECT.map((name) => `docs/${name}.md`)] },
  { name: 'Rules', files: allIn('docs/spec') },
  { name: 'Decisions', files: allIn('docs/decisions') },
];
const listed = new Set(GROUPS.flatMap(({ files }) => files));
for (const file of allIn('docs')) if (!listed.has(file)) failures.push(`scripts/docs.mjs: ${file} stands in no group`);

/** A folder of documents leads to the first page of its group. */
const pathOf = (file) => (file === 'README.md' ? 'index.html' : file.replace(/\.md$/, '.html'));
const pages = new Map([...listed].map((file) => [file, { file, path: pathOf(file), ...rendered(file) }]));
const groups = GROUPS.map(({ name, files }) => ({ name, pages: files.map((file) => pages.get(file)) }));
checkAnchors();
if (failures.length > 0) {
  process.stdout.write(`${failures.join('\n')}\n`);
  process.exit(1);
}
write();

function rendered(file) {
  const links = [];
  const { html, sections } = renderMarkdown(readFileSync(join(root, file), 'utf8'), (link) => addressOf(file, link, links));
  return { html, sections, links, title: sections[0].title };
}

/** The address on the site of what `link` names in `file`. */
function addressOf(file, link, links) {
  if (/^[a-z]+:/.test(link)) return link;
  const [name, anchor] = link.split('#');
  const named = name === '' ? file : posix.join(posix.dirname(file), name).replace(/\/$/, '');
  if (!existsSync(join(root, named))) failures.push(`${file}: the link ${link} leads nowhere`);
  const found = listed.has(named) ? named : [...listed].find((one) => posix.dirname(one) === named && named.startsWith('docs/'));
  if (found === undefined) {
    if (named.startsWith('docs/') && existsSync(join(root, named)) && statSync(join(root, named)).isFile()) return link;
    return values.source && `${values.source.replace(/\/$/, '')}/${named}`;
  }
  if (anchor) links.push({ to: found, anchor });
  return name === '' ? link : `${relative(dirname(file), pathOf(found))}${anchor ? `#${anchor}` : ''}`;
}

function checkAnchors() {
  for (const { file, links } of pages.values())
    for (const { to, anchor } of links)
      if (!pages.get(to).sections.some(({ id }) => id === anchor)) failures.push(`${file}: ${to} has no heading #${anchor}`);
}

function write() {
  rmSync(target, { recursive: true, force: true });
  for (const page of pages.values()) {
    const toRoot = '../'.repeat(page.path.split('/').length - 1);
    mkdirSync(dirname(join(target, page.path)), { recursive: true });
    writeFileSync(join(target, page.path), pageFrame({ ...page, groups, toRoot }));
  }
  const own = (name) => join(root, 'scripts/docs-site', name);
  for (const name of ['site.js', 'theme.js']) cpSync(own(name), join(target, name));
  writeFileSync(join(target, 'site.css'), `${tokens()}\n${readFileSync(own('site.css'), 'utf8')}`);
  writeFileSync(join(target, 'search-index.js'), `window.tendonDocs = ${JSON.stringify(searchIndex())};\n`);
  cpSync(join(root, 'packages/web/public/icon.svg'), join(target, 'icon.svg'));
  cpSync(join(root, 'docs/pictures'), join(target, 'docs/pictures'), { recursive: true });
  cpSync(join(root, 'docs/executor-openapi.json'), join(target, 'docs/executor-openapi.json'));
  process.stdout.write(`${join(target, 'index.html')}: ${pages.size} pages\n`);
}

/** The colours of the web app, whose build reads them in a form of its own. */
function tokens() {
  return readFileSync(join(root, 'packages/web/src/styles/tokens.css'), 'utf8')
    .replace(/@theme(?: static)? \{/g, ':root {')
    .replace(/^ *--[\w-]+\*: initial;\n/gm, '');
}

function searchIndex() {
  return [...pages.values()].flatMap(({ title, path, sections }) =>
    sections.map((section) => ({ page: title, title: section.title, text: section.text, path: `${path}#${section.id}` })),
  );
}
