import { createScriptedProvider } from '@tendon/core/llm';
import { ChangeAgentStateAction, CondensationRequestAction, MessageAction, StopAction } from '@tendon/protocol';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { itInFull } from '@tendon/testing';
import { plainClient, socketIoClient, temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';
import { conversationsWith, made, noSandbox } from './conversations.test-support.ts';

/** A deadline, not a measurement: machines are busy. */
const WAIT = { timeout: 50_000 };

const hi = MessageAction.create({ content: 'hi' });

interface ConversationStatus {
  readonly status: string;
  readonly agent_state: string;
}
const statusOf = async (server: TestServer, id: string): Promise<ConversationStatus> =>
  (await (await server.get(`/api/conversations/${id}`)).json()) as ConversationStatus;
const lengthOf = async (server: TestServer, id: string): Promise<number> => (await server.engine.conversations.log(id))!.nextId;

/** A conversation with a turn behind it, and the last event that its client had when somebody stopped it. */
async function stopped(server: TestServer): Promise<{ readonly id: string; readonly latest: number }> {
  const id = await server.create();
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  await client.ask('hello');
  const closed = new Promise<string>((resolve) => client.socket.once('disconnect', resolve));
  expect((await server.post(`/api/conversations/${id}/stop`)).status).toBe(200);
  // Well-behaved clients do not reconnect by themselves after this.
  expect(await closed).toBe('io server disconnect');
  return { id, latest: Math.max(...client.frames.ids) };
}

describe('SV183: a conversation that somebody stopped', () => {
  itInFull('stays stopped when a client reconnects to it, and continues with a message', async () => {
    const server = await testServer({ script: [{ text: 'one' }, { text: 'two' }] });
    const { id, latest } = await stopped(server);
    const before = await lengthOf(server, id);
    const back = await socketIoClient(server, { conversation_id: id, latest_event_id: latest });
    const plain = await plainClient(server, `?conversation_id=${id}&latest_event_id=${latest}`);
    // Answered, so both have long been let in.
    for (const client of [back, plain]) {
      client.send({ action: 'no_such_action', args: {} });
      await client.frames.until((frame) => JSON.stringify(frame).includes('no_such_action'), 'a refusal');
    }
    expect(await statusOf(server, id)).toMatchObject({ status: 'STOPPED' });
    expect(await lengthOf(server, id)).toBe(before);
    await back.ask('go on');
    expect(await statusOf(server, id)).toMatchObject({ status: 'RUNNING', agent_state: 'awaiting_user_input' });
  });

  it('takes messages again when a client opens it', async () => {
    const server = await testServer({ script: [{ text: 'one' }, { text: 'two' }] });
    const { id } = await stopped(server);
    const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
    await client.frames.untilState('awaiting_user_input');
    expect(await statusOf(server, id)).toMatchObject({ status: 'RUNNING' });
    await client.ask('go on');
  });

  it('does not continue because a client stops its agent, and a message over REST is enough', async () => {
    const { conversations } = conversationsWith(60_000);
    onTestFinished(() => conversations.close());
    const id = await made(conversations);
    await conversations.submit(id, hi);
    await conversations.stop(id);
    for (const end of [ChangeAgentStateAction.create({ agent_state: 'stopped' }), StopAction.create({})])
      expect(await conversations.submit(id, end)).toMatchObject({ ok: true });
    expect(await conversations.get(id)).toMatchObject({ stopped: true });
    expect(await conversations.submit(id, hi)).toMatchObject({ ok: true });
    expect(await conversations.get(id)).toMatchObject({ stopped: false });
  });

  it('a message that is sent during the stop starts it afterwards', async () => {
    const gate = Promise.withResolvers<void>();
    const { conversations } = conversationsWith(60_000, { runtimes: { ...noSandbox, stop: () => gate.promise } });
    onTestFinished(() => conversations.close());
    const id = await made(conversations);
    await conversations.submit(id, hi);
    const stopping = conversations.stop(id);
    const submitted = conversations.submit(id, MessageAction.create({ content: 'on second thought' }));
    await vi.waitUntil(() => conversations.openCount === 0, WAIT);
    gate.resolve();
    expect(await stopping).toEqual({ wasRunning: true });
    expect(await submitted).toMatchObject({ ok: true });
    expect(await conversations.get(id)).toMatchObject({ stopped: false });
    await vi.waitUntil(() => conversations.state(id)?.agentState === 'awaiting_user_input', WAIT);
  });
});

describe('SV184: a server that starts again', () => {
  it('does not open what was stopped', async () => {
    const home = temporaryFolder();
    const script = [{ text: 'one' }];
    const first = await testServer({ home, script });
    const { id } = await stopped(first);
    const before = await lengthOf(first, id);
    await first.close();
    const next = await testServer({ home, script });
    const other = await next.create({ initial_user_msg: 'hello' });
    await vi.waitUntil(async () => (await statusOf(next, other)).agent_state === 'awaiting_user_input', WAIT);
    expect(await lengthOf(next, id)).toBe(before);
    expect(next.engine.conversations.state(id)).toBeUndefined();
    expect(await statusOf(next, id)).toMatchObject({ status: 'STOPPED' });
  });

  it('finishes a stop that was cut off', async () => {
    const ended: string[] = [];
    const never = createScriptedProvider([]);
    const llm = {
      ...never,
      async *stream() {
        await new Promise(() => undefined);
        yield* [];
      },
    };
    const first = conversationsWith(60_000, { llm });
    const id = await made(first.conversations);
    await first.conversations.submit(id, hi);
    await vi.waitUntil(() => first.conversations.state(id)?.agentState === 'running', WAIT);
    const record = (await first.conversations.get(id))!;
    await first.storage.records.put('conversations', { id, sort: record.created_at, value: { ...record, stopped: true } });

    const runtimes = { ...noSandbox, stop: async (of: string) => void ended.push(of) };
    const next = conversationsWith(60_000, { storage: first.storage, home: first.home, runtimes });
    onTestFinished(() => next.conversations.close());
    await next.conversations.wakeActive();
    expect(ended).toEqual([id]);
    expect(next.conversations.openCount).toBe(0);
    expect(await next.conversations.get(id)).toMatchObject({ stopped: true, summary: { agent_state: 'stopped' } });
    expect(await next.storage.records.list('active')).toEqual([]);
    expect(await next.conversations.start(id)).toBe(true);
    expect(next.conversations.state(id)?.agentState).toBe('awaiting_user_input');
    expect((await next.storage.records.list('active')).map((mark) => mark.id)).toEqual([id]);
  });
});

it('SV400: a message to a stopped conversation is answered though the server is killed while it takes it', async () => {
  const first = conversationsWith(60_000);
  const id = await made(first.conversations);
  await first.conversations.stop(id);
  const message = { ...hi, client_id: 'mine' };
  // Killed when it is about to change the record: it comes no further.
  const { records } = first.storage;
  const put = records.put.bind(records);
  const killed = Promise.withResolvers<void>();
  records.put = (collection, record) => {
    if (collection !== 'conversations') return put(collection, record);
    killed.resolve();
    return new Promise(() => undefined);
  };
  void first.conversations.submit(id, message);
  await killed.promise;
  records.put = put;

  const next = conversationsWith(60_000, { storage: first.storage, home: first.home });
  onTestFinished(() => next.conversations.close());
  await next.conversations.wakeActive();
  expect(await next.conversations.submit(id, message)).toMatchObject({ ok: true });
  const log = (await next.conversations.log(id))!;
  await vi.waitUntil(
    async () => (await log.read()).some((event) => 'action' in event && event.action === 'message' && event.source === 'agent'),
    WAIT,
  );
  expect((await log.read()).filter(({ client_id }) => client_id === 'mine')).toHaveLength(1);
  expect(await next.conversations.get(id)).toMatchObject({ stopped: false });
});

it('SV400: what a stopped conversation has already, or does not take, leaves it stopped', async () => {
  const { conversations } = conversationsWith(60_000);
  onTestFinished(() => conversations.close());
  const id = await made(conversations);
  const message = { ...hi, client_id: 'mine' };
  await conversations.submit(id, message);
  await vi.waitUntil(() => conversations.state(id)?.agentState === 'awaiting_user_input', WAIT);
  await conversations.stop(id);
  expect(await conversations.submit(id, message)).toMatchObject({ ok: true, isRepeated: true });
  expect(await conversations.submit(id, MessageAction.create({ content: ' ' }))).toMatchObject({ ok: false });
  expect(await conversations.get(id)).toMatchObject({ stopped: true });
});

it('SV185: a conversation stays open until a requested condensation is done', async () => {
  const gate = Promise.withResolvers<void>();
  const playing = createScriptedProvider((_request, index) => ({ text: `answer ${index}` }));
  let asked = 0;
  const llm: typeof playing = {
    ...playing,
    async *stream(request, options) {
      asked += 1;
      if (asked > 10) await gate.promise;
      yield* playing.stream(request, options);
    },
  };
  const { conversations } = conversationsWith(1, { llm });
  onTestFinished(() => conversations.close());
  const id = await made(conversations);
  for (let turn = 1; turn <= 10; turn += 1) {
    const submitted = await conversations.submit(id, MessageAction.create({ content: `message ${turn}` }));
    if (!submitted.ok) throw new Error(submitted.error.message);
    await vi.waitUntil(async () => (await (await conversations.log(id))!.read({ from: submitted.event.id })).length >= 4, WAIT);
  }
  await conversations.submit(id, CondensationRequestAction.create({}));
  await vi.waitUntil(() => asked === 11, WAIT);
  // Others are closed meanwhile.
  const other = await made(conversations);
  (await conversations.enter(other))!.release();
  await vi.waitUntil(() => conversations.openCount === 1, WAIT);
  expect(conversations.state(id)).toBeDefined();
  gate.resolve();
  await vi.waitUntil(() => conversations.openCount === 0, WAIT);
  const log = await (await conversations.log(id))!.read();
  expect(log.some((event) => 'action' in event && event.action === 'condensation')).toBe(true);
});
