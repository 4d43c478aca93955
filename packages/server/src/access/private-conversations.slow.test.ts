/** A conversation that is made private when colleagues have seen it, and its agent has delegated. */
import { describe, expect, it } from 'vitest';
import { itInFull, waitFor } from '@tendon/testing';
import { socketIoClient, testServer, type TestServer } from '../server.test-support.ts';
import { Browser, testProvider, type Account } from './oidc.test-support.ts';

const person = (name: string, ...groups: string[]): Account => ({ name, email: `${name}@example.org`, email_verified: true, groups });
const ACCOUNTS = { ada: person('Ada', 'admins'), carl: person('Carl', 'all'), dora: person('Dora', 'all') };
type Name = keyof typeof ACCOUNTS;

interface Staged {
  readonly server: TestServer;
  /** The key of a person. */
  readonly as: Readonly<Record<Name, Readonly<Record<string, string>>>>;
}

async function staged(): Promise<Staged> {
  const provider = await testProvider(ACCOUNTS);
  const env = { ...provider.env, OIDC_ROLES: 'admins=acme:admin,all=acme:member' };
  const started = await testServer({ sessionApiKey: 'the-key-of-the-server', env, script: [{ text: 'Done.' }] });
  const server = { ...started, url: started.url.replace('localhost', '127.0.0.1') };
  const as = {} as Record<Name, Record<string, string>>;
  for (const name of Object.keys(ACCOUNTS) as Name[]) {
    const browser = new Browser(name);
    await browser.get(`${server.url}/login/oidc`);
    const answer = await server.post('/api/keys', { name, scope: name === 'ada' ? 'admin' : 'drive' }, browser.headers(server.url));
    as[name] = { 'x-session-api-key': ((await answer.json()) as { key: string }).key };
  }
  return { server, as };
}

async function begunBy({ server, as }: Staged, by: Name): Promise<string> {
  const made = await server.post('/api/conversations', {}, as[by]);
  return ((await made.json()) as { conversation_id: string }).conversation_id;
}

async function setPrivate({ server, as }: Staged, id: string, is_private: boolean): Promise<void> {
  const headers = { ...as.carl, 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/api/conversations/${id}`, { method: 'PATCH', headers, body: JSON.stringify({ is_private }) });
  expect(answer.status).toBe(200);
}

describe('SV1312: a conversation that becomes private', () => {
  it('is private with all that its agent has delegated, and delegates after that', async () => {
    const stage = await staged();
    const { server, as } = stage;
    const { conversations } = server.engine;
    const id = await begunBy(stage, 'carl');
    const before = (await conversations.get(id))!;
    const child = await conversations.createDelegated(before, { agent: 'CodeActAgent', actionId: 1 });
    const below = await conversations.createDelegated(child, { agent: 'CodeActAgent', actionId: 1 });
    await setPrivate(stage, id, true);
    // As an open conversation does, whose record is that of its opening.
    const later = await conversations.createDelegated(before, { agent: 'CodeActAgent', actionId: 2 });
    const seenBy = async (by: Name) =>
      Promise.all([id, child.id, below.id, later.id].map(async (each) => (await server.get(`/api/conversations/${each}`, as[by])).status));
    expect(await seenBy('dora')).toEqual([404, 404, 404, 404]);
    expect(await seenBy('carl')).toEqual([200, 200, 200, 200]);
    await setPrivate(stage, id, false);
    expect(await seenBy('dora')).toEqual([200, 200, 200, 200]);
  });

  itInFull('is left by the sockets of those who see it no more, and by no others', async () => {
    const stage = await staged();
    const { server, as } = stage;
    const id = await begunBy(stage, 'carl');
    const clientOf = (by: Name) => socketIoClient(server, { conversation_id: id }, { extraHeaders: as[by] });
    const [doras, adas, carls] = [await clientOf('dora'), await clientOf('ada'), await clientOf('carl')];
    for (const client of [doras, adas, carls]) await client.frames.untilState('awaiting_user_input');
    const ended = new Promise((resolve) => doras.socket.once('disconnect', resolve));
    await setPrivate(stage, id, true);
    expect(await waitFor(ended, () => 'the end of Dora’s socket')).toBe('io server disconnect');
    carls.send({ action: 'message', args: { content: 'between us' } });
    await adas.frames.until((frame) => frame.message === 'between us', 'the words in Ada’s socket');
    expect(doras.frames.all.some((frame) => frame.message === 'between us')).toBe(false);
  });
});
