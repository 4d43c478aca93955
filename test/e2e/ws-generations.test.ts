/** A client of each generation of `/ws`: a whole task with the demonstration in the real sandbox, cut off in the middle, and back again. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { itInFull, Seen, someOf } from '@tendon/testing';
import { TendonProcess } from '@tendon/testing/servers';

const TASK = 'write a bash script that prints hello';
const FOUR = { LLM_MODEL: 'demo', AGENT: 'CodeActAgent', LANGUAGE: 'en', LLM_API_KEY: '' };
const SETTINGS_2024_07 = { ...FOUR, CONFIRMATION_MODE: false, SECURITY_ANALYZER: '' };

interface Frame {
  readonly action?: string;
  readonly observation?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly extras?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

let tendon: TendonProcess;
beforeAll(async () => {
  tendon = await TendonProcess.start();
});
afterAll(() => tendon.remove());

class Client {
  readonly #seen = new Seen<Frame>();
  readonly frames: readonly Frame[] = this.#seen.all;
  readonly socket: WebSocket;
  readonly closed: Promise<number>;

  constructor(query = '', protocols: readonly string[] = []) {
    this.socket = new WebSocket(`${tendon.url.replace('http', 'ws')}/ws${query}`, [...protocols]);
    this.socket.on('message', (data: Buffer) => this.#seen.take(JSON.parse(data.toString()) as Frame));
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
    onTestFinished(() => this.socket.terminate());
  }

  static async open(query?: string, protocols?: readonly string[]): Promise<Client> {
    const client = new Client(query, protocols);
    await new Promise((resolve, reject) => client.socket.once('open', resolve).once('error', reject));
    return client;
  }

  send(action: string, args: object): void {
    this.socket.send(JSON.stringify({ action, args }));
  }

  until(passes: (frame: Frame) => boolean): Promise<Frame> {
    return this.#seen.until(passes);
  }

  async token(): Promise<string> {
    return String((await this.until((frame) => typeof frame.token === 'string')).token);
  }

  leave(): void {
    this.socket.terminate();
  }
}

/** For opendevin-2024-11 the command stands before its output. */
const ranIt = (frame: Frame) =>
  frame.observation === 'run' && String(frame.content).trim().split('\r\n').at(-1) === 'hello' && frame.extras?.exit_code === 0;
const isFinish = (frame: Frame) => frame.action === 'finish';
const isState = (state: string) => (frame: Frame) => frame.extras?.agent_state === state || frame.args?.task_state === state;

/** EN126: a person searches the messages, and is answered whether something is found or not. */
async function asksItsMemory(client: Client): Promise<void> {
  const recalled = (frame: Frame): boolean => frame.observation === 'recall';
  client.send('recall', { query: 'bash script' });
  expect(await client.until(recalled)).toMatchObject({ extras: { memories: [expect.stringContaining(TASK)], role: 'assistant' } });
  client.send('recall', { query: 'never sent' });
  expect(await client.until((frame) => recalled(frame) && frame.content === '')).toMatchObject({ extras: { memories: [] } });
}

async function get(path: string, token: string): Promise<unknown> {
  return (await fetch(`${tendon.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
}

describe('opendevin-2024-03', () => {
  it('DL81, EN126: by websocat, without a token', async () => {
    const client = await Client.open();
    client.send('start', { task: TASK });
    await client.until(isFinish);
    expect(client.frames.some(ranIt)).toBe(true);
    expect(client.frames.filter((frame) => 'id' in frame || frame.error)).toEqual([]);
    await asksItsMemory(client);
  });
});

describe('opendevin-2024-04', () => {
  it('DL85: works, goes away in the middle, resumes by REST', async () => {
    const { token } = (await get('/api/auth', 'null')) as { token: string };
    const configuration = (await get('/api/configurations', token)) as Record<string, unknown>;
    const settings = Object.fromEntries(Object.entries(configuration).map(([key, value]) => [key, String(value)]));
    const client = await Client.open(`?token=${token}`);
    client.send('initialize', settings);
    client.send('start', { task: TASK });
    await client.until((frame) => frame.action === 'think');
    client.leave();

    const back = await Client.open(`?token=${token}`);
    back.send('initialize', settings);
    await back.until((frame) => frame.message === 'Control loop started.');
    type Stored = { messages: { role: string; payload: Frame }[] };
    const stored = async () => ((await get('/api/messages', token)) as Stored).messages;
    await expect.poll(async () => (await stored()).some(({ payload }) => isFinish(payload))).toBe(true);
    const messages = await stored();
    expect(messages[0]).toMatchObject({ role: 'user', payload: { args: { task: TASK } } });
    expect(messages.some(({ payload }) => ranIt(payload))).toBe(true);
    expect(await get('/api/messages/total', token)).toEqual({ msg_total: messages.length });
    expect(await get('/api/refresh-files', token)).toMatchObject({ children: [{ name: 'hello.sh', children: [] }] });
    expect(await get('/api/select-file?file=hello.sh', token)).toMatchObject({ code: expect.stringContaining('hello') as string });
    back.send('start', { task: 'list the files' });
    expect(JSON.stringify(await back.until(isFinish))).not.toContain('task_state');
  });
});

describe('opendevin-2024-05', () => {
  it('DL70: states, a task, a pause that is refused, a follow-up after coming back', async () => {
    const { token } = (await get('/api/auth', 'null')) as { token: string };
    const client = await Client.open(`?token=${token}`);
    client.send('initialize', FOUR);
    await client.until(isState('init'));
    client.send('start', { task: TASK });
    await client.until(isState('finished'));
    expect(client.frames.some(ranIt)).toBe(true);
    client.send('change_task_state', { task_state_action: 'pause' });
    await client.until((frame) => frame.error === true);
    client.leave();

    const back = await Client.open(`?token=${token}`);
    back.send('initialize', FOUR);
    await back.until(isState('finished'));
    back.send('user_message', { message: 'read hello.sh' });
    await back.until(isFinish);
    await expect.poll(() => back.frames.findLast((frame) => frame.action === 'change_task_state')?.args?.task_state).toBe('finished');
    expect(back.frames.some((frame) => frame.observation === 'agent_state_changed')).toBe(false);
  });
});

const LATER = [
  ['opendevin-2024-06', FOUR],
  ['opendevin-2024-07', SETTINGS_2024_07],
  ['opendevin-2024-11', SETTINGS_2024_07],
] as const;

describe.each(someOf(LATER, LATER.slice(-1)))('%s', (generation, settings) => {
  const enter = async (token: string | undefined, latest: number | undefined): Promise<Client> => {
    const query = new URLSearchParams({ ...(latest !== undefined && { latest_event_id: String(latest) }) });
    if (generation === 'opendevin-2024-11') return Client.open(`?${query.toString()}`, ['openhands', token ?? 'NO_JWT', 'NO_GITHUB']);
    if (token !== undefined) query.set('token', token);
    return Client.open(query.size > 0 ? `?${query.toString()}` : '');
  };

  it('DL83, EN126: initialize, a task, gone in the middle, back with what was missed and nothing twice', async () => {
    const client = await enter(undefined, undefined);
    client.send('initialize', settings);
    await client.until(isState('init'));
    const token = await client.token();
    client.send('message', { content: TASK, images_urls: [], timestamp: '2024-10-03T10:00:00.000Z' });
    const { id: latest } = await client.until((frame) => typeof frame.id === 'number' && frame.action !== undefined);
    client.leave();

    const back = await enter(token, Number(latest));
    back.send('initialize', settings);
    await back.until(isFinish);
    await back.until(isState('finished'));
    expect(await back.token()).toBe(token);
    expect(back.frames.filter(ranIt)).toHaveLength(1);
    const ids = back.frames.map((frame) => frame.id).filter((id) => typeof id === 'number');
    expect(ids.every((id) => id > Number(latest))).toBe(true);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(await get('/api/list-files?path=/', token)).toEqual(['/hello.sh']);
    expect(await get('/api/list-files', token)).toEqual(['hello.sh']);
    await asksItsMemory(back);
  });

  itInFull('DL62: the terminal runs what a person types', async () => {
    const client = await enter(undefined, undefined);
    client.send('initialize', settings);
    client.send('run', { command: 'echo typed; pwd' });
    expect(await client.until((frame) => frame.observation === 'run')).toMatchObject({ source: 'user', content: 'typed\r\n/workspace' });
  });
});

describe('refusals', () => {
  it('DL82: a token that was not made here', async () => {
    for (const client of [await Client.open('?token=not.a.token'), await Client.open('', ['openhands', 'not.a.token', 'NO_GITHUB'])]) {
      expect([await client.closed, client.frames]).toEqual([1008, [{ error: 'Invalid token', error_code: 401 }]]);
    }
  });
});

itInFull('DL68: confirmation, refused and then granted', async () => {
  const client = await Client.open();
  client.send('initialize', { ...SETTINGS_2024_07, CONFIRMATION_MODE: true });
  await client.until(isState('init'));
  client.send('message', { content: 'run `echo confirmed`' });
  const waits = (state: string) => (frame: Frame) => frame.action === 'run' && frame.args?.is_confirmed === state;
  await client.until(waits('awaiting_confirmation'));
  await client.until(isState('awaiting_user_confirmation'));
  client.send('change_agent_state', { agent_state: 'user_rejected' });
  await client.until(waits('rejected'));
  await client.until((frame) => frame.observation === 'user_rejected');
  await client.until(isState('awaiting_user_input'));
  client.send('message', { content: 'run `echo granted`' });
  await expect.poll(() => client.frames.filter(isState('awaiting_user_confirmation')).length).toBe(2);
  client.send('change_agent_state', { agent_state: 'user_confirmed' });
  const again = await client.until(waits('confirmed'));
  expect(await client.until((frame) => frame.observation === 'run')).toMatchObject({ cause: again.id, content: 'granted' });
});
