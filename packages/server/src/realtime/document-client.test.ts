/** A client of `openhands-events.md`, which knows no conversation, no cursor and no frame but the document's. */
import type { Clock } from '@tendon/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { io } from 'socket.io-client';
import { CLIENT_TIMEOUTS } from '../platform/http/client-timeouts.ts';
import { Frames, socketIoClient, testServer, type TestServer, type WireFrame } from '../server.test-support.ts';
import { systemClock } from '../platform/system-clock.ts';

const say = (content: string) => ({ action: 'message', args: { content } });
const script = Array.from({ length: 10 }, (_, index) => ({ text: `answer ${index}` }));
const AT_ONCE = { ...CLIENT_TIMEOUTS, firstFrameMs: 1 };
const NEVER = { ...CLIENT_TIMEOUTS, firstFrameMs: 2_000_000_000 };

async function conversationsOf(server: TestServer): Promise<string[]> {
  const { results } = (await (await server.get('/api/conversations')).json()) as { results: { conversation_id: string }[] };
  return results.map(({ conversation_id }) => conversation_id);
}

const states = (frames: Frames): unknown[] => frames.all.flatMap(({ extras }) => extras?.agent_state ?? []);

describe('DL180: a client that waits for the server', () => {
  it.each([['websocket'], ['polling']])('over %s is sent LOADING, then INIT', async (transport) => {
    const server = await testServer({ script, timeouts: AT_ONCE });
    const { frames, send } = await socketIoClient(server, {}, { transports: [transport] });
    await frames.untilState('AWAITING_USER_INPUT');
    expect(states(frames)).toEqual(['LOADING', 'INIT', 'AWAITING_USER_INPUT']);
    send(say('hi'));
    await frames.until((frame) => frame.message === 'answer 0');
    expect(await conversationsOf(server)).toHaveLength(1);
  });

  it('with dialect=events-doc is sent them at once', async () => {
    const server = await testServer({ script, timeouts: NEVER });
    const { frames } = await socketIoClient(server, { dialect: 'events-doc' });
    expect(await frames.untilState('INIT')).toMatchObject({ observation: 'agent_state_changed' });
  });

  it('is sent them after a first frame that began nothing', async () => {
    const server = await testServer({ script, timeouts: AT_ONCE });
    const { frames, send } = await socketIoClient(server, {});
    send({ action: 'no_such_action', args: {} });
    await frames.until((frame) => frame.observation === 'error');
    expect(await frames.untilState('INIT')).toMatchObject({ observation: 'agent_state_changed' });
  });

  it('a frontend of 0.15 whose first frame comes at once gets only its own dialect', async () => {
    const timeUp = Promise.withResolvers<void>();
    const clock: Clock = {
      now: () => new Date(),
      sleep: (ms, options) => (ms === NEVER.firstFrameMs ? timeUp.promise : systemClock.sleep(ms, options)),
    };
    const server = await testServer({ script, timeouts: NEVER, clock });
    const client = await socketIoClient(server, {});
    client.socket.emit('oh_action', { action: 'initialize', args: {} });
    await client.frames.untilState('awaiting_user_input');
    timeUp.resolve();
    await client.ask('hi');
    expect(states(client.frames).filter((state) => state !== String(state).toLowerCase())).toEqual([]);
    expect(await conversationsOf(server)).toHaveLength(1);
  });
});

describe('DL181: a client of the document whose connection broke', () => {
  /** The library's own reconnection, on a connection that can be cut. */
  async function reconnecting(server: TestServer, query: Readonly<Record<string, string>> = {}) {
    const socket = io(server.url, { forceNew: true, transports: ['websocket'], query, reconnectionDelay: 1, reconnectionDelayMax: 1 });
    const frames = new Frames();
    socket.on('oh_event', (frame: WireFrame) => frames.take(frame));
    let offset = '';
    socket.on('tendon_offset', (latest: string) => (offset = latest));
    const connected = (): Promise<void> => new Promise((resolve) => socket.once('connect', resolve));
    await connected();
    onTestFinished(() => void socket.close());
    return {
      frames,
      socket,
      connected,
      async cut(): Promise<void> {
        const back = connected();
        socket.io.engine.close();
        await back;
      },
      /** The agent rests after these words of it, and the client's library knows which event was the last. */
      async untilRest(words: string): Promise<void> {
        const heard = await frames.until((frame) => frame.message === words);
        await frames.until((frame) => Number(frame.id) > Number(heard.id) && frame.extras?.agent_state === 'AWAITING_USER_INPUT');
        await expect.poll(() => offset).toBe(String(frames.ids.at(-1)));
      },
    };
  }

  it('resumes its conversation by its library alone, without missed or repeated events', async () => {
    const server = await testServer({ script, timeouts: NEVER });
    const { frames, socket, cut, untilRest } = await reconnecting(server);
    socket.emit('oh_action', say('one'));
    await untilRest('answer 0');
    for (let n = 1; n <= 3; n++) {
      await cut();
      expect(socket.recovered).toBe(true);
      socket.emit('oh_action', say(`again ${n}`));
      await untilRest(`answer ${n}`);
    }
    expect(frames.ids).toEqual([...frames.ids.keys()]);
    expect(await conversationsOf(server)).toHaveLength(1);
  });

  it('is sent what it missed meanwhile', async () => {
    const server = await testServer({ script, timeouts: NEVER });
    const { frames, socket, untilRest } = await reconnecting(server);
    socket.emit('oh_action', say('one'));
    await untilRest('answer 0');
    const id = String(frames.all[0]!.conversation_id);
    socket.io.reconnection(false);
    socket.io.engine.close();
    const other = await socketIoClient(server, { conversation_id: id });
    await other.ask('meanwhile');
    socket.connect();
    await untilRest('answer 1');
    expect(frames.ids).toEqual([...frames.ids.keys()]);
  });

  it('resumes also after a restart of the server', async () => {
    const first = await testServer({ script, timeouts: NEVER });
    const { frames, socket, connected, untilRest } = await reconnecting(first);
    socket.emit('oh_action', say('one'));
    await untilRest('answer 0');
    const { port } = new URL(first.url);
    const back = connected();
    await first.close();
    const second = await testServer({ script, timeouts: NEVER, home: first.home, env: { PORT: port } });
    await back;
    socket.emit('oh_action', say('two'));
    await untilRest('answer 0'); // another process begins the script anew
    expect(frames.ids).toEqual([...frames.ids.keys()]);
    expect(await conversationsOf(second)).toHaveLength(1);
  });

  it('a library without recovery resumes by the id in every frame', async () => {
    const server = await testServer({ script, timeouts: NEVER });
    const { frames, send, socket } = await socketIoClient(server, {});
    send(say('hi'));
    const { conversation_id } = await frames.until((frame) => frame.message === 'answer 0');
    const latest = await frames.untilState('AWAITING_USER_INPUT');
    socket.close();
    expect(await conversationsOf(server)).toEqual([conversation_id]);
    expect(frames.all.filter((frame) => frame.conversation_id !== conversation_id)).toEqual([]);
    const query = { conversation_id: String(conversation_id), latest_event_id: Number(latest.id), dialect: 'events-doc' };
    const again = await socketIoClient(server, query);
    again.send(say('more'));
    await again.frames.until((frame) => frame.message === 'answer 1');
    expect(again.frames.ids[0]).toBe(Number(latest.id) + 1);
  });

  it('an unknown conversation begins anew, and one that it may not see stays closed to it', async () => {
    const key = 'the-owner-of-this';
    const server = await testServer({ script, timeouts: AT_ONCE, sessionApiKey: key });
    const vain = await socketIoClient(server, { session_api_key: key }, { auth: { pid: '0'.repeat(32), offset: '7' } });
    await vain.frames.untilState('INIT');
    expect(vain.frames.ids[0]).toBe(0);
    const id = String(vain.frames.all[0]!.conversation_id);
    await expect(socketIoClient(server, {}, { auth: { pid: id, offset: '0' } })).rejects.toThrow(/invalid_session_api_key/);
  });
});
