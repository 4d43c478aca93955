import { join } from 'node:path';
import { openSqliteStorage } from '@tendon/core/storage';
import { MessageAction } from '@tendon/protocol';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../platform/system-clock.ts';
import { temporaryFolder, testServer, type WireFrame } from '../../../server.test-support.ts';
import { authToken, FOUR, initialized, message, wsClient } from './ws-client.test-support.ts';
import { WS_SESSIONS } from './ws-sessions.ts';

const script = Array.from({ length: 40 }, (_, index) => ({ text: `answer ${index}` }));
const SETTINGS_2024_07 = { ...FOUR, CONFIRMATION_MODE: false, SECURITY_ANALYZER: '' };
const says = (text: string) => (frame: WireFrame) => JSON.stringify(frame).includes(text);

describe('DL81: the first frames', () => {
  it('without a token: a new one, whose sid can be read, and the greeting of opendevin-2024-03', async () => {
    const server = await testServer();
    const client = await wsClient(server);
    await client.frames.until((frame) => frame.action === 'initialize');
    const [first, second] = client.frames.all;
    expect(first).toEqual({ token: expect.any(String) as string, status: 'ok' });
    expect(decodeJwt(String(first!.token))).toEqual({ sid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string });
    expect(second).toEqual({ action: 'initialize', message: 'Control loop started.' });
  });

  it.each(['?token=', '?token=&latest_event_id=-1'])(
    '%s: an empty token is none, and its client is later than opendevin-2024-03',
    async (query) => {
      const server = await testServer({ script });
      const client = await wsClient(server, query);
      await initialized(client, FOUR);
      expect(client.frames.all[0]).toMatchObject({ status: 'ok' });
      expect(client.frames.all.some((frame) => frame.action === 'initialize')).toBe(false);
    },
  );

  it('opendevin-2024-11 is answered with its subprotocol, and gets the same token again', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server, '', ['openhands', 'NO_JWT', 'NO_GITHUB']);
    expect(client.socket.protocol).toBe('openhands');
    const token = await initialized(client, SETTINGS_2024_07);
    const again = await wsClient(server, '?latest_event_id=0', ['openhands', token, 'ghp_0000']);
    expect(await again.frames.until((frame) => 'token' in frame)).toEqual({ token, status: 'ok' });
  });

  it('a token of /api/auth brings no frame until initialize', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server, `?token=${await authToken(server)}`);
    client.send({ action: 'initialize', args: { ...FOUR, MAX_ITERATIONS: '100', WORKSPACE_BASE: 'null' } });
    client.send({ action: 'start', args: { task: 'go' } });
    await client.frames.until(says('answer 0'));
    expect(client.frames.all.slice(0, 2)).toEqual([
      { action: 'initialize', message: 'Control loop started.' },
      { message: 'Starting new task...' },
    ]);
  });
});

describe('DL83: of a conversation that begins with it', () => {
  it.each(['auth', 'resumed'])('a client (%s) is sent everything, also that its agent is not here', async (entry) => {
    const server = await testServer({ script });
    const token = entry === 'auth' ? await authToken(server) : String((await (await wsClient(server)).frames.until(() => true)).token);
    const client = await wsClient(server, `?token=${token}&latest_event_id=40`);
    client.send({ action: 'initialize', args: { ...FOUR, AGENT: 'MonologueAgent' } });
    client.send({ action: 'start', args: { task: 'go' } });
    expect(await client.frames.until(says('no agent'))).toMatchObject({ observation: 'error' });
    await client.frames.until(says('answer 0'));
  });
});

describe('DL82: refusals', () => {
  it.each(['?token=x', '?token=null', '?token=a.b.c'])('%s', async (query) => {
    const server = await testServer();
    const client = await wsClient(server, query);
    expect(await client.closed).toBe(1008);
    expect(client.frames.all).toEqual([{ error: 'Invalid token', error_code: 401 }]);
  });

  it('a token of another server, by subprotocol', async () => {
    const [server, other] = [await testServer(), await testServer()];
    const client = await wsClient(server, '', ['openhands', await authToken(other), 'NO_GITHUB']);
    expect(await client.closed).toBe(1008);
    expect(client.frames.all).toEqual([{ error: 'Invalid token', error_code: 401 }]);
  });

  it.each([[['openhands']], [['openhands', 'NO_JWT']]])('too few subprotocols: %j', async (protocols) => {
    const server = await testServer();
    const client = await wsClient(server, '', protocols);
    expect(await client.closed).toBe(1008);
    expect(client.frames.all).toEqual([]);
  });

  it('SV74: with a key of the server every generation needs it', async () => {
    const server = await testServer({ sessionApiKey: 'a-key-of-some-length' });
    await expect(wsClient(server)).rejects.toThrow('401');
    await expect(wsClient(server, '', ['openhands', 'NO_JWT', 'NO_GITHUB'])).rejects.toThrow('401');
    expect((await server.get('/api/auth', { authorization: 'Bearer null' })).status).toBe(401);
    await initialized(await wsClient(server, '?session_api_key=a-key-of-some-length'), SETTINGS_2024_07);
  });
});

describe('DL83: a token stands for a conversation', () => {
  it('coming back gives what came after the cursor, the state after initialize, and then what is live', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server);
    const token = await initialized(client, SETTINGS_2024_07);
    client.send(message('one'));
    const { id: seen } = await client.frames.until(says('answer 0'));
    await client.frames.untilState('awaiting_user_input');
    client.socket.terminate();

    const back = await wsClient(server, `?token=${token}&latest_event_id=${seen}`);
    back.send({ action: 'initialize', args: SETTINGS_2024_07 });
    await back.frames.untilState('awaiting_user_input');
    const states = back.frames.all.map(({ extras }) => (extras as { agent_state?: string } | undefined)?.agent_state).filter(Boolean);
    expect(states, 'DL122').toEqual(['loading', 'init', 'awaiting_user_input']);
    back.send(message('two'));
    await back.frames.until(says('answer 1'));
    expect(back.frames.ids.every((id) => id > Number(seen))).toBe(true);
    expect(back.frames.all.some(says('"two"'))).toBe(false);

    const whole = await wsClient(server, `?token=${token}`);
    await whole.frames.until(says('answer 1'));
    expect(whole.frames.all.filter((frame) => frame.source === 'user').map((frame) => frame.message)).toEqual(['one', 'two']);
    expect(whole.frames.all.some((frame) => frame.observation === 'agent_state_changed')).toBe(false);
    expect(((await (await server.get('/api/conversations')).json()) as { results: unknown[] }).results).toHaveLength(1);
  });

  it('through a restart of the server', async () => {
    const home = temporaryFolder();
    const first = await testServer({ home, script });
    const client = await wsClient(first);
    const token = await initialized(client, SETTINGS_2024_07);
    client.send(message('one'));
    await client.frames.until(says('answer 0'));
    await first.close();
    const second = await testServer({ home, script });
    const back = await wsClient(second, `?token=${token}`);
    await back.frames.until(says('answer 0'));
    expect(back.frames.all[0]).toEqual({ token, status: 'ok' });
  });

  it('sockets that come at once share one conversation', async () => {
    const server = await testServer({ script });
    const token = await authToken(server);
    const clients = await Promise.all([1, 2, 3].map(() => wsClient(server, `?token=${token}`)));
    for (const client of clients) client.send({ action: 'initialize', args: FOUR });
    for (const client of clients) await client.frames.untilState('init');
    clients[0]!.send({ action: 'message', args: { content: 'hello' } });
    for (const client of clients) await client.frames.until(says('answer 0'));
    expect(((await (await server.get('/api/conversations')).json()) as { results: unknown[] }).results).toHaveLength(1);
  });

  it('a deleted conversation leaves a good token', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server);
    const token = await initialized(client, SETTINGS_2024_07);
    const { results } = (await (await server.get('/api/conversations')).json()) as { results: { conversation_id: string }[] };
    await fetch(`${server.url}/api/conversations/${results[0]!.conversation_id}`, { method: 'DELETE' });
    expect(await client.closed).toBe(1008);
    const back = await wsClient(server, `?token=${token}`);
    expect(await initialized(back, SETTINGS_2024_07)).toBe(token);
  });
});

describe('DL90: opendevin-2024-04 to opendevin-2024-06 after a cut', () => {
  it('get what they missed, unless the page was loaded again', async () => {
    const server = await testServer({ script });
    const token = await authToken(server);
    const enter = async () => {
      const client = await wsClient(server, `?token=${token}`);
      client.send({ action: 'initialize', args: FOUR });
      return client;
    };
    const first = await enter();
    first.send({ action: 'start', args: { task: 'one' } });
    await first.frames.until(says('answer 0'));
    await first.frames.until((frame) => (frame.args as WireFrame | undefined)?.task_state === 'awaiting_user_input');
    first.socket.terminate();
    await expect
      .poll(() => server.engine.conversations.list({ limit: 1 }).then(([record]) => server.engine.conversations.connections(record!.id)))
      .toBe(0);
    const [record] = await server.engine.conversations.list({ limit: 1 });
    await server.engine.conversations.submit(record!.id, MessageAction.create({ content: 'two' }));

    const back = await enter();
    await back.frames.until(says('answer 1'));
    expect(back.frames.all.some(says('answer 0'))).toBe(false);
    back.socket.terminate();

    await authToken(server, token);
    const reloaded = await enter();
    reloaded.send({ action: 'user_message', args: { message: 'three' } });
    await reloaded.frames.until(says('answer 2'));
    expect(reloaded.frames.all.some(says('answer 1'))).toBe(false);
  });
});

describe('DL84: the generation is detected once and stored with the token', () => {
  it('opendevin-2024-05 and opendevin-2024-06 look alike until the first task, and not after it', async () => {
    const server = await testServer({ script });
    const token = await authToken(server);
    const client = await wsClient(server, `?token=${token}`);
    client.send({ action: 'initialize', args: FOUR });
    await client.frames.untilState('init');
    expect(client.frames.all).toMatchObject([
      { action: 'initialize' },
      { action: 'change_task_state', args: { task_state: 'init' } },
      { observation: 'agent_state_changed', message: 'The agent is ready.', extras: { agent_state: 'init' } },
    ]);
    client.send({ action: 'start', args: { task: 'go' } });
    await client.frames.until(says('answer 0'));
    client.send({ action: 'user_message', args: { message: 'more' } });
    expect(await client.frames.until(says('answer 1'))).toMatchObject({ action: 'talk', args: { content: 'answer 1' } });
    client.socket.terminate();

    const back = await wsClient(server, `?token=${token}`);
    back.send({ action: 'initialize', args: FOUR });
    await back.frames.until((frame) => frame.action === 'change_task_state');
    back.send({ action: 'user_message', args: { message: 'again' } });
    await back.frames.until(says('answer 2'));
    expect(back.frames.all.some((frame) => 'observation' in frame)).toBe(false);
  });

  it('opendevin-2024-06 is known by its first message', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server, `?token=${await authToken(server)}`);
    client.send({ action: 'initialize', args: FOUR });
    await client.frames.untilState('init');
    client.send({ action: 'message', args: { content: 'go' } });
    expect(await client.frames.until(says('answer 0'))).toMatchObject({ source: 'agent', action: 'message' });
    await client.frames.untilState('awaiting_user_input');
    client.send({ action: 'change_agent_state', args: { agent_state: 'stopped' } });
    await client.frames.untilState('stopped');
    expect(client.frames.all.filter((frame) => frame.action === 'change_task_state')).toHaveLength(1);
  });

  it('a session that an earlier version stored, by a number, speaks the same generation', async () => {
    const first = await testServer({ script });
    const { home } = first;
    const token = await authToken(first);
    const client = await wsClient(first, `?token=${token}`);
    client.send({ action: 'message', args: { content: 'go' } });
    await client.frames.until(says('answer 0'));
    await client.frames.untilState('awaiting_user_input');
    await first.close();
    const storage = await openSqliteStorage({ path: join(home, 'tendon.db'), blobDir: join(home, 'blobs'), clock: systemClock });
    const sid = String(decodeJwt(token).sid);
    const stored = await storage.records.get<object>(WS_SESSIONS, sid);
    expect(stored).toMatchObject({ generation: 'opendevin-2024-06' });
    await storage.records.put(WS_SESSIONS, { id: sid, sort: '2026-01-01T00:00:00.000Z', value: { ...stored, generation: `W${3}` } });
    await storage.close();

    const back = await wsClient(await testServer({ script, home }), `?token=${token}`);
    back.send({ action: 'initialize', args: FOUR });
    await back.frames.untilState('awaiting_user_input');
    expect(back.frames.all.filter((frame) => frame.action === 'change_task_state')).toEqual([]);
  });

  it('a first message without initialize works as well', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server);
    client.send(message('go'));
    expect(await client.frames.until(says('answer 0'))).toMatchObject({ id: expect.any(Number) as number, action: 'message' });
  });
});

describe('DL88: what travels in initialize', () => {
  const command = { toolCalls: [{ name: 'execute_bash', arguments: { command: 'echo hi' } }] };

  it('confirmation: the action waits, and comes again when it is decided', async () => {
    const server = await testServer({ script: [command, { text: 'done' }] });
    const client = await wsClient(server);
    await initialized(client, { ...SETTINGS_2024_07, CONFIRMATION_MODE: true });
    client.send(message('go'));
    await client.frames.untilState('awaiting_user_confirmation');
    const run = (is_confirmed: string) => (frame: WireFrame) =>
      frame.action === 'run' && (frame.args as Record<string, unknown>).is_confirmed === is_confirmed;
    const asked = await client.frames.until(run('awaiting_confirmation'));
    client.send({ action: 'change_agent_state', args: { agent_state: 'user_confirmed' } });
    const again = await client.frames.until(run('confirmed'));
    expect(Number(again.id)).toBeGreaterThan(Number(asked.id));
    await client.frames.until((frame) => frame.observation === 'run' && frame.cause === again.id);
    await client.frames.until(says('done'));
  });

  it('a model at no address is refused by name', async () => {
    const server = await testServer();
    const client = await wsClient(server);
    client.send({ action: 'initialize', args: { ...SETTINGS_2024_07, LLM_BASE_URL: 'nowhere' } });
    expect((await client.frames.until((frame) => frame.error === true)).message).toContain('LLM_BASE_URL');
    await initialized(client, SETTINGS_2024_07);
  });

  it('a client that comes back brings its model anew', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server);
    await initialized(client, { ...SETTINGS_2024_07, LLM_MODEL: 'some/model' });
    client.send({ action: 'initialize', args: { ...SETTINGS_2024_07, LLM_MODEL: 'other/model' } });
    await expect
      .poll(async () => ((await (await server.get('/api/conversations')).json()) as { results: unknown[] }).results)
      .toMatchObject([{ llm_model: 'other/model' }]);
  });
});

describe('DL62: the terminal', () => {
  it('a person’s command runs beside the agent, and its output is theirs', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server);
    await initialized(client, SETTINGS_2024_07);
    client.send({ action: 'run', args: { command: 'echo from-the-terminal' } });
    expect(await client.frames.until((frame) => frame.observation === 'run')).toMatchObject({
      source: 'user',
      content: expect.stringContaining('from-the-terminal') as string,
      extras: { command: 'echo from-the-terminal', exit_code: 0 },
    });
    expect(client.frames.all.some((frame) => frame.action === 'run')).toBe(false);
  });
});
