/** Everything that a server holds in memory of what the database has: changed through one server, it is read at the other. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@tendon/protocol/masking';
import { sharedPostgres, type PostgresCluster } from '@tendon/testing/postgres';
import { ProviderTokens } from '../git-providers/provider-tokens.ts';
import { LimitStore } from '../limits/limit-store.ts';
import { loginServer } from '../mcp/oauth/login-server.test-support.ts';
import { systemClock as clock } from '../platform/system-clock.ts';
import { testConfig } from '../server.test-support.ts';
import { openStores, type Stores } from './open-stores.ts';
import { TRIGGER } from '../triggers/triggers.test-support.ts';

const JWT_SECRET = 'the same on every server';
const NAME = `changed_${process.pid}`;

interface Opened extends Stores {
  readonly limits: LimitStore;
  /** As `providerTokens`, and no provider is asked. */
  readonly tokens: ProviderTokens;
}

let cluster: PostgresCluster;
let one: Opened;
let other: Opened;
const folders: string[] = [];

async function open(url: string, port: number): Promise<Opened> {
  const home = mkdtempSync(join(tmpdir(), 'tendon-changed-'));
  folders.push(home);
  const place = { TENDON_DATABASE_URL: url, TENDON_ADVERTISE_URL: `http://127.0.0.1:${port}`, JWT_SECRET };
  const users = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'tendon' };
  const stores = await openStores(testConfig(home, { ...place, ...users }), { clock, onFinding: () => undefined });
  const { records } = stores.storage;
  const check = async () => ({ state: 'taken' }) as const;
  return {
    ...stores,
    limits: await LimitStore.open(records, { server: {}, each: {}, maxRunning: undefined, maxWaiting: 1 }),
    tokens: await ProviderTokens.open(records, new Secret(JWT_SECRET), { check }),
  };
}

beforeAll(async () => {
  cluster = await sharedPostgres();
  const url = await cluster.createDatabase(NAME);
  [one, other] = [await open(url, 1), await open(url, 2)];
});
afterAll(async () => {
  for (const { storage } of [one, other]) await storage.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await cluster.sql('postgres', `DROP DATABASE ${NAME} WITH (FORCE)`);
});

type Step = readonly [change: (at: Opened) => Promise<unknown>, seen: (at: Opened) => unknown, expected: unknown];

const PERSON = { issuer: 'https://id.example', subject: 'ann', name: 'Ann', email: 'ann@id.example', isEmailVerified: true, groups: [] };

/** By what it is, the steps in their order. */
const CHANGES: Readonly<Record<string, (names: { id: string }) => readonly Step[]>> = {
  settings: () => [
    [({ settings }) => settings.update({ llm_model: 'my/model' }), ({ settings }) => settings.current?.llm_model, 'my/model'],
    [
      ({ settings }) => settings.update({ llm_api_key: 'sk-of-settings' }),
      ({ settings }) => settings.key('llm_api_key')?.reveal(),
      'sk-of-settings',
    ],
  ],
  'named secrets': () => [
    [
      ({ secretStore }) => secretStore.create({ name: 'TOKEN', value: 'a-secret-of-mine' }),
      ({ secretStore }) => secretStore.values.get('TOKEN')?.reveal(),
      'a-secret-of-mine',
    ],
    [
      ({ secretStore }) => secretStore.update('TOKEN', { name: 'TOKEN', hosts: ['a.example'] }),
      ({ secretStore }) => secretStore.hostsOf('TOKEN'),
      ['a.example'],
    ],
    [({ secretStore }) => secretStore.delete('TOKEN'), ({ secretStore }) => secretStore.values.size, 0],
  ],
  'tokens of git providers': () => [
    [({ tokens }) => tokens.add({ github: { token: 'token-of-github', host: null } }), ({ tokens }) => tokens.set, { github: null }],
    [({ tokens }) => tokens.clear(), ({ tokens }) => tokens.set, {}],
  ],
  keys: (names) => [
    [
      async ({ access }) => (names.id = (await access.keys.issue({ name: 'mine', scope: 'drive' }, undefined))!.held.id),
      ({ access }) => access.keys.get(names.id)?.value.name,
      'mine',
    ],
    [({ access }) => access.keys.revoke(names.id), ({ access }) => access.keys.get(names.id), undefined],
  ],
  links: (names) => [
    [
      async ({ access }) => (names.id = (await access.shares.issue({ conversation: 'c' }, undefined))!.held.id),
      ({ access }) => access.shares.get(names.id)?.value,
      { conversation: 'c' },
    ],
    [({ access }) => access.shares.revoke(names.id), ({ access }) => access.shares.get(names.id), undefined],
  ],
  sessions: (names) => [
    [
      async ({ access }) => (names.id = (await access.logins.issue({ key: { id: 'k' } }, undefined))!.held.id),
      ({ access }) => access.logins.get(names.id)?.value,
      { key: { id: 'k' } },
    ],
    [({ access }) => access.logins.revoke(names.id), ({ access }) => access.logins.get(names.id), undefined],
  ],
  users: (names) => [
    [
      async ({ access }) => (names.id = ((await access.users!.signIn(PERSON)) as { userId: string }).userId),
      ({ access }) => access.users!.users().map(({ name }) => name),
      ['Ann'],
    ],
    [({ access }) => access.users!.setDisabled(names.id, true), ({ access }) => access.users!.users()[0]?.disabled, true],
  ],
  limits: () => [
    [({ limits }) => limits.set('server', { running: 3 }), ({ limits }) => limits.of('server'), { running: 3 }],
    [({ limits }) => limits.remove('server'), ({ limits }) => limits.of('server'), {}],
  ],
  triggers: (names) => [
    [
      async ({ triggerStore }) => (names.id = (await triggerStore.create(TRIGGER, 'a-secret-of-a-webhook'))!.id),
      ({ triggerStore }) => triggerStore.secretOf(names.id)?.reveal(),
      'a-secret-of-a-webhook',
    ],
    [
      ({ triggerStore }) => triggerStore.change(names.id, () => ({ enabled: false })),
      ({ triggerStore }) => triggerStore.get(names.id)?.enabled,
      false,
    ],
    [
      ({ triggerStore }) => triggerStore.delete(names.id),
      ({ triggerStore }) => [triggerStore.get(names.id), triggerStore.secrets],
      [undefined, []],
    ],
  ],
};

it.each(Object.keys(CHANGES))('SV1261: %s that one server changes hold on the other', async (what) => {
  for (const [change, seen, expected] of CHANGES[what]!({ id: '' })) {
    await change(one);
    await expect.poll(() => seen(other)).toEqual(expected);
    expect(seen(one)).toEqual(expected);
  }
});

it('SV1261: a login to an MCP server that one server has is used by the other, and ends there too', async () => {
  const server = await loginServer();
  const redirect = 'http://127.0.0.1:1/mcp/oauth/callback';
  const back = new URL(await server.permit(await one.mcpLogins.begin({ url: server.mcp, redirect }, undefined)));
  const { state = '', code, iss } = Object.fromEntries(back.searchParams);
  await one.mcpLogins.finish({ state, code, iss });
  await expect.poll(() => other.mcpLogins.urls).toEqual([server.mcp]);
  expect(other.mask.text(server.tokens[0]!)).toBe('<secret_hidden>');
  await other.mcpLogins.logOut(server.mcp);
  await expect.poll(() => one.mcpLogins.urls).toEqual([]);
});

it('SV1261, SV1313: a key that was revoked while another server could not read them opens nothing there as soon as it can', async () => {
  const sql = (text: string) => cluster.sql(NAME, text);
  const { id } = (await one.access.keys.issue({ name: 'lost', scope: 'drive' }, undefined))!.held;
  await expect.poll(() => other.access.keys.get(id)?.value.name).toBe('lost');
  const isReported = Promise.withResolvers<void>();
  const unwatch = other.storage.records.watch('api_keys', () => void isReported.resolve());
  onTestFinished(unwatch);
  await sql(`INSERT INTO tendon.records (collection, id, sort, json, version) VALUES ('api_keys', 'unreadable', '', '{', 1)`);
  await one.access.keys.revoke(id);
  await isReported.promise;
  await expect(other.storage.records.list('api_keys')).rejects.toThrow(/JSON/);
  expect(other.access.keys.get(id)).toBeDefined();
  await sql(`DELETE FROM tendon.records WHERE id = 'unreadable'`);
  await expect.poll(() => other.access.keys.get(id)).toBeUndefined();
});

it('SV1261: of what two servers change at once neither loses the other’s', async () => {
  onTestFinished(async () => void (await one.tokens.clear()));
  const trigger = (await one.triggerStore.create(TRIGGER, undefined))!;
  await expect.poll(() => other.triggerStore.get(trigger.id)).toEqual(trigger);
  await Promise.all([
    one.tokens.add({ github: { token: 'token-of-github', host: null } }),
    other.tokens.add({ gitlab: { token: 'token-of-gitlab', host: null } }),
    one.triggerStore.change(trigger.id, () => ({ name: 'nightly builds' })),
    other.triggerStore.change(trigger.id, () => ({ enabled: false })),
  ]);
  for (const { tokens, triggerStore } of [one, other]) {
    await expect.poll(() => tokens.set).toEqual({ github: null, gitlab: null });
    await expect.poll(() => triggerStore.get(trigger.id)).toMatchObject({ name: 'nightly builds', enabled: false });
  }
  await other.triggerStore.delete(trigger.id);
  expect(await one.triggerStore.change(trigger.id, () => ({ enabled: true }))).toBeUndefined();
});
