import * as fc from 'fast-check';
import { io } from 'socket.io-client';
import { itInFull, runs } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { Frames, plainClient, socketIoClient, testServer, type TestServer, type WireFrame } from '../server.test-support.ts';

const say = (content: string) => ({ action: 'message', args: { content } });
const TURNS = 6;
const script = Array.from({ length: 40 }, (_, index) => ({ text: `answer ${index}` }));
const isState = (frame: WireFrame) => frame.observation === 'agent_state_changed';

/** A conversation with some turns behind it, and what a client sees that was there from the start. */
async function withHistory(server: TestServer): Promise<{ readonly id: string; readonly seen: readonly WireFrame[] }> {
  const id = await server.create();
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  for (let turn = 0; turn < TURNS; turn++) await client.ask(`question ${turn}`);
  client.socket.close();
  const all = client.frames.all.filter((frame) => typeof frame.id === 'number');
  return { id, seen: all };
}

/** Everything, up to a frame that only arrives when the replay is over. */
async function replayed(server: TestServer, id: string, latest: number | string): Promise<WireFrame[]> {
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: latest });
  client.send({ action: 'no_such_action', args: {} });
  await client.frames.until((frame) => frame.code === 'UNKNOWN_ACTION');
  client.socket.close();
  return client.frames.all.filter((frame) => typeof frame.id === 'number');
}

describe('SV12: a connection is a cursor over the log', () => {
  it('live: every event once, in order', async () => {
    const server = await testServer({ script });
    const { seen } = await withHistory(server);
    const ids = seen.map((frame) => Number(frame.id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.slice(2)).toEqual(ids.slice(2).toSorted((a, b) => a - b));
  });

  itInFull('reconnecting at every cursor gives exactly the rest, the last state last', async () => {
    const server = await testServer({ script });
    const { id } = await withHistory(server);
    const everything = await replayed(server, id, -1);
    const last = Math.max(...everything.map((frame) => Number(frame.id)));
    expect(isState(everything.at(-1)!)).toBe(true);
    expect(everything.filter(isState)).toHaveLength(1);
    for (let cursor = -1; cursor <= last; cursor++) {
      const rest = await replayed(server, id, cursor);
      expect(rest).toEqual(everything.filter((frame) => Number(frame.id) > cursor));
    }
  });

  it.each(['undefined', 'null', 'NaN', '-5', '1e9', '9007199254740993', ''])('the cursor %j harms nobody', async (cursor) => {
    const server = await testServer({ script });
    const { id } = await withHistory(server);
    const got = await replayed(server, id, cursor);
    expect(got.length === 0 || got.length > 10).toBe(true);
  });

  it('SV193: Socket.IO clients are notified when the replay begins and when it ends, from any cursor', async () => {
    const server = await testServer({ script });
    const { id } = await withHistory(server);
    const everything = await replayed(server, id, -1);
    const last = Math.max(...everything.map((frame) => Number(frame.id)));
    const past = Math.max(...(await (await server.engine.conversations.log(id))!.read()).map((event) => event.id));
    for (const cursor of [-1, 3, last - 1, last, past + 100]) {
      const socket = io(server.url, { forceNew: true, transports: ['websocket'], query: { conversation_id: id, latest_event_id: cursor } });
      const seen = new Frames();
      socket.onAny((_name: string, frame: WireFrame) => seen.take(frame));
      const end = await seen.until((frame) => frame.phase === 'end');
      socket.close();
      expect(end).toEqual({ volatile: 'replay', phase: 'end', next_id: past + 1 });
      const rest = everything.filter((frame) => Number(frame.id) > cursor).map((frame) => frame.id);
      expect(seen.all.map((frame) => frame.id ?? frame.phase)).toEqual(['begin', ...rest, 'end']);
    }
  });

  it('CL1000: a client that asks for the tail is sent the newest events, and the fold of all before them', async () => {
    const server = await testServer({ script });
    const { id } = await withHistory(server);
    const everything = await replayed(server, id, -1);
    const log = (await server.engine.conversations.log(id))!;
    const { nextId } = log;
    const state = server.engine.conversations.state(id)!;
    const lastMessage = state.lastUserMessageId;
    for (const [cursor, tail, first] of [
      [-1, nextId - lastMessage + 5, lastMessage - 5],
      // It begins with the user's last message, where that is not far above.
      [-1, 2, lastMessage],
      [-1, 1, nextId - lastMessage <= 4 ? lastMessage : nextId - 1],
      [5, 3, lastMessage],
      [nextId - 3, 10, undefined],
      [-1, 9_999, undefined],
      [-1, '0', undefined],
      [-1, 'many', undefined],
    ] as const) {
      const client = await socketIoClient(server, { conversation_id: id, latest_event_id: cursor, tail });
      await client.volatile.until((frame) => frame.phase === 'end');
      client.socket.close();
      const from = first ?? cursor + 1;
      const rest = everything.filter((frame) => Number(frame.id) >= from);
      expect([tail, client.frames.all.filter((frame) => typeof frame.id === 'number')]).toEqual([tail, rest]);
      const left = client.volatile.all.find((frame) => frame.phase === 'tail');
      const wanted: unknown = expect.objectContaining({
        next_id: nextId,
        agent_state: state.agentState,
        pending: [],
        last_user_message_id: lastMessage,
      });
      const isLeft = first !== undefined && { from: cursor + 1, first_id: first, state: wanted };
      expect([tail, left ?? false]).toEqual([tail, isLeft && { volatile: 'replay', phase: 'tail', ...isLeft }]);
    }
  });

  it('two clients get the same sequence, whenever they came', async () => {
    const server = await testServer({ script });
    const id = await server.create();
    const early = await socketIoClient(server, { conversation_id: id });
    const late = await socketIoClient(server, { conversation_id: id });
    early.send(say('hi'));
    for (const { frames } of [early, late]) {
      const { id: answered } = await frames.until((frame) => frame.message === 'answer 0');
      await frames.until((frame) => isState(frame) && Number(frame.id) > Number(answered));
    }
    const events = (frames: readonly WireFrame[]) => frames.filter((frame) => Number(frame.id) > 2);
    expect(events(late.frames.all)).toEqual(events(early.frames.all));
  });

  it('frames sent before the history came wait their turn', async () => {
    const server = await testServer({ script });
    const id = await server.create();
    const client = await socketIoClient(server, { conversation_id: id });
    client.send(say('at once'));
    await client.frames.until((frame) => frame.message === 'answer 0');
    const { results } = (await (await server.get('/api/conversations')).json()) as { results: unknown[] };
    expect(results).toHaveLength(1);
  });

  it('polling works as well', async () => {
    const server = await testServer({ script });
    const id = await server.create();
    const client = await socketIoClient(server, { conversation_id: id }, { transports: ['polling'] });
    client.send(say('hi'));
    expect(await client.frames.until((frame) => frame.message === 'answer 0')).toMatchObject({ source: 'agent' });
  });

  it('volatile frames come beside the events and are in no replay', async () => {
    const server = await testServer({ script });
    const id = await server.create();
    const client = await socketIoClient(server, { conversation_id: id });
    client.send(say('Name me'));
    await client.volatile.until((frame) => frame.volatile === 'delta' && String(frame.text).startsWith('answer'));
    await client.frames.until((frame) => frame.conversation_title === 'Name me' && frame.message === id);
    expect((await replayed(server, id, -1)).some((frame) => 'volatile' in frame || 'status_update' in frame)).toBe(false);
  });
});

describe('SV13: refusals', () => {
  it.each([
    ['an unknown conversation', { conversation_id: '0'.repeat(32) }, /not found/],
    ['an empty one', { conversation_id: '' }, /No conversation_id in query params/],
  ])('%s', async (_name, query, words) => {
    const server = await testServer();
    await expect(socketIoClient(server, query)).rejects.toThrow(words);
  });

  it('/ws says why and closes', async () => {
    const server = await testServer();
    const client = await plainClient(server, '?conversation_id=nope');
    expect(await client.closed).toBe(1008);
    expect(client.frames.all.at(-1)).toMatchObject({ error: true, message: 'Conversation nope not found' });
  });

  it('a deleted conversation says goodbye to those who look at it', async () => {
    const server = await testServer();
    const id = await server.create();
    const client = await socketIoClient(server, { conversation_id: id });
    await client.frames.untilState('awaiting_user_input');
    const gone = new Promise((resolve) => client.socket.once('disconnect', resolve));
    await fetch(`${server.url}/api/conversations/${id}`, { method: 'DELETE' });
    expect(await gone).toBe('io server disconnect');
    expect(client.frames.all.at(-1)).toMatchObject({ code: 'CONVERSATION_DELETED' });
  });
});

describe('SV14: generations on Socket.IO', () => {
  it('0.15 initializes in band, gets a token, and comes back with it', async () => {
    const server = await testServer({ script });
    const first = await socketIoClient(server, {});
    first.socket.emit('oh_action', { action: 'initialize', args: { LLM_MODEL: '', AGENT: 'CodeActAgent' } });
    const { token } = await first.frames.until((frame) => typeof frame.token === 'string');
    await first.frames.untilState('init');
    first.socket.emit('oh_action', say('hi'));
    await first.frames.until((frame) => frame.message === 'answer 0');
    first.socket.close();
    expect(first.frames.all[0]).toEqual({ token, status: 'ok' });

    const again = await socketIoClient(server, {});
    again.socket.emit('oh_action', { action: 'initialize', args: {}, token, latest_event_id: 3 });
    await again.frames.until((frame) => frame.message === 'answer 0');
    expect(again.frames.ids.every((id) => id > 3)).toBe(true);

    const forged = await socketIoClient(server, {});
    forged.socket.emit('oh_action', { action: 'initialize', args: {}, token: `${String(token)}x` });
    await forged.frames.until((frame) => frame.error === 'Invalid token' && frame.error_code === 401);
  });

  it('DL88: who comes back in band, or initializes again, brings model and key anew', async () => {
    const server = await testServer({ script });
    const first = await socketIoClient(server, {});
    first.socket.emit('oh_action', { action: 'initialize', args: { LLM_MODEL: 'one/model', LLM_API_KEY: 'sk-0000000001' } });
    const { token } = await first.frames.until((frame) => typeof frame.token === 'string');
    first.socket.close();
    const found = (await (await server.get('/api/conversations')).json()) as { results: { conversation_id: string }[] };
    const id = found.results[0]!.conversation_id;
    const { conversations, modelKeys } = server.engine;
    const chosen = async () => {
      const record = (await conversations.get(id))!;
      return [record.model, modelKeys.of(record)?.apiKey?.reveal()];
    };

    const again = await socketIoClient(server, {});
    again.socket.emit('oh_action', { action: 'initialize', args: { LLM_MODEL: 'two/model', LLM_API_KEY: 'sk-0000000002' }, token });
    await again.frames.until((frame) => frame.token === token || frame.status === 'ok');
    expect(await chosen()).toEqual(['two/model', 'sk-0000000002']);
    const later = await socketIoClient(server, { conversation_id: id });
    await later.frames.untilState('awaiting_user_input');
    const before = later.frames.all.length;
    later.socket.emit('oh_user_action', { action: 'initialize', args: { LLM_MODEL: 'three/model', LLM_API_KEY: 'sk-0000000003' } });
    await later.frames.until((frame) => later.frames.all.indexOf(frame) >= before && frame.id === 'STATUS$READY');
    expect(await chosen()).toEqual(['three/model', 'sk-0000000003']);
  });

  it('a client by the letter of the document speaks first and gets upper-case states', async () => {
    const server = await testServer({ script });
    const client = await socketIoClient(server, {});
    client.send(say('hi'));
    await client.frames.until((frame) => frame.message === 'answer 0');
    expect(await client.frames.untilState('AWAITING_USER_INPUT')).toMatchObject({ observation: 'agent_state_changed' });
  });

  it('dialect=events-doc chooses it for a known conversation', async () => {
    const server = await testServer({ script });
    const client = await socketIoClient(server, { conversation_id: await server.create(), dialect: 'events-doc' });
    expect(await client.frames.untilState('AWAITING_USER_INPUT')).toMatchObject({ observation: 'agent_state_changed' });
  });
});

describe('SV15: /ws of the seed document', () => {
  it('start without initialize makes a conversation and runs; follow-ups drive it', async () => {
    const server = await testServer({ script });
    const client = await plainClient(server);
    client.send({ action: 'start', args: { task: 'write a bash script that prints hello' } });
    await client.frames.until((frame) => JSON.stringify(frame).includes('answer 0'));
    client.send({ action: 'start', args: { task: 'more' } });
    await client.frames.until((frame) => JSON.stringify(frame).includes('answer 1'));
    const { results } = (await (await server.get('/api/conversations')).json()) as { results: { title: string }[] };
    expect(results).toMatchObject([{ title: 'write a bash script that prints hello' }]);
    expect(client.frames.ids).toEqual([]);
  });

  it('initialize chooses model, agent and folder, and a foreign folder is refused by name', async () => {
    const server = await testServer({ script });
    const client = await plainClient(server);
    client.send({ action: 'initialize', args: { directory: '/etc', model: 'x', agent_cls: 'CodeActAgent' } });
    const { message } = await client.frames.until((frame) => frame.error === true);
    expect(message).toContain('TENDON_ALLOWED_DIRS');
    client.send({ action: 'initialize', args: { directory: 'inner', model: 'some/model' } });
    await expect
      .poll(async () => ((await (await server.get('/api/conversations')).json()) as { results: unknown[] }).results)
      .toMatchObject([{ llm_model: 'some/model' }]);
  });

  it('SV224: initialize with an unknown agent reports at once, and once, which one works instead', async () => {
    const server = await testServer({ script });
    const client = await plainClient(server);
    const notices = () => client.frames.all.filter((frame) => JSON.stringify(frame).includes('CodeActAgent works instead'));
    client.send({ action: 'initialize', args: { agent_cls: 'MonologueAgent' } });
    await client.frames.until((frame) => String(frame.content).includes('"MonologueAgent"; CodeActAgent works instead'));
    client.send({ action: 'initialize', args: { agent_cls: 'MonologueAgent' } });
    client.send({ action: 'start', args: { task: 'hi' } });
    await client.frames.until((frame) => JSON.stringify(frame).includes('answer 0'));
    expect(notices()).toHaveLength(1);
  });

  it('a state cannot be asked for before there is a task', async () => {
    const server = await testServer();
    const client = await plainClient(server);
    client.send({ action: 'change_agent_state', args: { agent_state: 'paused' } });
    const { message } = await client.frames.until((frame) => frame.error === true);
    expect(message).toContain('no task was started');
  });
});

describe('SV16: every frame is answered', () => {
  it.each([
    ['{', 'Invalid JSON'],
    ['1', 'not an object'],
    ['null', 'not an object'],
    ['[]', 'not an object'],
    ['{}', '"action" is missing'],
    ['{"action":"nope"}', 'no action "nope"'],
    ['{"action":"start"}', 'No task specified'],
    ['{"action":"start","args":{"task":" "}}', 'No task specified'],
    ['{"action":"system","args":{"content":"x"}}', 'action of the agent'],
    ['{"action":"message","args":{"content":7}}', 'args.content'],
    ['{"action":"change_agent_state","args":{"agent_state":"flying"}}', 'not a state'],
  ])('%s', async (text, words) => {
    const server = await testServer();
    const client = await plainClient(server);
    client.send(text);
    const { message } = await client.frames.until((frame) => frame.error === true);
    expect(message).toContain(words);
  });

  it('a binary frame is refused, one over 20 MB closes the socket', async () => {
    const server = await testServer();
    const client = await plainClient(server);
    client.socket.send(Buffer.from('{"action":"start"}'));
    await client.frames.until((frame) => String(frame.message).includes('binary'));
    client.socket.send('x'.repeat(21 << 20));
    expect(await client.closed).toBe(1009);
  });

  it('whatever is sent, the server stays up and other conversations do not notice', async () => {
    const server = await testServer({ script });
    const id = await server.create();
    const bystander = await socketIoClient(server, { conversation_id: id });
    const plain = await plainClient(server);
    const other = await socketIoClient(server, { conversation_id: await server.create() });
    const kinds = fc.constantFrom(
      'start',
      'initialize',
      'message',
      'run',
      'change_agent_state',
      'recall',
      'kill',
      'browse',
      'edit',
      'pause',
      '__proto__',
    );
    const frame = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .record({ action: fc.oneof(kinds, fc.string()), args: fc.jsonValue(), timeout: fc.jsonValue(), token: fc.jsonValue() })
        .map((value) => JSON.stringify(value)),
      fc
        .record({
          action: kinds,
          args: fc.dictionary(fc.constantFrom('task', 'content', 'agent_state', 'command', 'directory'), fc.jsonValue()),
        })
        .map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(frame, async (text) => {
        plain.send(text);
        other.socket.emit('oh_user_action', parsed(text));
        other.socket.emit(text.slice(0, 20) || 'x', text);
        expect((await server.get('/alive')).ok).toBe(true);
      }),
      { numRuns: runs(200) },
    );
    bystander.send(say('still there?'));
    await bystander.frames.until((event) => event.message === 'answer 0');
    expect(plain.socket.readyState).toBe(plain.socket.OPEN);
  });
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
