/** For whom a connection waits, and who is sent its question: a real server with clients of every kind. */
import { describe, expect, it } from 'vitest';
import { plainClient, socketIoClient, type SocketIoClient, type TestServer, type WireFrame } from '../../server.test-support.ts';
import { askingServer, connectAs } from './network.test-support.ts';

const OWNER_KEY = 'the-key-of-the-owner';
const owner = { 'x-session-api-key': OWNER_KEY };
const ownerQuery = { session_api_key: OWNER_KEY };
/** A wait of this length fails the test. */
const questionWaitMs = 3_600_000;

/** A client that has everything so far. */
async function watching(server: TestServer, id: string, access: Readonly<Record<string, string>> = ownerQuery): Promise<SocketIoClient> {
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1, ...access });
  await client.volatile.until(({ volatile, phase }) => volatile === 'replay' && phase === 'end', 'the end of the replay');
  return client;
}

async function issued<Named extends string>(server: TestServer, path: string, body: unknown): Promise<Readonly<Record<Named, string>>> {
  return (await (await server.post(path, body, owner)).json()) as Readonly<Record<Named, string>>;
}

const created = async (server: TestServer): Promise<string> =>
  (await issued<'conversation_id'>(server, '/api/conversations', {})).conversation_id;

async function answerOnce(server: TestServer, id: string, host: string): Promise<void> {
  const reply = await server.post(`/api/conversations/${id}/network/answer`, { host, answer: 'once' }, owner);
  expect(reply.status).toBe(200);
}

const isQuestion = ({ volatile, questions }: WireFrame): boolean => volatile === 'network' && (questions as readonly unknown[]).length > 0;
const questionsSent = ({ volatile }: SocketIoClient): readonly number[] =>
  volatile.all.filter((frame) => frame.volatile === 'network').map(({ questions }) => (questions as readonly unknown[]).length);

describe('SV451: a connection that a person is asked about', () => {
  it('does not wait for those who are not shown the question, or may not answer it', async () => {
    const server = await askingServer({ questionWaitMs, sessionApiKey: OWNER_KEY });
    const id = await created(server);
    const { key } = await issued<'key'>(server, '/api/keys', { name: 'r', scope: 'read' });
    const { token } = await issued<'token'>(server, `/api/conversations/${id}/shares`, {});
    await plainClient(server, `?conversation_id=${id}`, owner);
    await watching(server, id, { session_api_key: key });
    await watching(server, id, { share: token });
    await expect.poll(() => server.engine.conversations.connections(id)).toBe(3);
    const held = await server.engine.conversations.enter(id);
    expect(await connectAs(server, id, 'unanswerable.example')).toMatch(/a person is asked/);
    held!.release();
  });

  it('waits for who may, as long as one is there', async () => {
    const server = await askingServer({ questionWaitMs, sessionApiKey: OWNER_KEY });
    const id = await created(server);
    const { key } = await issued<'key'>(server, '/api/keys', { name: 'd', scope: 'drive' });
    const [driver, other] = [await watching(server, id, { session_api_key: key }), await watching(server, id)];
    other.socket.close();
    await expect.poll(() => server.engine.conversations.connections(id)).toBe(1);
    const waiting = connectAs(server, id, 'asked.example');
    await driver.volatile.until(isQuestion, 'the question');
    await answerOnce(server, id, 'asked.example');
    expect(await waiting).toBe('reached');
    driver.socket.close();
    await expect.poll(() => server.engine.conversations.connections(id)).toBe(0);
    expect(await connectAs(server, id, 'unseen.example')).toMatch(/a person is asked/);
  });

  it('waits for who watches only a conversation that was delegated', async () => {
    const server = await askingServer({ questionWaitMs, sessionApiKey: OWNER_KEY });
    const id = await created(server);
    const { conversations } = server.engine;
    const child = await conversations.createDelegated((await conversations.get(id))!, { actionId: 1, agent: 'CodeActAgent' });
    const client = await watching(server, child.id);
    const waiting = connectAs(server, child.id, 'asked.example');
    await client.volatile.until(isQuestion, 'the question');
    await answerOnce(server, child.id, 'asked.example');
    expect(await waiting).toBe('reached');
  });

  it('is shown to who comes later, and not again to those who saw it', async () => {
    const server = await askingServer({ sessionApiKey: OWNER_KEY });
    const id = await created(server);
    const early = await watching(server, id);
    await connectAs(server, id, 'asked.example');
    const late = await watching(server, id);
    await late.volatile.until(isQuestion, 'the question');
    await answerOnce(server, id, 'asked.example');
    for (const client of [early, late]) {
      await client.volatile.until((frame) => frame.volatile === 'network' && !isQuestion(frame), 'that nothing is asked');
      expect(questionsSent(client)).toEqual([1, 0]);
    }
  });
});
