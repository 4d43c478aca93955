/** What clients see when the server of their conversation ends: at most one reconnection, and nothing missing. */
import { io } from 'socket.io-client';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { Seen, waitFor } from '@tendon/testing';
import type { TendonProcess, WireEvent } from '@tendon/testing/servers';
import { Cluster, SCRIPT } from './cluster.ts';

let cluster: Cluster;
let owner: TendonProcess;
let other: TendonProcess;
let id: string;
beforeEach(async () => {
  cluster = await Cluster.start();
  [owner, other] = [await cluster.add({}, SCRIPT), await cluster.add({}, SCRIPT)];
  ({ conversation_id: id } = await owner.json<{ conversation_id: string }>('/api/conversations', {}));
});
afterEach(() => cluster.remove());

class Client {
  readonly events = new Seen<WireEvent>();
  readonly closings: string[] = [];
  readonly socket;

  constructor(url: string, transport: string) {
    const query = { conversation_id: id, latest_event_id: '-1' };
    this.socket = io(url, { forceNew: true, transports: [transport], reconnectionDelay: 1_000, query });
    onTestFinished(() => void this.socket.close());
    this.socket.on('oh_event', (event: WireEvent) => typeof event.id === 'number' && this.events.take(event));
    this.socket.io.on('reconnect_attempt', () => {
      this.socket.io.opts.query = { conversation_id: id, latest_event_id: String(this.events.all.at(-1)?.id ?? -1) };
    });
    this.socket.io.on('close', (reason) => this.closings.push(reason));
  }

  async asks(content: string): Promise<void> {
    this.socket.emit('oh_user_action', { action: 'message', args: { content } });
    const { id: sent } = await this.events.until(({ source, args }) => source === 'user' && args?.content === content, `"${content}"`);
    const isRest = ({ id: at, extras }: WireEvent): boolean => at > sent && extras?.agent_state === 'awaiting_user_input';
    await this.events.until(isRest, `the end of "${content}"`);
  }

  get ids(): readonly number[] {
    return this.events.all.map((event) => event.id);
  }
}

async function expectWhole(client: Client): Promise<void> {
  const recorded = (await other.trajectory(id)).map((event) => event.id);
  expect(recorded).toEqual(recorded.map((_, at) => at));
  expect(new Set(client.ids).size).toBe(client.ids.length);
  expect(client.ids).toEqual(client.ids.toSorted((a, b) => a - b));
}

it.each(['websocket', 'polling'])(
  'SV1233: a client over %s whose server is killed comes back once, and misses nothing',
  async (transport) => {
    const client = new Client(other.url, transport);
    await client.asks('First.');
    await owner.kill('SIGKILL');
    await waitFor(new Promise<void>((resolve) => client.socket.io.once('reconnect', () => resolve())), () => 'a reconnection');
    await client.asks('Second.');
    expect(client.closings).toHaveLength(1);
    await expectWhole(client);
    expect(await cluster.owned()).toEqual({ [other.url]: 1 });
  },
);

it('SV1233: a client whose server is frozen comes back once, and misses nothing; what thaws has nothing', async () => {
  const client = new Client(other.url, 'websocket');
  await client.asks('First.');
  process.kill(owner.pid, 'SIGSTOP');
  try {
    await waitFor(new Promise<void>((resolve) => client.socket.io.once('reconnect', () => resolve())), () => 'a reconnection');
    await client.asks('Second.');
  } finally {
    process.kill(owner.pid, 'SIGCONT');
  }
  await client.asks('Third.');
  expect(client.closings).toHaveLength(1);
  await expectWhole(client);
  // Through the server that had it.
  const late = new Client(owner.url, 'websocket');
  await late.asks('Fourth.');
  await client.events.until(({ args }) => args?.content === 'Fourth.', 'the words of the other client');
  await expectWhole(late);
});

it('SV1234: a server that ends in good order hands over: its clients come back once, those of other servers with it', async () => {
  const [near, far] = [new Client(owner.url, 'websocket'), new Client(other.url, 'websocket')];
  await near.asks('First.');
  await far.asks('Second.');
  await owner.kill('SIGTERM');
  await waitFor(new Promise<void>((resolve) => far.socket.io.once('reconnect', () => resolve())), () => 'a reconnection');
  await far.asks('Third.');
  expect(far.closings).toHaveLength(1);
  await expectWhole(far);
});

it('SV1233: a plain socket whose server is killed ends with 1012, and goes on where it was', async () => {
  const open = () => {
    const socket = new WebSocket(`${other.url.replace('http', 'ws')}/ws?conversation_id=${id}`);
    const seen = new Seen<unknown>();
    socket.on('message', (data: Buffer) => seen.take(JSON.parse(data.toString())));
    onTestFinished(() => socket.terminate());
    return { socket, seen, closed: new Promise<number>((resolve) => socket.once('close', resolve)) };
  };
  const answers = (client: ReturnType<typeof open>): number =>
    client.seen.all.filter((frame) => JSON.stringify(frame).includes('"finish"') && JSON.stringify(frame).includes('agent')).length;
  const first = open();
  first.socket.once('open', () => first.socket.send(JSON.stringify({ action: 'start', args: { task: 'Do it.' } })));
  await first.seen.until(() => answers(first) > 0, 'an answer');
  await owner.kill('SIGKILL');
  expect(await waitFor(first.closed, () => 'the end of the socket')).toBe(1012);
  // The next one waits until the conversation has a server.
  const second = open();
  await second.seen.until(() => answers(second) > 0, 'the past');
  second.socket.send(JSON.stringify({ action: 'start', args: { task: 'Go on.' } }));
  await second.seen.until(() => answers(second) > 1, 'another answer');
  expect(await cluster.owned()).toEqual({ [other.url]: 1 });
});
