// A server of made-up conversations, for work on the look of the app and for what a real server would take long to make:
//   node packages/web/dev/fixture-server.mjs [port]
// It speaks just enough REST and Socket.IO, and serves `packages/web/dist`. Not shipped.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { Server } from 'socket.io';
import * as madeUp from './made-up.mjs';
import { settingsAnswers } from './settings-answers.mjs';
import { serveChanges, takeBack } from './made-up-changes.mjs';

const dist = join(import.meta.dirname, '../dist');
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

/** `eventsOf(id)` gives a conversation's wire events, `filesOf(id)` what it changed. Answers the address, and `close`. */
export async function startFixture(options = {}) {
  const { port = 0, conversations = madeUp.CONVERSATIONS, eventsOf = madeUp.eventsOf, filesOf, model = 'demo' } = options;
  const answers = {
    'GET /api/conversations': () => ({ results: conversations, next_page_id: null }),
    ...settingsAnswers(),
    'GET /api/search': () => ({ hits: [HIT], is_partial: false }),
    'GET /api/user/repositories': () => REPOSITORIES,
    'GET /api/user/repository/branches': () => ({ branches: [{ name: 'main' }, { name: 'release' }], has_next_page: false }),
    'GET /api/settings': () => ({ agent: 'CodeActAgent', llm_model: model, ...stored }),
    'GET /api/options/security-analyzers': () => ['invariant', 'llm', 'model', 'rules'],
    'POST /api/models/probe': () => probeOf({ llm_model: model, ...stored }),
    'GET /api/options/models': () => ['demo', 'openai/gpt-4o', 'anthropic/claude-sonnet-4-20250514'],
    'GET /api/options/agents': () => ['CodeActAgent', 'ExploreAgent', 'PlanAgent'],
    'POST /api/settings': () => ({ message: 'Settings stored' }),
    'GET /api/secrets': () => ({ custom_secrets: [...secrets.values()] }),
    'GET /api/rules': () => RULES,
    'DELETE /api/rules/push': () => ({ rules: (RULES.rules = RULES.rules.filter(({ id }) => id !== 'push')) }),
    'GET /api/mcp/logins': () => ({ servers: MCP_SERVERS }),
    'POST /api/mcp/logins': () => {
      // As if the person had permitted it at once: the next look finds the login.
      setTimeout(() => (MCP_SERVERS[0].state = 'logged_in'));
      return { authorization_url: 'https://login.tickets.example/authorize?state=made-up', expires_in: 600 };
    },
    'DELETE /api/mcp/logins': () => {
      MCP_SERVERS[0].state = 'logged_out';
      return { message: 'Logged out' };
    },
    'GET /api/triggers': () => TRIGGERS,
    'GET /api/triggers/nightly/deliveries': () => ({ deliveries: [DELIVERY] }),
    'GET /api/triggers/builds/deliveries': () => ({ deliveries: [] }),
    'PATCH /api/triggers/nightly': () => Object.assign(TRIGGERS.triggers[0], { enabled: false }),
    'DELETE /api/triggers/builds': () => ((TRIGGERS.triggers = TRIGGERS.triggers.slice(0, 1)), { revoked: true }),
    'GET /api/extensions': () => EXTENSIONS,
    'GET /server_info': () => ({ uptime: 1, sandbox: { driver: 'docker', strength: 'container' }, model }),
  };
  const changed = new Map();
  let stored = {};
  const secrets = new Map();
  const answered = new Map();
  const http = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x');
    const single = /^\/api\/conversations\/([^/]+)$/.exec(pathname);
    if (pathname === '/api/secrets' && request.method === 'POST') return storeSecret(secrets, await json(request), response);
    if (pathname.startsWith('/api/secrets/') && request.method === 'PUT') return storeSecret(secrets, await json(request), response);
    if (pathname.startsWith('/api/secrets/') && secrets.delete(pathname.split('/').at(-1))) return response.end('{}');
    if (pathname === '/api/settings' && request.method === 'POST') stored = shownOf(await json(request));
    if (pathname.endsWith('/question') && request.method === 'POST') {
      const id = pathname.split('/').at(-2);
      const given = await json(request);
      answered.set(id, given);
      for (const socket of io.sockets.sockets.values()) if (socket.handshake.query.conversation_id === id) socket.act(decisionOf(given));
      return response.setHeader('content-type', 'application/json').end('{"success":true}');
    }
    if (single && request.method === 'PATCH') changed.set(single[1], await json(request));
    if (await serveChanges(request, response, filesOf)) return undefined;
    if (pathname.endsWith('/restore')) takeBack(pathname.split('/')[3]);
    if (pathname.startsWith('/api/conversations/') && (await serveFiles(request, response))) return undefined;
    const answer =
      answers[`${request.method} ${pathname}`] ??
      (/^\/api\/.*\/network$/.test(pathname) ? () => NETWORK : undefined) ??
      (pathname.endsWith('/events') ? () => filtered(eventsOf(pathname.split('/').at(-2)), new URL(request.url, 'http://x')) : undefined) ??
      (/^\/api\/conversations\/[^/]+\/models$/.test(pathname)
        ? () => modelsOf(changed.get(pathname.split('/').at(-2)) ?? {})
        : undefined) ??
      (pathname.endsWith('/git/changes') ? () => [{ status: 'M', path: 'src/read-csv.ts' }] : undefined) ??
      (pathname.endsWith('/question') ? () => questionOf(pathname.split('/').at(-2), eventsOf, answered) : undefined) ??
      (pathname.endsWith('/web-hosts') ? () => ({ hosts: {} }) : undefined) ??
      (pathname.includes('/confirmation/rules') ? () => ruled(pathname, request.method) : undefined) ??
      (pathname.endsWith('/confirmation/trial') ? () => ({ decisions: 40, allowed: 3, rejected: 1 }) : undefined) ??
      (pathname.endsWith('/confirmation/always') ? () => CONFIRMATION : undefined) ??
      (pathname.endsWith('/confirmation') ? () => confirmationOf(request, pathname.split('/').at(-2)) : undefined) ??
      (pathname.endsWith('/events') ? () => pageOf(eventsOf(pathname.split('/').at(-2)), searchParams) : undefined) ??
      UNDOING[pathname.split('/').at(-1)] ??
      (single && (() => oneOf(conversations, single[1], changed)));
    if (answer) return response.setHeader('content-type', 'application/json').end(JSON.stringify(await answer(request, response)));
    if (pathname.startsWith('/api/')) return response.writeHead(404).end('{}');
    const file = extname(pathname) ? pathname : '/index.html';
    const body = await readFile(join(dist, file)).catch(() => undefined);
    if (!body) return response.writeHead(404).end();
    return response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream').end(body);
  });
  const io = new Server(http);
  io.on('connection', (socket) => converse(socket, eventsOf));
  await new Promise((resolve) => http.listen(port, '127.0.0.1', resolve));
  const close = async () => {
    const closed = io.close();
    // A browser keeps some open, and asks nothing more over them.
    http.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${http.address().port}`, close };
}

const FILES = new Map([
  ['README.md', '# Ledger\n\nImports bank statements.\n'],
  [
    'src/read-csv.ts',
    "import { parse } from './parse.ts';\n\n/** Rows of a file. */\nexport function readCsv(text: string): Row[] {\n  return parse(text, { delimiter: ';' });\n}\n",
  ],
  ['src/logo.svg', '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="90"><rect width="160" height="90" fill="teal"/></svg>'],
]);

/** The files of every conversation. */
async function serveFiles(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://x');
  const path = searchParams.get('path') ?? searchParams.get('file') ?? '';
  const answer = (body, status = 200) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  switch (pathname.split('/').slice(4).join('/')) {
    case 'list-files':
      return answer(path ? [...FILES.keys()].filter((name) => name.startsWith(path)) : ['src/', 'README.md']);
    case 'select-file':
      return FILES.has(path) ? answer({ code: FILES.get(path) }) : answer({ error: `ENOENT: no such file ${path}` }, 404);
    case 'files/download':
      return response.end(FILES.get(path));
    case 'save-file': {
      const { filePath, content, replaces } = await json(request);
      if (replaces !== undefined && replaces !== FILES.get(filePath)) return answer({ error: `${filePath} has changed` }, 409);
      FILES.set(filePath, content);
      return answer({ message: 'File saved successfully' });
    }
    case 'upload-files':
      request.resume();
      return answer({ uploaded_files: ['/workspace/a.txt'], skipped_files: [] });
    default:
      return undefined;
  }
}

const HIT = {
  conversation_id: 'kinds',
  title: 'Find the flaky test in the sync suite',
  event_id: 4,
  timestamp: new Date().toISOString(),
  from: 'the agent',
  excerpt: 'the otter likes marmalade',
};
const REPOSITORIES = [{ full_name: 'harbor/ledger', git_provider: 'github', main_branch: 'main' }];
const MCP_SERVERS = [
  { name: 'tickets', url: 'https://tickets.example/mcp', state: 'logged_out', logged_in_at: null },
  { name: 'search', url: 'https://search.example/mcp', state: 'key', logged_in_at: null },
];
const TRIGGERS = {
  triggers: [
    { id: 'nightly', name: 'nightly update', kind: 'schedule', enabled: true, schedule: { cron: '0 3 * * *' } },
    { id: 'builds', name: 'failed builds', kind: 'webhook', enabled: true, schedule: null },
  ],
};
const DELIVERY = { id: '1', name: '', received_at: new Date().toISOString(), state: 'done', conversation_id: 'done' };
const EXTENSIONS = {
  tools: [{ name: 'look_up', description: 'Looks up a customer.', file: '/home/ann/.tendon/tools/look-up.ts', is_read_only: true }],
  hooks: [{ name: 'guard', moment: 'before_action', match: 'run', command: './guard.sh', blocks_on_failure: true }],
  plugins: [{ id: 'shop', version: '1.0.0', description: '', is_enabled: false, brings: ['skills', '1 hook'] }],
  problems: ['The tool draft.ts does not count: run: a function is expected. See tendon tools.'],
};

/** What a conversation asks; what was chosen for it counts. */
function modelsOf({ llm_effort: effort = null, llm_fallback_model: fallback = null }) {
  return {
    model: { value: 'demo', by: 'server' },
    effort: effort ? { value: effort, by: 'conversation' } : { value: 'high', by: 'settings' },
    fallback: { value: fallback, by: fallback ? 'conversation' : 'nobody' },
    small: { value: 'demo/small', by: 'server' },
  };
}

/** Keys never come back. */
function shownOf(settings) {
  const entries = Object.entries(settings);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (!name.endsWith('_api_key') ? [[name, value]] : value ? [[`${name}_set`, true]] : [])),
  );
}

/** A model works when it has a key. */
function probeOf({ llm_model: model, llm_api_key_set: hasKey }) {
  const found = { model, use: 'main', tools: true, parallel_calls: true, images: null, streaming: true, context_window: 200_000 };
  return { ...found, failure: hasKey ? null : 'HTTP 401, Incorrect API key provided', tokens: 240, cost_usd: 0 };
}

/** By the last name of the path. */
const UNDOING = {
  checkpoints: () => ({
    checkpoints: [{ number: 3, made_at: new Date().toISOString(), event_id: 0, restore_id: null, files: 4 }],
    left_out: [],
    off: null,
  }),
  changes: () => ({
    checkpoint: 3,
    count: 2,
    changes: [
      { path: 'packages/import/src/read-csv.ts', change: 'changed' },
      { path: 'samples/comma.csv', change: 'removed' },
    ],
  }),
  restore: () => ({ status: 'restored', event_id: 99, changed: 2, left: [] }),
  fork: () => ({ conversation_id: 'done', event_id: 9, checkpoint: 3, left: [] }),
};

function oneOf(conversations, id, changed) {
  const found = [...conversations, ...madeUp.UNLISTED].find((one) => one.conversation_id === id);
  return found ? { ...found, ...changed.get(id) } : null;
}

const CONFIRMATION = {
  mode: 'rules',
  mode_by: 'server',
  analyzer: 'rules',
  analyzer_by: 'server',
  rules: [],
  general_rules: [],
  suggestions: [{ decision: 'allow', command: 'git push' }],
};

/** Of a conversation: the policy that was chosen while the server runs. */
const policies = new Map();

async function confirmationOf(request, id) {
  if (request.method === 'PUT') policies.set(id, { ...policies.get(id), ...(await json(request)) });
  const { policy, analyzer } = policies.get(id) ?? {};
  const own = { ...(policy && { mode: policy, mode_by: 'conversation' }), ...(analyzer && { analyzer, analyzer_by: 'conversation' }) };
  return { ...CONFIRMATION, ...own };
}

const NETWORK = {
  mode: 'allowlist',
  allow: ['registry.example'],
  allow_private: [],
  refused: [{ host: 'ads.example', port: 443, reason: 'not on the list', count: 3 }],
  reached: [],
  questions: [],
};

/** As the route for events finds them. */
function filtered(events, { searchParams }) {
  const {
    include_types: wanted,
    exclude_types: unwanted,
    source,
    start_id: from = 0,
    reverse,
    query: words,
    limit = 20,
  } = Object.fromEntries(searchParams);
  const kind = (event) => event.action ?? event.observation;
  const found = events.filter(
    (event) =>
      event.id >= Number(from) &&
      (!source || event.source === source) &&
      (!words || JSON.stringify(event).toLowerCase().includes(words.toLowerCase())) &&
      (!wanted || wanted.split(',').includes(kind(event))) &&
      (!unwanted || !unwanted.split(',').includes(kind(event))),
  );
  return { events: (reverse ? found.toReversed() : found).slice(0, Number(limit)), has_more: found.length > Number(limit) };
}

/** What its last events wait for, until that was answered. */
function questionOf(id, eventsOf, answered) {
  const events = eventsOf(id);
  const action =
    events.findLast(({ args }) => args?.confirmation_state === 'awaiting_confirmation') ??
    events.findLast((event) => event.action === 'message' && event.source === 'agent');
  const kind = action?.action === 'message' ? 'question' : 'confirmation';
  return { question: answered.has(id) || !action ? null : { kind, event_id: action.id, asked_at: action.timestamp, action } };
}

function decisionOf({ answer, text = '' }) {
  if (answer === 'reply') return { action: 'message', args: { content: text } };
  const agent_state = answer === 'approve' ? 'user_confirmed' : 'user_rejected';
  return { action: 'change_agent_state', args: { agent_state, thought: text } };
}

function storeSecret(secrets, { name, hosts }, response) {
  secrets.set(name, { name, description: null, ...(hosts.length > 0 && { hosts }) });
  response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
}

const RULES = {
  rules: [
    { id: 'push', rule: { decision: 'deny', command: 'git push' } },
    { id: 'docs', rule: { decision: 'allow', path: '/workspace/docs', repository: 'acme/shop' } },
  ],
};

/** Of a conversation: what was saved while the server runs. */
const saved = new Map();

function ruled(pathname, method) {
  const [, , , id, , , rule] = pathname.split('/');
  if (method === 'POST') saved.set(id, [{ id: 'always', rule: CONFIRMATION.suggestions[0] }]);
  if (method === 'DELETE')
    saved.set(
      id,
      (saved.get(id) ?? []).filter((one) => one.id !== rule),
    );
  return { rules: saved.get(id) ?? [] };
}

function converse(socket, eventsOf) {
  const { conversation_id: id, latest_event_id: latest, tail } = socket.handshake.query;
  const events = eventsOf(id);
  let nextId = events.at(-1).id + 1;
  const from = Number(latest) + 1;
  const first = tail ? Math.max(from, nextId - Number(tail)) : from;
  socket.emit('tendon_volatile', { volatile: 'replay', phase: 'begin' });
  if (first > from) socket.emit('tendon_volatile', tailFrame(events, { from, first_id: first, next_id: nextId }));
  for (const event of events.filter((one) => one.id >= first)) socket.emit('oh_event', event);
  socket.emit('tendon_volatile', { volatile: 'replay', phase: 'end', next_id: nextId });
  const say = (event) => socket.emit('oh_event', { id: nextId++, timestamp: new Date().toISOString(), source: 'agent', ...event });
  const state = (agent_state) => say({ observation: 'agent_state_changed', content: '', extras: { agent_state, reason: '' } });
  socket.act = (action) => {
    say({ ...action, source: 'user' });
    if (action.args.agent_state === 'user_rejected') {
      const reason = action.args.thought ? ` Their reason: ${action.args.thought}` : '';
      say({ observation: 'user_rejected', content: `The user rejected this action.${reason}`, extras: {} });
      state('running');
    } else if (action.action === 'change_agent_state') state(action.args.agent_state);
    if (action.action === 'message') state('running');
  };
  socket.on('oh_user_action', socket.act);
  if (id === 'running') speak(socket, nextId);
}

/** What a server reports of the events that it leaves out. */
function tailFrame(events, { next_id, ...range }) {
  const last = events.findLast((event) => event.observation === 'agent_state_changed');
  const message = events.findLast((event) => event.source === 'user' && event.action === 'message');
  const { agent_state = 'init', reason = '' } = last?.extras ?? {};
  const state = { next_id, agent_state, reason, pending: [], last_user_message_id: message?.id ?? -1, last_agent_event_id: next_id - 1 };
  return { volatile: 'replay', phase: 'tail', ...range, state };
}

/** A page of them, as `GET …/events` has it. */
function pageOf(events, query) {
  const [from, to, limit] = ['start_id', 'end_id', 'limit'].map((name) => Number(query.get(name)));
  const found = events.filter(({ id }) => id >= from && id <= to);
  return { events: found.slice(0, limit), has_more: found.length > limit };
}

/** A partial answer, in small pieces. */
function speak(socket, turn) {
  const text =
    'The numbers are taken from a counter in memory, so two processes can give the same one. A sequence in the database cannot.\n\nI will add `invoice_number_seq` and fill the old rows.';
  let at = 0;
  const timer = setInterval(() => {
    if (at >= text.length) return clearInterval(timer);
    socket.emit('tendon_volatile', { volatile: 'delta', turn, part: 'text', offset: at, text: text.slice(at, at + 6) });
    at += 6;
  }, 30);
  socket.on('disconnect', () => clearInterval(timer));
}

if (import.meta.main) {
  const { url } = await startFixture({ port: Number(process.argv[2] ?? 3100), model: process.env.MODEL });
  process.stdout.write(`${url}\n`);
}
