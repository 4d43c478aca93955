import { createMemoryStorage } from '@tendon/core/storage';
import { createMask, Secret } from '@tendon/protocol/masking';
import type { AuditEntry, AuditPage } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { WebSocket } from 'ws';
import { allRoutes } from '../app/all-routes.test-support.ts';
import { needOf } from '../platform/auth/access-table.ts';
import { readConfig } from '../platform/config/config.ts';
import { createLogger } from '../platform/logger.ts';
import { systemClock as clock } from '../platform/system-clock.ts';
import { socketIoClient, testServer, type TestServer } from '../server.test-support.ts';
import { AUDITED } from './audited-routes.ts';
import { openAudit } from './open-audit.ts';

const KEY = 'the-key-of-a-session';
const owner = { 'x-session-api-key': KEY };
const audited = (env: Readonly<Record<string, string>> = {}) => testServer({ sessionApiKey: KEY, env: { TENDON_AUDIT: 'on', ...env } });

async function entriesOf(server: TestServer, query = ''): Promise<readonly AuditEntry[]> {
  const page = (await (await server.get(`/api/audit?${query}`, owner)).json()) as AuditPage;
  return page.entries;
}

/** Oldest first: action, target, outcome. */
const acts = async (server: TestServer) =>
  (await entriesOf(server)).map(({ action, target, outcome }) => [action, target, outcome]).toReversed();

it('SV1355: an act is in the log when it is answered, with who did it, to what and what came of it, and without a secret', async () => {
  const server = await audited();
  const answered = async (path: string, body: object, headers: Readonly<Record<string, string>> = owner) =>
    (await (await server.post(path, body, headers)).json()) as Readonly<Record<string, string>>;
  const made = await answered('/api/keys', { name: 'Ada', scope: 'admin' });
  const ada = { 'x-session-api-key': made['key']! };
  const { conversation_id: id = '' } = await answered('/api/conversations', {}, ada);
  const share = await answered(`/api/conversations/${id}/shares`, {}, ada);
  await answered('/api/secrets', { name: 'TOKEN', value: 'a-value-that-nobody-sees' }, ada);
  await answered('/api/secrets', { name: 'TOKEN', value: 'a-value-that-nobody-sees' }, ada);
  await answered('/api/settings', { llm_model: 'my/model', llm_api_key: 'sk-of-a-model-provider' }, ada);
  await server.get(`/api/conversations/${id}/trajectory?format=markdown`, ada);
  await fetch(`${server.url}/api/conversations/${id}`, { method: 'DELETE', headers: ada });
  await fetch(`${server.url}/api/conversations/${id}`, { method: 'DELETE', headers: ada });
  await fetch(`${server.url}/api/keys/${made['id']}`, { method: 'DELETE', headers: owner });
  const entries = await entriesOf(server);
  expect(await acts(server)).toEqual([
    ['server.started', null, 'done'],
    ['key.created', made['id'], 'done'],
    ['conversation.created', id, 'done'],
    ['share.created', share['id'], 'done'],
    ['secret.created', 'TOKEN', 'done'],
    ['secret.created', 'TOKEN', 'refused'],
    ['settings.changed', null, 'done'],
    ['conversation.exported', id, 'done'],
    ['conversation.deleted', id, 'done'],
    ['conversation.deleted', id, 'refused'],
    ['key.revoked', made['id'], 'done'],
  ]);
  const [created] = entries.filter(({ action }) => action === 'conversation.created');
  expect(created!.actor).toEqual({ user: null, name: `key ${made['id']}`, key: 'Ada', address: '127.0.0.1' });
  expect(entries.find(({ action }) => action === 'settings.changed')!.detail['fields']).toEqual(
    expect.arrayContaining(['llm_model', 'llm_api_key']),
  );
  const text = JSON.stringify(entries);
  for (const secret of ['a-value-that-nobody-sees', 'sk-of-a-model-provider', made['key']!, share['token']!, KEY])
    expect(text).not.toContain(secret);
  expect((await server.get('/api/audit', ada)).status).toBe(401);
});

itInFull('SV1355: so are a verdict over a socket and a shell of a person', async () => {
  const script = [{ toolCalls: [{ name: 'execute_bash', arguments: { command: 'true' } }] }, { text: 'Done.' }];
  const server = await testServer({ sessionApiKey: KEY, script, env: { TENDON_AUDIT: 'on', SECURITY_CONFIRMATION_MODE: 'true' } });
  const { conversation_id: id } = (await (await server.post('/api/conversations', {}, owner)).json()) as { conversation_id: string };
  const client = await socketIoClient(server, { conversation_id: id }, { extraHeaders: owner });
  client.send({ action: 'message', args: { content: 'go' } });
  await client.frames.untilState('awaiting_user_confirmation');
  client.send({ action: 'change_agent_state', args: { agent_state: 'user_confirmed' } });
  await expect.poll(() => entriesOf(server, 'action=action')).toHaveLength(1);
  const shell = new WebSocket(`${server.url.replace('http', 'ws')}/shell?conversation_id=${id}&columns=80&rows=24`, { headers: owner });
  await new Promise((resolve) => shell.once('message', resolve));
  shell.terminate();
  expect(await acts(server)).toEqual([
    ['server.started', null, 'done'],
    ['conversation.created', id, 'done'],
    ['action.approved', id, 'done'],
    ['terminal.opened', id, 'done'],
  ]);
  for (const { actor } of (await entriesOf(server)).slice(0, 3))
    expect(actor).toEqual({ user: null, name: 'owner', key: null, address: '127.0.0.1' });
});

it('SV1356: every request that changes something has a row in the table, or is recorded in another way', async () => {
  /** The log of the conversation has them, or they change nothing. */
  const others = [
    /^\w+ \/api\/conversations\/:id(?:\/(?:start|stop|message|events|save-file|upload-files|submit-feedback|exp-config|checkpoints\/.*|changes\/.*|security\/.*|delegated\/.*|confirmation\/trial|question))?$/,
    /^\w+ \/api\/security\/\*$/,
    /^\w+ \/(?:api\/)?(?:messages|save-file|upload-files?|submit-feedback|authenticate)$/,
    /^\w+ \/mcp\/mcp$/,
    /^\w+ \/api(?:\/\*)?$/,
    /^POST \/login$/, // as a login
    /^POST \/api\/conversations$/, // by whatever way it is created
    /^POST \/api\/(?:models\/probe|mcp\/test)$/,
    /^POST \/api\/triggers\/:id\/(?:webhook|fire)$/, // as a delivery
  ];
  const routes = await allRoutes(await testServer());
  const unnamed = routes
    .filter(({ method }) => !['GET', 'HEAD'].includes(method))
    .map(({ method, url }) => `${method} ${url}`)
    .filter((route) => AUDITED[route] === undefined && !others.some((pattern) => pattern.test(route)));
  expect(unnamed).toEqual([]);
  const known = new Set(routes.map(({ method, url }) => `${method} ${url}`));
  expect(Object.keys(AUDITED).filter((route) => !known.has(route))).toEqual([]);
  expect(needOf('GET', '/api/audit')).toBe('admin');
});

it('SV1357: logins and wrong keys are in it, and of many wrong keys a count', async () => {
  const server = await audited();
  const form = (key: string) =>
    fetch(`${server.url}/login`, {
      method: 'POST',
      body: new URLSearchParams({ key }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      redirect: 'manual',
    });
  const cookie = (await form(KEY)).headers.get('set-cookie')!.split(';')[0]!;
  await form('a-wrong-guess');
  await server.post('/api/logout', {}, { cookie, origin: server.url, 'x-tendon-request': '1' });
  await server.get('/api/conversations', { 'x-session-api-key': 'a-wrong-guess' });
  await expect.poll(() => entriesOf(server, 'action=login.failed')).toHaveLength(2);
  const [byKey, byPage] = await entriesOf(server, 'action=login.failed');
  expect([byPage!.detail, byKey!.detail]).toEqual([{ where: 'login page' }, { where: 'key' }]);
  expect((await entriesOf(server, 'action=login')).at(-1)!.actor.name).toBe('owner');
  expect((await entriesOf(server, 'action=logout'))[0]!.actor.name).toMatch(/^login /);

  let now = Date.now();
  const { records } = createMemoryStorage({ clock });
  const audit = auditOver(records, { clock: { ...clock, now: () => new Date(now) } });
  for (let n = 0; n < 1_000; n += 1) audit.failedLogin(`10.0.0.${n % 250}`, 'key');
  await expect.poll(async () => (await audit.list({ limit: 1000 })).entries.length).toBe(30);
  now += 60_000;
  audit.failedLogin('10.0.0.1', 'key');
  await expect.poll(async () => (await audit.list({ limit: 1 })).entries[0]!.detail).toEqual({ where: 'key', unrecorded: 970 });
});

type Options = Parameters<typeof openAudit>[0];

function auditOver(records: Options['records'], options: Partial<Options> = {}) {
  const logger = createLogger({ level: 'silent', mask: createMask([]) });
  const keys = { get: () => undefined };
  return openAudit({
    records,
    clock,
    logger,
    keys,
    jwtSecret: new Secret('of all servers'),
    mask: createMask([new Secret('hidden-value')]),
    version: '1',
    ...options,
  });
}

it('SV1358: without TENDON_AUDIT there is none on SQLite, and there is one on Postgres', async () => {
  const server = await testServer({ sessionApiKey: KEY });
  const answer = await server.get('/api/audit', owner);
  expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([404, expect.stringContaining('TENDON_AUDIT')]);
  expect(await server.engine.storage.records.list('audit')).toEqual([]);
  const audits = (env: Readonly<Record<string, string>>) => {
    const read = readConfig(env);
    return read.ok && read.config.governance.audits;
  };
  expect(audits({ TENDON_DATABASE_URL: 'postgres://a@b/c' })).toBe(true);
  expect(audits({ TENDON_DATABASE_URL: 'postgres://a@b/c', TENDON_AUDIT: 'off' })).toBe(false);
});

it('SV1359: where an entry cannot be stored, the act goes on and the entry is logged; texts are masked, short and without control characters', async () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', mask: createMask([]), destination: { write: (line) => void lines.push(line) } });
  const { records } = createMemoryStorage({ clock });
  let isBroken = true;
  const broken: Options['records'] = {
    get: (...given) => records.get(...given),
    put: (...given) => records.put(...given),
    delete: (...given) => records.delete(...given),
    watch: (...given) => records.watch(...given),
    list: (...given) => records.list(...given),
    rename: (...given) => records.rename(...given),
    update: (...given) => (isBroken ? Promise.reject(new Error('the disk is full')) : records.update(...given)),
  };
  const audit = auditOver(broken, { logger });
  const act = { by: { keyName: 'owner', scope: 'admin' as const }, action: 'key.created', target: 'lost' };
  await audit.record(act);
  expect(lines.join('')).toMatch(/"target":"lost".*could not be stored/s);
  isBroken = false;
  await audit.record({ ...act, target: `a\0b\nc hidden-value ${'x'.repeat(500)}`, detail: { 'n\n': ['hidden-value', '\ud800'] } });
  const [entry] = (await audit.list({ limit: 10 })).entries;
  expect(entry).toMatchObject({ sequence: 1, target: expect.stringMatching(/^a b c <secret_hidden> x{100,}…$/) as string });
  expect(entry!.target!.length).toBe(200);
  expect(entry!.detail).toEqual({ 'n ': ['<secret_hidden>', '\ufffd'] });
});
