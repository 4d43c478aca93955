/** Two organisations on one server: neither uses or sees the secrets and git tokens of the other. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Browser, testProvider, type Account } from '../access/oidc.test-support.ts';
import { testServer } from '../server.test-support.ts';

const OWNER = { 'x-session-api-key': 'the-key-of-the-server' };
const person = (name: string, ...groups: string[]): Account => ({ name, email: `${name}@example.org`, email_verified: true, groups });
const ACCOUNTS = { ada: person('Ada', 'acme-admins'), carl: person('Carl', 'acme'), bob: person('Bob', 'labs-admins') };
const ROLES = 'acme-admins=acme:admin,acme=acme:member,labs-admins=labs:admin';
const NAMES = ['SHARED', 'TEAM', 'ADAS', 'CARLS', 'BOBS'];
/** What is shown is not masked: every letter is another one. */
const COMMAND = `{ ${NAMES.map((name) => `echo "${name}=$${name};"`).join(' ')} env; } | tr 'a-z' 'n-za-m'`;
type Name = keyof typeof ACCOUNTS;

async function staged() {
  const provider = await testProvider(ACCOUNTS);
  const script = [{ toolCalls: [{ name: 'execute_bash', arguments: { command: COMMAND } }] }, { text: 'Done.' }];
  const started = await testServer({
    sessionApiKey: OWNER['x-session-api-key'],
    env: { ...provider.env, OIDC_ROLES: ROLES },
    script,
  });
  const server = { ...started, url: started.url.replace('localhost', '127.0.0.1') };
  const as = {} as Record<Name, Readonly<Record<string, string>>>;
  for (const name of Object.keys(ACCOUNTS) as Name[]) {
    const browser = new Browser(name);
    await browser.get(`${server.url}/login/oidc`);
    as[name] = browser.headers(server.url);
  }
  return { server, as };
}

it('SV1390, SV1391: a conversation is given what the server, its organisation and who began it have, and nothing of another organisation or member', async () => {
  const { server, as } = await staged();
  const store = async (by: Readonly<Record<string, string>>, name: string, value: string, owner?: string) =>
    (await server.post(`/api/secrets${owner ? `?owner=${owner}` : ''}`, { name, value }, by)).status;
  expect(await store(OWNER, 'SHARED', 'value-of-everybody')).toBe(201);
  expect(await store(as.ada, 'TEAM', 'value-of-acme', 'organisation')).toBe(201);
  expect(await store(as.bob, 'TEAM', 'value-of-labs', 'organisation')).toBe(201);
  expect(await store(as.ada, 'ADAS', 'value-of-ada')).toBe(201);
  expect(await store(as.carl, 'CARLS', 'value-of-carl')).toBe(201);
  expect(await store(as.bob, 'BOBS', 'value-of-bob', 'own')).toBe(201);
  expect(await store(as.carl, 'TEAM', 'value-of-carl', 'organisation')).toBe(403);
  expect(await store(as.ada, 'SHARED', 'value-of-ada', 'server')).toBe(403);
  expect(await store(OWNER, 'OTHER', 'value-of-nobody', 'own')).toBe(400);

  const listed = async (by: Readonly<Record<string, string>>, owner = 'own') => {
    const answer = await server.get(`/api/secrets?owner=${owner}`, by);
    const { custom_secrets: secrets } = (await answer.json()) as { custom_secrets?: readonly { name: string }[] };
    return secrets?.map(({ name }) => name) ?? answer.status;
  };
  expect([await listed(as.bob), await listed(as.bob, 'organisation'), await listed(as.bob, 'server')]).toEqual([['BOBS'], ['TEAM'], 403]);
  expect([await listed(as.carl), await listed(as.carl, 'organisation')]).toEqual([['CARLS'], ['TEAM']]);
  expect(await listed(OWNER, 'server')).toEqual(['SHARED']);
  const removing = await fetch(`${server.url}/api/secrets/TEAM?owner=organisation`, { method: 'DELETE', headers: as.carl });
  expect(removing.status).toBe(403);

  const seenIn = async (by: Readonly<Record<string, string>>) => {
    const made = await server.post('/api/conversations', { initial_user_msg: 'go' }, by);
    const { conversation_id: id } = (await made.json()) as { conversation_id: string };
    const log = (await server.engine.conversations.log(id))!;
    await expect.poll(async () => JSON.stringify(await log.read()), { timeout: 30_000 }).toContain('Done.');
    const events = (await log.read()).map((event) => JSON.stringify(event));
    const output = events.find((text) => text.includes('"observation":"run"'))!;
    const shown = output.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97));
    const known = events.find((text) => text.includes('"observation":"recall"'))!;
    return {
      values: new Set(shown.match(/value-of-\w+/g)),
      names: NAMES.filter((name) => known.includes(name)),
    };
  };
  expect(await seenIn(as.ada)).toEqual({
    values: new Set(['value-of-everybody', 'value-of-acme', 'value-of-ada']),
    names: ['SHARED', 'TEAM', 'ADAS'],
  });
  expect(await seenIn(as.carl)).toEqual({
    values: new Set(['value-of-everybody', 'value-of-acme', 'value-of-carl']),
    names: ['SHARED', 'TEAM', 'CARLS'],
  });
  expect(await seenIn(as.bob)).toEqual({
    values: new Set(['value-of-everybody', 'value-of-labs', 'value-of-bob']),
    names: ['SHARED', 'TEAM', 'BOBS'],
  });
  expect(await seenIn(OWNER)).toEqual({ values: new Set(['value-of-everybody']), names: ['SHARED'] });
});

it('SV1392: tokens of git providers are the server’s, an organisation’s or a user’s, and only who administers the server names a host that it does not know', async () => {
  const { server, as } = await staged();
  const asked: string[] = [];
  const gitlab = createServer((request, response) => {
    asked.push(request.headers.authorization ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => gitlab.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void gitlab.close());
  const host = `http://127.0.0.1:${(gitlab.address() as AddressInfo).port}`;
  const add = async (by: Readonly<Record<string, string>>, token: string, owner?: string) => {
    const body = { provider_tokens: { gitlab: { token, host } } };
    return (await server.post(`/api/add-git-providers${owner ? `?owner=${owner}` : ''}`, body, by)).status;
  };
  expect([await add(as.carl, 'glpat-of-carl'), await add(as.ada, 'glpat-of-acme', 'organisation')]).toEqual([403, 403]);
  expect(asked).toEqual([]);
  expect(await add(OWNER, 'glpat-of-the-server')).toBe(200);
  expect([await add(as.carl, 'glpat-of-carl'), await add(as.carl, 'glpat-of-acme', 'organisation')]).toEqual([200, 403]);
  expect(await add(as.ada, 'glpat-of-acme', 'organisation')).toBe(200);

  const me = async (by: Readonly<Record<string, string>>) =>
    (await (await server.get('/api/whoami', by)).json()) as { user: { id: string }; organisation: { id: string } };
  const tokenOf = async (by: Readonly<Record<string, string>>) => {
    const { user, organisation } = await me(by);
    const accounts = server.engine.gitAccounts.of({ organisation_id: organisation.id, created_by: user });
    return accounts.logins.map(({ token }) => token.reveal());
  };
  expect([await tokenOf(as.carl), await tokenOf(as.ada), await tokenOf(as.bob)]).toEqual([
    ['glpat-of-carl'],
    ['glpat-of-acme'],
    ['glpat-of-the-server'],
  ]);
  asked.length = 0;
  for (const by of [as.carl, as.bob, OWNER]) await server.get('/api/user/info?provider=gitlab', by);
  expect(asked).toEqual(['Bearer glpat-of-carl', 'Bearer glpat-of-the-server', 'Bearer glpat-of-the-server']);
  expect((await server.post('/api/unset-provider-tokens', {}, as.carl)).status).toBe(200);
  expect([await tokenOf(as.carl), await tokenOf(as.ada)]).toEqual([['glpat-of-acme'], ['glpat-of-acme']]);
  expect(server.engine.secrets().map((secret) => secret.reveal())).toContain('glpat-of-acme');
});
