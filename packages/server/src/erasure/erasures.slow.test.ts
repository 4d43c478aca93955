/** A user who is erased, and what of them is exported: on a real server, on SQLite and on Postgres. */
import { execFile } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Clock } from '@tendon/core';
import type { AuditEntry } from '@tendon/protocol';
import { waitFor } from '@tendon/testing';
import { builtFaults } from '@tendon/testing/servers';
import { sharedPostgres } from '@tendon/testing/postgres';
import { expect, it, onTestFinished } from 'vitest';
import { Browser, testProvider, type Account } from '../access/oidc.test-support.ts';
import { storedEntries } from '../audit/audit-chain.ts';
import { verifyAudit } from '../audit/verify-audit.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { readZip } from '../files/read-zip.ts';
import { systemClock } from '../platform/system-clock.ts';
import { exportOfUser } from './user-export.ts';
import { temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';

const OWNER = { 'x-session-api-key': 'the-key-of-the-server' };
const person = (name: string, ...groups: string[]): Account => ({ name, email: `${name}@example.org`, email_verified: true, groups });
const ACCOUNTS = { ada: person('Ada Lovelace', 'admins'), carl: person('Carl Sagan', 'all') };
const ROLES = 'admins=acme:admin,all=acme:member';
const run = promisify(execFile);
type Headers = Readonly<Record<string, string>>;

async function databaseUrl(): Promise<string> {
  const cluster = await sharedPostgres();
  const name = `erasure_${process.pid}_${Math.random().toString(36).slice(2, 8)}`;
  const url = await cluster.createDatabase(name);
  onTestFinished(() => cluster.sql('postgres', `DROP DATABASE ${name} WITH (FORCE)`).then(() => undefined));
  return url;
}

async function staged(storage: 'SQLite' | 'Postgres', clock = systemClock, more: Readonly<Record<string, string>> = {}) {
  const provider = await testProvider(ACCOUNTS);
  const home = temporaryFolder();
  const shared: Record<string, string> = storage === 'Postgres' ? { TENDON_DATABASE_URL: await databaseUrl() } : {};
  const env = { ...provider.env, OIDC_ROLES: ROLES, TENDON_AUDIT: 'on', JWT_SECRET: 'the-same-after-a-restart', ...shared, ...more };
  const open = async (isPrivate = false): Promise<TestServer> => {
    const script = Array.from({ length: 6 }, () => ({ text: 'Done.' }));
    const started = await testServer({ home, sessionApiKey: OWNER['x-session-api-key'], env, script, isPrivate, clock });
    return { ...started, url: started.url.replace('localhost', '127.0.0.1') };
  };
  const server = await open();
  const signIn = async (name: string): Promise<Headers> => {
    const browser = new Browser(name);
    await browser.get(`${server.url}/login/oidc`);
    return browser.headers(server.url);
  };
  return { open, server, env, ada: await signIn('ada'), carl: await signIn('carl') };
}

const json = async <T>(answer: Response): Promise<T> => (await answer.json()) as T;

async function begin(server: TestServer, by: Headers, text: string): Promise<string> {
  const made = await json<{ conversation_id: string }>(await server.post('/api/conversations', { initial_user_msg: text }, by));
  await answered(server, made.conversation_id, 1);
  return made.conversation_id;
}

async function answered(server: TestServer, id: string, times: number): Promise<void> {
  const answers = async () =>
    (await (await server.engine.conversations.log(id))!.read()).filter((one) => JSON.stringify(one).includes('Done.'));
  await expect.poll(async () => (await answers()).length, { timeout: 30_000 }).toBe(times);
}

/** Carl's: one alone, one with Ada, a part in one of hers, a key, a secret, a trigger. */
async function belongings(server: TestServer, ada: Headers, carl: Headers) {
  const own = await begin(server, carl, 'mine alone');
  const shared = await begin(server, carl, 'ours');
  await server.post(`/api/conversations/${shared}/message`, { message: 'from Ada' }, ada);
  await answered(server, shared, 2);
  const hers = await begin(server, ada, 'hers');
  await server.post(`/api/conversations/${hers}/message`, { message: 'from Carl' }, carl);
  await answered(server, hers, 2);
  await server.post('/api/secrets', { name: 'MINE', value: 'value-of-carl' }, carl);
  const { key } = await json<{ key: string }>(await server.post('/api/keys', { name: 'laptop', scope: 'drive' }, carl));
  const { user } = await json<{ user: { id: string } }>(await server.get('/api/whoami', carl));
  return { own, shared, hers, key, id: user.id };
}

it.each(['SQLite', 'Postgres'] as const)(
  'SV1385, SV1387: on %s an erased user has nothing left but an id, colleagues keep what they have a part in, and the audit log is whole',
  { timeout: 240_000 },
  async (storage) => {
    const { server, ada, carl } = await staged(storage);
    const { own, shared, hers, key, id } = await belongings(server, ada, carl);
    const erase = (by: Headers) => server.post(`/api/users/${id}/erase`, {}, by);
    expect([(await erase(carl)).status, (await erase(ada)).status]).toEqual([403, 403]);
    expect(await json(await erase(OWNER))).toEqual({ user_id: id, is_done: true, conversations_left: 0 });
    expect((await server.get('/api/whoami', carl)).status).toBe(401);
    expect((await server.get('/api/whoami', { 'x-session-api-key': key })).status).toBe(401);
    expect(await server.engine.conversations.get(own)).toBeUndefined();
    const name = `erased user ${id.slice(0, 8)}`;
    expect(await json(await server.get(`/api/conversations/${shared}`, ada))).toMatchObject({ created_by: { id, name } });
    for (const each of [shared, hers]) {
      const { events } = await json<{ events: readonly { author?: { id: string; name: string } }[] }>(
        await server.get(`/api/conversations/${each}/events`, ada),
      );
      const authors = new Set(events.flatMap(({ author }) => author?.name ?? []));
      expect(authors).toEqual(new Set([name, 'Ada Lovelace']));
      expect(await (await server.get(`/api/conversations/${each}/trajectory`, ada)).text()).not.toContain('Carl Sagan');
    }
    const { users } = await json<{ users: readonly { id: string }[] }>(await server.get('/api/users', OWNER));
    expect(users.find((user) => user.id === id)).toMatchObject({ name, email: null, disabled: true, organisations: [] });
    const enabling = await fetch(`${server.url}/api/users/${id}`, {
      method: 'PATCH',
      headers: { ...OWNER, 'content-type': 'application/json' },
      body: '{"disabled":false}',
    });
    expect(enabling.status).toBe(409);
    const { records } = server.engine.storage;
    for (const collection of ['owned_secrets', 'erasures', 'memberships'])
      expect([collection, JSON.stringify(await records.list(collection)).includes(id)]).toEqual([collection, false]);
    const audit = await records.list<AuditEntry>('audit');
    expect(JSON.stringify(audit)).not.toMatch(/Carl|carl@/);
    const acts = audit.flatMap(({ value: { target, action } }) => (target === id && action.startsWith('user.eras') ? [action] : []));
    expect(new Set(acts)).toEqual(new Set(['user.erased', 'user.erasure-completed']));
    expect(await verifyAudit(storedEntries(records), {})).toMatchObject({ ok: true });
    expect((await erase(OWNER)).status).toBe(200);
    expect((await server.post(`/api/users/${'0'.repeat(32)}/erase`, {}, OWNER)).status).toBe(404);
  },
);

it('SV1385: what an agent delegated goes, or stays, with the conversation of which it is a part', { timeout: 120_000 }, async () => {
  const { server, ada, carl } = await staged('SQLite');
  const { conversations } = server.engine;
  const { own, shared, id } = await belongings(server, ada, carl);
  const asked = await begin(server, carl, 'nobody but its agents');
  const delegate = async (parent: string): Promise<string> => {
    const record = (await conversations.get(parent))!;
    return (await conversations.createDelegated(record, { agent: 'CodeActAgent', actionId: 1 })).id;
  };
  const alone = await delegate(own);
  const [ofShared, ofAsked] = [await delegate(shared), await delegate(asked)];
  const below = await delegate(ofShared);
  await server.post(`/api/conversations/${ofAsked}/message`, { message: 'from Ada' }, ada);
  await answered(server, ofAsked, 1);
  const before = (await conversations.get(shared))!;
  expect(await json(await server.post(`/api/users/${id}/erase`, {}, OWNER))).toMatchObject({ is_done: true });
  expect([await conversations.get(own), await conversations.get(alone)]).toEqual([undefined, undefined]);
  const erased = { created_by: { id, name: `erased user ${id.slice(0, 8)}` } };
  for (const each of [shared, ofShared, below, asked, ofAsked]) expect(await conversations.get(each)).toMatchObject(erased);
  // By an agent that works on, with the record of its opening.
  expect(await conversations.createDelegated(before, { agent: 'CodeActAgent', actionId: 2 })).toMatchObject(erased);
});

it('SV1385: what another server still takes of a user until it hears of the erasure is removed too', { timeout: 120_000 }, async () => {
  const heard = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<void>();
  const sleep: Clock['sleep'] = (ms, options) => {
    if (ms !== 1_500) return systemClock.sleep(ms, options);
    waits.resolve();
    return heard.promise;
  };
  const { server, carl } = await staged('Postgres', { now: () => new Date(), sleep }, { TENDON_ADVERTISE_URL: 'http://127.0.0.1:1' });
  const { user } = await json<{ user: { id: string } }>(await server.get('/api/whoami', carl));
  const erasing = server.post(`/api/users/${user.id}/erase`, {}, OWNER);
  await waitFor(waits.promise, () => 'the wait for other servers');
  const { records } = server.engine.storage;
  const late = {
    id: 'late',
    value: { key: { user: user.id, organisation: 'acme' } },
    created_at: '',
    expires_at: null,
    last_used_at: null,
  };
  await records.put('logins', { id: 'late', sort: '', value: { ...late, salt: '', hash: '' } });
  heard.resolve();
  expect(await json(await erasing)).toMatchObject({ is_done: true });
  expect(JSON.stringify(await records.list('logins'))).not.toContain(user.id);
});

/** The number of changes when it was not killed. */
function eraseKilledAt(home: string, env: Headers, user: string, point: number): Promise<number | undefined> {
  return run(process.execPath, [builtFaults('killed-erasure'), home, user, String(point)], { env: { ...process.env, ...env } }).then(
    ({ stdout }) => Number(stdout),
    ({ signal, stderr }: { readonly signal: string | null; readonly stderr: string }) => {
      expect(signal, stderr).toBe('SIGKILL');
      return undefined;
    },
  );
}

it('SV1388: an erasure that was cut off by a kill at any change is completed by the next start', { timeout: 300_000 }, async () => {
  let killed = 0;
  for (let changes: number | undefined; changes === undefined; killed += 1) {
    const { open, server, ada, carl, env } = await staged('SQLite');
    const { own, shared, id } = await belongings(server, ada, carl);
    await server.close();
    changes = await eraseKilledAt(server.home, env, id, 20 * killed);
    const next = await open();
    const { records } = next.engine.storage;
    await expect.poll(async () => (await records.list('erasures')).length, { timeout: 30_000 }).toBe(0);
    await expect.poll(() => next.engine.conversations.get(own), { timeout: 30_000 }).toBeUndefined();
    const stored = JSON.stringify([await records.list('users'), await records.list('conversations'), await records.list('api_keys')]);
    expect([killed, /Carl|carl@|laptop/.test(stored)]).toEqual([killed, false]);
    expect(await next.engine.conversations.get(shared)).toMatchObject({ created_by: { name: `erased user ${id.slice(0, 8)}` } });
    expect(await records.list('owned_secrets')).toEqual([]);
    await next.close();
  }
  expect(killed).toBeGreaterThan(3);
});

it(
  'SV1386: a user exports what is theirs, and who administers the server what is anybody’s; no value of a secret is in it',
  { timeout: 120_000 },
  async () => {
    const { server, ada, carl } = await staged('SQLite');
    const { own, shared, hers, id } = await belongings(server, ada, carl);
    const path = `/api/users/${id}/export`;
    expect((await server.get(path, ada)).status).toBe(404);
    for (const by of [carl, OWNER]) {
      const answer = await server.get(path, by);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
      const entries = readZip(Buffer.from(await answer.arrayBuffer()));
      const textOf = async (name: string): Promise<string> => (await entries.find((one) => one.name === name)!.read()).toString();
      expect(entries.map((one) => one.name).toSorted()).toEqual(
        [
          'git-accounts.json',
          'keys.json',
          'push-devices.json',
          'secrets.json',
          'triggers.json',
          'user.json',
          ...[own, shared, hers].map((each) => `conversations/${each}.jsonl`),
        ].toSorted(),
      );
      expect(JSON.parse(await textOf('user.json'))).toMatchObject({ id, name: 'Carl Sagan' });
      expect(JSON.parse(await textOf('keys.json'))).toMatchObject([{ name: 'laptop' }]);
      expect(await textOf('secrets.json')).toContain('MINE');
      expect(await textOf(`conversations/${own}.jsonl`)).toContain('Done.');
      expect(await textOf(`conversations/${hers}.jsonl`)).toContain('from Carl');
      expect(await textOf(`conversations/${hers}.jsonl`)).not.toContain('Done.');
      for (const entry of entries) expect((await entry.read()).toString()).not.toContain('value-of-carl');
    }
  },
);

it('SV1386: an export ends with its client, and reads no log after that', async () => {
  const { server, ada, carl } = await staged('SQLite');
  const { id } = await belongings(server, ada, carl);
  const user = server.engine.access.users!.users().find((one) => one.id === id)!;
  const { conversations } = server.engine;
  const [listing, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let logs = 0;
  const list: Conversations['list'] = async (query) => {
    listing.resolve();
    await goesOn.promise;
    return conversations.list(query);
  };
  const log: Conversations['log'] = (of) => {
    logs += 1;
    return conversations.log(of);
  };
  const left = exportOfUser(user, { ...server.engine, conversations: { list, log } });
  await listing.promise;
  left.destroy();
  goesOn.resolve();
  await setImmediate();
  expect([left.destroyed, logs]).toEqual([true, 0]);
});
