/** A person is asked about a name that is on no list: by real sandboxes, of clients of a real server. */
import { itInFull, someOf } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, type TestServer } from '../../server.test-support.ts';
import { askingServer, connectAs, runIn } from './network.test-support.ts';

const OWNER_KEY = 'the-key-of-the-owner';
const owner = { 'x-session-api-key': OWNER_KEY };

interface Shown {
  readonly allow: readonly string[];
  readonly questions: readonly { readonly host: string; readonly port: number; readonly asked_at: string }[];
}

async function shown(server: TestServer, id: string): Promise<Shown> {
  return (await (await server.get(`/api/conversations/${id}/network`, owner)).json()) as Shown;
}

const hostsOf = async (server: TestServer, id: string): Promise<readonly string[]> =>
  (await shown(server, id)).questions.map(({ host }) => host);

const answer = async (
  server: TestServer,
  id: string,
  host: string,
  given: 'once' | 'refuse' | 'always',
  headers = owner,
): Promise<number> => {
  const path = `/api/conversations/${id}/network/${given === 'always' ? 'always' : 'answer'}`;
  return (await server.post(path, { host, ...(given !== 'always' && { answer: given }) }, headers)).status;
};

describe('SV451: a name that is on no list', () => {
  it('SV1025: is asked for while a command waits, is in the list of conversations, and the command goes on when it is allowed', async () => {
    const server = await askingServer({ questionWaitMs: 120_000 });
    const id = await server.create();
    const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
    const printed = runIn(server, id, 'curl -sS -m 100 http://asked.example/');
    const { questions } = await client.volatile.until(({ volatile }) => volatile === 'network', 'the question');
    expect(questions).toEqual([{ host: 'asked.example', port: 80, asked_at: expect.any(String) as string }]);
    expect(await hostsOf(server, id)).toEqual(['asked.example']);
    const list = (await (await server.get('/api/conversations', owner)).json()) as { readonly results: readonly object[] };
    expect(list.results).toMatchObject([{ conversation_id: id, network_questions: questions }]);
    expect(await answer(server, id, 'asked.example', 'once')).toBe(200);
    expect(await printed).toContain('reached asked.example');
    await client.volatile.until((frame) => frame.volatile === 'network' && (frame.questions as []).length === 0, 'that nothing is asked');
    expect(await shown(server, id)).toMatchObject({ allow: ['asked.example'], questions: [] });
    expect(await connectAs(server, await server.create(), 'asked.example')).toContain('not on the list');
  });

  itInFull('is refused at once where nobody looks, and after the wait where nobody answers; a later attempt finds the answer', async () => {
    const server = await askingServer({ questionWaitMs: 3_600_000 });
    const id = await server.create();
    expect(await connectAs(server, id, 'unseen.example')).toMatch(/not on the list.*a person is asked.*try again/);
    expect(await connectAs(server, id, 'unseen.example')).toMatch(/a person is asked/);
    expect(await answer(server, id, 'unseen.example', 'once')).toBe(200);
    expect(await connectAs(server, id, 'unseen.example')).toBe('reached');
    const short = await askingServer({ questionWaitMs: 1 });
    const seen = await short.create();
    expect(await runIn(short, seen, 'curl -sS -m 100 http://slow.example/')).toMatch(/a person is asked/);
  });

  it('is answered once, and a refusal holds without another question', async () => {
    const server = await askingServer();
    const id = await server.create();
    await connectAs(server, id, 'one.example');
    const answers = await Promise.all([1, 2, 3, 4].map(() => answer(server, id, 'one.example', 'refuse')));
    expect(answers.toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    for (const late of ['once', 'always'] as const) expect(await answer(server, id, 'one.example', late)).toBe(409);
    expect(await connectAs(server, id, 'one.example')).toMatch(/not on the list.*a person refused it/);
    expect(await shown(server, id)).toMatchObject({ allow: [], questions: [] });
    expect(await answer(server, id, 'never.example', 'once')).toBe(409);
    expect(await answer(server, '0'.repeat(32), 'one.example', 'once')).toBe(404);
  });

  it('is no question any more when a changed policy answers it', async () => {
    const server = await askingServer();
    const id = await server.create();
    for (const host of ['a.example', 'b.example']) await connectAs(server, id, host);
    const put = async (body: unknown) =>
      fetch(`${server.url}/api/conversations/${id}/network`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect(await (await put({ allow: ['*.example'] })).json()).toMatchObject({ questions: [] });
    expect(await (await put({ allow: ['b.example'] })).json()).toMatchObject({ questions: [{ host: 'a.example' }] });
    expect(await (await put({ mode: 'none' })).json()).toMatchObject({ questions: [] });
    expect(await answer(server, id, 'a.example', 'always')).toBe(409);
    expect(await connectAs(server, id, 'c.example')).toContain('no network');
    expect(await hostsOf(server, id)).toEqual([]);
  });
});

it('SV451: what is allowed always, or in the settings, is asked no more in other conversations, and what waits there goes on', async () => {
  const server = await askingServer({ questionWaitMs: 3_600_000 });
  const [one, other] = [await server.create(), await server.create()];
  const client = await socketIoClient(server, { conversation_id: other, latest_event_id: -1 });
  const asked = (count: number) =>
    client.volatile.until(({ volatile, questions }) => volatile === 'network' && (questions as []).length === count, `${count} questions`);
  // From then on somebody looks.
  await client.volatile.until(({ volatile, phase }) => volatile === 'replay' && phase === 'end', 'the end of the replay');
  await connectAs(server, one, 'a.example');
  const waiting = ['a.example', 'b.example'].map((host) => connectAs(server, other, host));
  await asked(2);
  expect(await answer(server, one, 'a.example', 'always')).toBe(200);
  expect(await waiting[0]).toBe('reached');
  await asked(1);
  expect((await server.post('/api/settings', { sandbox_network_allow: ['*.example'] })).status).toBe(200);
  expect(await waiting[1]).toBe('reached');
  await asked(0);
  const frames = client.volatile.all.length;
  await server.post('/api/settings', { sandbox_network_allow: [] });
  const again = await client.volatile.until(
    (frame) => frame.volatile === 'network' && client.volatile.all.indexOf(frame) >= frames,
    'both again',
  );
  expect(again.questions).toMatchObject([{ host: 'a.example' }, { host: 'b.example' }]);
});

describe('SV452: what a sandbox can ask', () => {
  itInFull('is bounded: a thousand names are eight questions, and a hundred refusals the end of asking', async () => {
    const server = await askingServer();
    const id = await server.create();
    for (let at = 0; at < 1000; at += 1) await connectAs(server, id, `n${at % 500}.example`);
    expect(await hostsOf(server, id)).toEqual(Array.from({ length: 8 }, (_, at) => `n${at}.example`));
    let refused = 0;
    for (let at = 0; at < 500; at += 1) {
      await connectAs(server, id, `n${at}.example`);
      for (const host of await hostsOf(server, id)) if ((await answer(server, id, host, 'refuse')) === 200) refused += 1;
    }
    expect(refused).toBe(100);
    expect(await connectAs(server, await server.create(), 'n0.example')).toContain('a person is asked');
  });

  it.each(
    someOf(
      [
        ['ASKED.Example.', 443, ['asked.example']],
        ['xn--bcher-kva.example', 443, ['xn--bcher-kva.example']],
        ['bücher.example', 443, []],
        ['*.com', 443, []],
        ['<b>.example', 443, []],
        ['a.example\u202e', 443, []],
        ['a b.example', 443, []],
        [`${'x'.repeat(60)}.`.repeat(5) + 'example', 443, []],
        ['93.184.215.14', 443, []],
        ['0x5db8d70e', 443, []],
        ['93.184.55054', 443, []],
        ['[2606:2800:21f:cb07:6820:80da:af6b:8b2c]', 443, []],
        ['localhost', 80, []],
        ['printer', 80, []],
        ['metadata.google.internal', 80, []],
        ['nas.local', 80, []],
        ['asked.example', 8080, []],
        ['github.com', 443, []],
      ] as const,
      3,
    ),
  )('is the name of a public host as it is compared: %j at %i', async (host, port, asked) => {
    const server = await askingServer();
    const id = await server.create();
    const reply = await connectAs(server, id, host, port);
    expect(await hostsOf(server, id)).toEqual(asked);
    expect(reply.includes('a person is asked')).toBe(asked.length > 0);
  });

  it('is nothing where the policy is another, and for a place that the operator opened', async () => {
    const server = await askingServer({ env: { SANDBOX_NETWORK: 'full', SANDBOX_NETWORK_ALLOW_PRIVATE: 'db.example:80' } });
    const listed = await server.create({ network: { mode: 'allowlist' } });
    for (const body of [{ network: { mode: 'none' } }, {}]) {
      const id = await server.create(body);
      await connectAs(server, id, 'other.example');
      expect(await hostsOf(server, id)).toEqual([]);
    }
    await connectAs(server, listed, 'db.example', 80);
    expect(await hostsOf(server, listed)).toEqual([]);
  });
});

describe('SV453: who answers', () => {
  it('needs the scope drive for one conversation, and admin for all of them', async () => {
    const server = await askingServer({ sessionApiKey: OWNER_KEY });
    const key = async (scope: string) => {
      const { key: made } = (await (await server.post('/api/keys', { name: scope, scope }, owner)).json()) as { key: string };
      return { 'x-session-api-key': made };
    };
    const [read, drive] = [await key('read'), await key('drive')];
    const created = async () =>
      ((await (await server.post('/api/conversations', {}, owner)).json()) as { conversation_id: string }).conversation_id;
    const id = await created();
    for (const host of ['a.example', 'b.example']) await connectAs(server, id, host);
    for (const given of ['once', 'refuse', 'always'] as const) expect(await answer(server, id, 'a.example', given, read)).toBe(403);
    expect(await answer(server, id, 'a.example', 'always', drive)).toBe(403);
    expect(await answer(server, id, 'a.example', 'once', drive)).toBe(200);
    expect(await answer(server, id, 'b.example', 'always')).toBe(200);
    const other = await created();
    expect(await connectAs(server, other, 'a.example')).toContain('a person is asked');
    expect(await connectAs(server, other, 'b.example')).toBe('reached');
    expect(await (await server.get('/api/settings', owner)).json()).toMatchObject({ sandbox_network_allow: ['b.example'] });
  });
});

describe('SV454: a question', () => {
  it('is there after a restart, with its answers', async () => {
    const home = temporaryFolder();
    const before = await askingServer({ home });
    const id = await before.create();
    for (const host of ['stored.example', 'refused.example', 'always.example']) await connectAs(before, id, host);
    await answer(before, id, 'refused.example', 'refuse');
    await answer(before, id, 'always.example', 'always');
    await before.close();
    const after = await askingServer({ home });
    const client = await socketIoClient(after, { conversation_id: id, latest_event_id: -1 });
    const { questions } = await client.volatile.until(({ volatile }) => volatile === 'network', 'the question');
    expect(questions).toMatchObject([{ host: 'stored.example' }]);
    expect(await hostsOf(after, id)).toEqual(['stored.example']);
    expect(await connectAs(after, id, 'refused.example')).toContain('a person refused it');
    expect(await connectAs(after, id, 'always.example')).toBe('reached');
    expect(await answer(after, id, 'stored.example', 'once')).toBe(200);
    expect(await connectAs(after, id, 'stored.example')).toBe('reached');
  });

  it('of a delegated conversation is asked in the one that delegated, once, and its answer counts in both', async () => {
    const server = await askingServer();
    const id = await server.create();
    const { conversations } = server.engine;
    const child = await conversations.createDelegated((await conversations.get(id))!, { actionId: 1, agent: 'CodeActAgent' });
    const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
    await connectAs(server, child.id, 'both.example');
    await connectAs(server, id, 'both.example');
    await client.volatile.until(({ volatile }) => volatile === 'network', 'the question');
    for (const one of [id, child.id]) expect(await hostsOf(server, one)).toEqual(['both.example']);
    expect(await answer(server, child.id, 'both.example', 'once')).toBe(200);
    for (const one of [id, child.id]) expect(await connectAs(server, one, 'both.example')).toBe('reached');
    expect(await hostsOf(server, id)).toEqual([]);
  });
});
