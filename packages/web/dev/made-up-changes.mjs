// What the made-up workspaces have changed, and a review of it that is played in memory.
import { json } from 'node:stream/consumers';

const LINES = Array.from({ length: 40 }, (_, index) => `  const step${index + 1} = read(${index + 1});`);
const BEFORE = [
  "import { parse } from 'csv';",
  '',
  'export function readCsv(text) {',
  "  const records = parse(text, { delimiter: ',', columns: true });",
  '  return records;',
  '}',
  ...LINES,
];
const AFTER = BEFORE.with(3, '  const delimiter = opts.delimiter ?? sniff(text);')
  .toSpliced(4, 0, '  const records = parse(text, { delimiter, columns: true });')
  .with(45, '  const step39 = skip(39);');
const FILES = {
  'packages/import/src/read-csv.ts': {
    status: 'M',
    original: `${BEFORE.join('\n')}\n`,
    modified: `${AFTER.join('\n')}\n`,
    added: 3,
    removed: 2,
  },
  'packages/import/src/sniff.ts': {
    status: 'A',
    original: null,
    modified: 'export function sniff(text) {\n  return text.includes(";") ? ";" : ",";\n}\n',
    added: 3,
    removed: 0,
  },
  'samples/sample_10.csv': { status: 'D', original: 'a,b\n1,2\n', modified: null, added: 0, removed: 2 },
  'samples/sample_2.csv': { status: 'M', original: 'a,b\n1,2\n', modified: 'a;b\n1;2\n', added: 2, removed: 2 },
};
const REMOTE = { provider: 'github', repository: 'harbor/ledger', has_token: true };

/** Of a conversation: what was reverted, committed and branched off while the server runs. */
const played = new Map();

/** Answers a request about changes; false where it is about something else. `filesOf` has the files of conversations that have others, by what they are compared with. */
export async function serveChanges(request, response, filesOf = () => undefined) {
  const { pathname, searchParams } = new URL(request.url, 'http://x');
  const match = /^\/api\/conversations\/([^/]+)\/changes(?:\/([\w-]+))?$/.exec(pathname);
  if (!match) return false;
  const [, id, act = 'list'] = match;
  const state = played.get(id) ?? { reverted: new Set(), branch: 'fix/csv-semicolon', committed: false };
  played.set(id, state);
  const body = request.method === 'POST' ? await json(request) : undefined;
  const answer = ACTS[act]?.(state, { body, query: searchParams, id, all: filesOf(id, searchParams.get('against')) ?? FILES });
  response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer ?? { message: 'There is no such file, now or before' }));
  return true;
}

/** One restored checkpoint takes back what was reverted. */
export function takeBack(id) {
  played.get(id)?.reverted.clear();
}

const done = { event_id: 99, exit_code: 0, output: '' };
const ACTS = {
  list: ({ reverted }, { id, query, all }) => {
    if (id === 'done' && !query.get('against')?.startsWith('event:'))
      return { state: 'suspended', base: { kind: 'now', checkpoint: null, made_at: null, note: null }, count: 0, files: [] };
    const files = Object.entries(all)
      .filter(([path]) => !reverted.has(path))
      .map(([path, { status, added, removed }]) => ({ path, status, added, removed }));
    return {
      state: 'compared',
      base: { kind: 'checkpoint', checkpoint: 1, made_at: '2026-11-20T10:38:00Z', note: null },
      count: files.length,
      files,
    };
  },
  file: (_state, { query, all }) => {
    const found = all[query.get('path')];
    return found && { original: found.original, modified: found.modified, version: 'v1' };
  },
  repository: ({ branch, committed }, { all }) => {
    const paths = committed ? [] : Object.keys(all);
    const repository = { folder: '', branch, ahead: committed ? 1 : 0, branches: [branch, 'main'], default_branch: 'main', remote: REMOTE };
    return { state: 'compared', repository: { ...repository, uncommitted: { count: paths.length, paths } } };
  },
  revert: ({ reverted }, { body: { path, hunk } }) => {
    if (!hunk) reverted.add(path);
    return { event_id: 98, undo: { checkpoint: 3, paths: [path] } };
  },
  commit: (state) => ((state.committed = true), done),
  branch: (state, { body }) => ((state.branch = body.name), done),
  'pull-request': () => ({ url: 'https://github.example/harbor/ledger/pull/11', event_id: 99 }),
};
