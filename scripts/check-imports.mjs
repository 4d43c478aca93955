#!/usr/bin/env node
// Holds the dependency table of ARCHITECTURE.md: which package may import which, in which order the folders of a package lie, no
// cycles between files, nothing of Node in the roots that run in a browser, no import that package.json does not declare.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const ALLOWED = {
  protocol: [],
  core: ['protocol'],
  executor: ['protocol'],
  runtime: ['protocol', 'core'],
  server: ['protocol', 'core', 'runtime'],
  'sandbox-host': ['server', 'runtime', 'core', 'protocol'],
  client: ['protocol'],
  web: ['client', 'protocol'],
  conformance: ['client', 'protocol'],
  cli: ['server', 'sandbox-host', 'conformance', 'client', 'protocol'],
  testing: [],
};
/**
 * The folders of a package, and the files beside them, from top to bottom: each imports only what stands below it, types included.
 * What shares a line does not import one another.
 */
const LAYERS = {
  protocol: [
    ['index'],
    ['dialects', 'json-schema'],
    ['partial-answer'],
    ['volatile'],
    ['executor-api', 'node', 'secrets', 'async'],
    ['rest'],
    ['codec', 'reduce', 'model-answer'],
    ['answered-by', 'kind-shapes', 'notice'],
    ['event'],
    ['kinds'],
    ['events'],
    ['define'],
    ['agent-state', 'cut-middle', 'patched-paths', 'error-catalog', 'parsed', 'read-shape'],
  ],
  core: [
    ['index'],
    ['conversation'],
    ['engine'],
    ['prompt'],
    ['agents'],
    ['tools', 'knowledge', 'policy'],
    ['sandbox'],
    ['llm'],
    ['storage'],
    ['scheduling'],
    ['log'],
    ['async'],
  ],
  executor: [
    ['main'],
    ['create-executor'],
    ['http'],
    ['suspend'],
    ['plugins'],
    ['jupyter', 'browser', 'editor', 'diagnostics'],
    ['checkpoints'],
    ['effects', 'files', 'ports'],
    ['shell'],
    ['processes'],
    ['text', 'action-handler', 'observation', 'wait-for', 'config', 'proxy-forwarder', 'testing'],
  ],
  runtime: [
    ['index'],
    ['pool'],
    ['python-packages'],
    ['sandbox'],
    ['drivers/other-reapers'],
    ['drivers/docker', 'drivers/kubernetes', 'drivers/local', 'drivers/none', 'drivers/remote'],
    ['drivers/bubblewrap'],
    ['drivers/start'],
    ['drivers/driver', 'drivers/seccomp'],
    ['executor-host-api'],
    ['workspace', 'disk', 'processes', 'egress'],
    ['transport', 'incarnation', 'size-text'],
  ],
  server: [
    ['index'],
    ['headless', 'main'],
    ['app'],
    ['cluster'],
    ['compat', 'web-app', 'erasure'],
    ['realtime', 'mcp', 'import', 'backup', 'triggers'],
    ['knowledge', 'review'],
    ['git', 'events', 'previews', 'secrets', 'access', 'push'],
    ['files', 'settings', 'checkpoints', 'retention'],
    ['conversations'],
    ['git-providers', 'replay', 'extensions'],
    ['sandboxes', 'observability', 'audit', 'limits'],
    ['platform'],
  ],
  'sandbox-host': [
    ['index'],
    ['start-executor-host', 'inject-executor'],
    ['host-openapi'],
    ['host-app'],
    ['refuse-earlier-owners'],
    ['routes'],
    ['host-refusal'],
    ['host-context'],
    ['hosted-sandboxes'],
    ['sandbox-calls', 'sandbox-questions', 'owner-epoch'],
  ],
  client: [['index'], ['create-client'], ['connection', 'create-rest'], ['rest'], ['actions', 'new-id']],
  conformance: [['index'], ['run', 'report'], ['levels'], ['result'], ['check'], ['target'], ['model']],
  cli: [
    ['main'],
    ['program'],
    [
      'chat-command',
      'acp-command',
      'ls-command',
      'show-command',
      'open-command',
      'rm-command',
      'config-command',
      'completion-command',
      'serve-command',
      'run-command',
      'undo-command',
      'fork-command',
      'export-command',
      'import-command',
      'eval-command',
      'replay-command',
      'backup-command',
      'restore-command',
      'migrate-command',
      'doctor-command',
      'drain-command',
      'models-command',
      'mcp-command',
      'hooks-command',
      'notes-command',
      'triggers-command',
      'plugins-command',
      'tools-command',
      'sandboxes-command',
      'keys-command',
      'users-command',
      'rules-command',
      'audit-command',
      'retention-command',
      'secrets-command',
      'executor-command',
      'conformance-command',
      'schema-command',
    ],
    ['home-commands', 'eval', 'chat', 'acp'],
    ['doctor', 'export', 'models', 'replay', 'run', 'sandboxes', 'schema', 'triggers', 'undo'],
    ['attach'],
    ['terminal'],
    ['add-command', 'environment-options', 'heap-growth'],
  ],
  web: [['main'], ['app'], ['pages'], ['stream', 'workbench', 'composer'], ['conversation'], ['code'], ['copy'], ['ui'], ['lib', 'styles']],
};
/** Entries whose whole graph must be free of Node builtins. */
const BROWSER_SAFE = ['protocol/src/index.ts', 'protocol/src/reduce.ts', 'core/src/index.ts', 'client/src/index.ts'];
const ZOD_FREE = ['protocol/src/reduce.ts'];

const IMPORT = /^\s*(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;
const failures = [];

function* sources(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name === 'node_modules' || name === 'dist') continue;
    if (statSync(path).isDirectory()) yield* sources(path);
    else if (/\.tsx?$/.test(name)) yield path;
  }
}

function importsOf(file) {
  const found = [];
  for (const [, type, from, dynamic] of readFileSync(file, 'utf8').matchAll(IMPORT))
    found.push({ type: Boolean(type), dynamic: Boolean(dynamic), specifier: from ?? dynamic });
  return found;
}

const isBuiltin = (specifier) => specifier.startsWith('node:') || builtinModules.includes(specifier);
const packageName = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** A folder of a package's `src` or a file beside the folders, without its ending; of a folder that the table takes apart, what lies in it. */
function layerName(layers, path) {
  const [first, second] = path.replace(/\.tsx?$/, '').split('/');
  return layers.flat().some((name) => name.startsWith(`${first}/`)) ? `${first}/${second}` : first;
}

function checkLayers(name, where, target) {
  const layers = LAYERS[name];
  if (layers === undefined || target.startsWith('..')) return;
  const [from, to] = [where.split('/src/')[1], target].map((path) => layerName(layers, path));
  const [upper, lower] = [from, to].map((one) => layers.findIndex((layer) => layer.includes(one)));
  if (upper < 0 || lower < 0) failures.push(`${where}: ${upper < 0 ? from : to} has no place among the layers of ${name}`);
  else if (from !== to && upper >= lower) failures.push(`${where}: ${from} may not import ${to}`);
}

const graph = new Map();
for (const [name, allowed] of Object.entries(ALLOWED)) {
  const folder = join(root, 'packages', name);
  if (!existsSync(join(folder, 'src'))) continue;
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const declared = new Set([
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.devDependencies ?? {}),
    ...Object.keys(manifest.peerDependencies ?? {}),
  ]);
  for (const file of sources(join(folder, 'src'))) {
    const test = /\.test(-support)?\.tsx?$|\/contract|\/src\/.*\btesting\//.test(file);
    const edges = [];
    for (const { type, specifier } of importsOf(file)) {
      const where = relative(root, file);
      if (specifier.startsWith('.')) {
        const target = resolve(dirname(file), specifier);
        if (!target.startsWith(folder)) failures.push(`${where}: leaves its package with ${specifier}`);
        if (!type) edges.push(target);
        if (!test && !/\/src\/.*\b(fixtures|testing)\//.test(where)) checkLayers(name, where, relative(join(folder, 'src'), target));
      } else if (specifier.startsWith('@tendon/')) {
        const other = specifier.split('/')[1];
        if (!allowed.includes(other) && !test) failures.push(`${where}: ${name} may not import ${other}`);
      } else if (!isBuiltin(specifier) && !test && !declared.has(packageName(specifier)) && !specifier.startsWith('virtual:')) {
        failures.push(`${where}: ${packageName(specifier)} is not in ${name}'s package.json`);
      }
    }
    graph.set(file, edges);
  }
}

function findCycle() {
  const done = new Set();
  const path = [];
  const visit = (file) => {
    if (done.has(file)) return undefined;
    const at = path.indexOf(file);
    if (at >= 0) return path.slice(at).concat(file);
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file);
    if (cycle) return cycle;
  }
  return undefined;
}

const cycle = findCycle();
if (cycle) failures.push(`import cycle: ${cycle.map((file) => relative(root, file)).join(' → ')}`);

function reachable(entry) {
  const seen = new Set();
  const queue = [entry];
  while (queue.length > 0) {
    const file = queue.pop();
    if (seen.has(file)) continue;
    seen.add(file);
    queue.push(...(graph.get(file) ?? []));
  }
  return seen;
}
for (const [entries, refuse, what] of [
  [BROWSER_SAFE, isBuiltin, 'a Node builtin'],
  [ZOD_FREE, (specifier) => packageName(specifier) === 'zod', 'zod'],
]) {
  for (const entry of entries) {
    for (const file of reachable(join(root, 'packages', entry))) {
      if (!existsSync(file)) continue;
      for (const { type, specifier } of importsOf(file)) {
        if (!type && refuse(specifier)) failures.push(`${relative(root, file)}: ${entry} must stay free of ${what}, here ${specifier}`);
      }
    }
  }
}

if (failures.length > 0) {
  process.stdout.write(`${failures.join('\n')}\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(`${graph.size} files, no forbidden import, no cycle\n`);
}
