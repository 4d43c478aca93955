import { describe, expect, it } from 'vitest';
import { plainClient, socketIoClient, temporaryFolder, testServer, type TestServer, type WireFrame } from '../../server.test-support.ts';

const script = Array.from({ length: 20 }, (_, index) => ({ text: `answer ${index}` }));

async function messagesOf(server: TestServer, id: string): Promise<string[]> {
  const { trajectory } = (await (await server.get(`/api/conversations/${id}/trajectory`)).json()) as { trajectory: WireFrame[] };
  return trajectory.flatMap((event) => (event.source === 'user' && event.action === 'message' ? [String(event.message)] : []));
}

async function count(server: TestServer): Promise<number> {
  return ((await (await server.get('/api/conversations')).json()) as { results: unknown[] }).results.length;
}

const key = (name: string, more: Readonly<Record<string, string>> = {}) => ({ 'idempotency-key': name, ...more });

describe('SV194: a request with an Idempotency-Key', () => {
  it('creates one conversation and sends its task once, however often and whenever it is repeated', async () => {
    const home = temporaryFolder();
    const body = { initial_user_msg: 'build it' };
    const create = async (server: TestServer): Promise<unknown> =>
      ((await (await server.post('/api/conversations', body, key('k-1'))).json()) as { conversation_id: string }).conversation_id;
    const server = await testServer({ home, script });
    const ids = await Promise.all(Array.from({ length: 10 }, () => create(server)));
    expect(new Set(ids).size).toBe(1);
    const id = String(ids[0]);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    await server.close();

    const next = await testServer({ home, script });
    expect(await create(next)).toBe(id);
    expect(await count(next)).toBe(1);
    expect(await messagesOf(next, id)).toEqual(['build it']);
  });

  it('sends the task when the first attempt was interrupted before it', async () => {
    const server = await testServer({ script });
    const body = { initial_user_msg: 'build it' };
    const { conversation_id: id } = (await (await server.post('/api/conversations', body, key('k-1'))).json()) as {
      conversation_id: string;
    };
    // As a crash leaves it between the record and the task.
    const record = (await server.engine.conversations.get(id))!;
    await server.engine.conversations.delete(id);
    await server.close();
    const next = await testServer({ home: server.home, script });
    await next.engine.storage.records.put('conversations', { id, sort: record.created_at, value: record });
    expect(await messagesOf(next, id)).toEqual([]);
    expect(await (await next.post('/api/conversations', body, key('k-1'))).json()).toMatchObject({ status: 'ok', conversation_id: id });
    expect(await messagesOf(next, id)).toEqual(['build it']);
  });

  it('with another body is refused, and without a key creates another one', async () => {
    const server = await testServer({ script });
    await server.post('/api/conversations', { initial_user_msg: 'build it' }, key('k-1'));
    const other = await server.post('/api/conversations', { initial_user_msg: 'burn it' }, key('k-1'));
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ status: 'error', message: expect.stringContaining('Idempotency-Key') });
    await server.create({ initial_user_msg: 'build it' });
    expect(await count(server)).toBe(2);
    expect((await server.post('/api/conversations', {}, key('x'.repeat(256)))).status).toBe(422);
  });

  it('belongs to its caller: another caller’s with the same key is another request', async () => {
    const server = await testServer({ script, sessionApiKey: 'the-owners-own-key' });
    const owner = { 'x-session-api-key': 'the-owners-own-key' };
    const { key: second } = (await (await server.post('/api/keys', { name: 'ci', scope: 'drive' }, owner)).json()) as { key: string };
    const ids: string[] = [];
    for (const asked of [owner, { 'x-session-api-key': second }, owner]) {
      const answer = await server.post('/api/conversations', {}, key('k-1', asked));
      ids.push(((await answer.json()) as { conversation_id: string }).conversation_id);
    }
    expect(ids[0]).toBe(ids[2]);
    expect(ids[1]).not.toBe(ids[0]);
  });

  it('records a message once, and is answered with its event', async () => {
    const server = await testServer({ script });
    const id = await server.create();
    const say = async (message: string, headers: Readonly<Record<string, string>>): Promise<unknown> =>
      (await server.post(`/api/conversations/${id}/message`, { message }, headers)).json();
    const first = await say('hello', key('k-1'));
    expect(first).toEqual({ success: true, event_id: 3 });
    expect(await say('hello', key('k-1'))).toEqual(first);
    expect(await say('goodbye', key('k-1'))).toMatchObject({ msg_id: 'STATUS$ERROR' });
    await say('hello', key('k-2'));
    expect(await messagesOf(server, id)).toEqual(['hello', 'hello']);
  });
});

describe('EN181: an action from one endpoint is recognized at every other', () => {
  it('Socket.IO, /ws and REST, also after a restart', async () => {
    const server = await testServer({ script });
    const id = await server.create();
    const message = { action: 'message', args: { content: 'hello' }, client_id: 'c-1' };
    const client = await socketIoClient(server, { conversation_id: id });
    client.send(message);
    const isEcho = (frame: WireFrame): boolean => frame.client_id === 'c-1';
    const echo = await client.frames.until(isEcho);
    const answers = () => client.frames.all.filter(isEcho).length;
    client.send(message);
    await expect.poll(answers).toBe(2);
    expect(client.frames.all.filter(isEcho)[1]).toEqual(echo);

    const answer = await server.post(`/api/conversations/${id}/message`, { message: 'hello', client_id: 'c-1' });
    expect(await answer.json()).toEqual({ success: true, event_id: echo.id });
    expect(await (await server.post(`/api/conversations/${id}/events`, message)).json()).toEqual({ success: true, event_id: echo.id });
    const plain = await plainClient(server, `?conversation_id=${id}`);
    plain.send(message);
    plain.send({ action: 'no_such_action', args: {} });
    await plain.frames.until((frame) => frame.error === true);
    await server.close();

    const next = await testServer({ home: server.home, script });
    const late = await socketIoClient(next, { conversation_id: id, latest_event_id: 1_000 });
    late.send(message);
    expect(await late.frames.until(isEcho)).toMatchObject({ id: echo.id });
    expect(await messagesOf(next, id)).toEqual(['hello']);
  });
});
