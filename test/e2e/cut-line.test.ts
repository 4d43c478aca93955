import { connect as dial, createServer, type AddressInfo, type Socket } from 'node:net';
import { connect } from '@tendon/client';
import { TendonProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';

/** A line between a client and the server: it can be cut, and let through only so much of what the server says. */
class Line {
  readonly #server = createServer((client) => this.#carry(client));
  readonly #port: number;
  readonly #open = new Set<Socket>();
  /** Bytes of the server that each connection still gets; the rest waits. */
  allowance = Infinity;

  constructor(port: number) {
    this.#port = port;
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #carry(client: Socket): void {
    const upstream = dial(this.#port, '127.0.0.1');
    let left = this.allowance;
    this.#open.add(client);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.pipe(upstream);
    client.once('close', () => {
      this.#open.delete(client);
      upstream.destroy();
    });
    upstream.on('data', (data: Buffer) => {
      client.write(data.subarray(0, left));
      left -= data.length;
      if (left <= 0) upstream.pause();
    });
    upstream.once('close', () => client.destroy());
  }
}

const deadline = () => AbortSignal.timeout(60_000);
const SCRIPT = Array.from({ length: 20 }, (_, index) => ({ text: `answer ${index}` }));

async function timesSent(tendon: TendonProcess, id: string, words: string): Promise<number> {
  const messages = (await tendon.trajectory(id)).filter((event) => event.source === 'user' && event.action === 'message');
  return messages.filter((event) => String(event.args?.content).includes(words)).length;
}

async function make(tendon: TendonProcess): Promise<string> {
  return (await tendon.json<{ conversation_id: string }>('/api/conversations', {})).conversation_id;
}

async function setUp() {
  const tendon = await TendonProcess.scripted(SCRIPT);
  const line = new Line(Number(new URL(tendon.url).port));
  onTestFinished(async () => {
    line.close();
    await tendon.remove();
  });
  const baseUrl = await line.open();
  const join = (id: string) => {
    const connection = connect(id, { baseUrl, random: () => 1 });
    onTestFinished(() => connection.close());
    return connection;
  };
  return { tendon, line, join };
}

it('CL50 EN181: a message with a secret in it is recorded once, however often the connection breaks', async () => {
  const { tendon, line, join } = await setUp();
  await tendon.json('/api/secrets', { name: 'DEPLOY_KEY', value: 'hunter2-hunter2' });
  const id = await make(tendon);
  const connection = join(id);
  await connection.when(({ loaded }) => loaded, deadline());
  connection.say('deploy it with the key hunter2-hunter2 please');
  for (let cuts = 0; cuts < 4; cuts++) {
    await connection.when(({ outbox, connection: { state } }) => outbox.length === 0 && state === 'connected', deadline());
    line.cut();
    await connection.when(({ connection: { state } }) => state === 'reconnecting', deadline());
    await connection.when(({ connection: now }) => now.state === 'connected' && now.caughtUp !== undefined, deadline());
  }
  expect(await timesSent(tendon, id, 'deploy it')).toBe(1);
});

it('CL51 EN181: a message sent during a long replay, over a connection that breaks again and again, is recorded once', async () => {
  const { tendon, line, join } = await setUp();
  const id = await make(tendon);
  const text = 'x'.repeat(15_000);
  for (let count = 0; count < 20; count++) {
    await tendon.json(`/api/conversations/${id}/events`, {
      action: 'recall',
      args: { query: `${count} ${text}`, recall_type: 'knowledge' },
    });
  }
  line.allowance = 100_000;
  const connection = join(id);
  await connection.when(({ events }) => events.length > 0, deadline());
  connection.say('please begin');
  await expect.poll(() => timesSent(tendon, id, 'please begin')).toBe(1);
  expect(connection.getSnapshot().outbox).toHaveLength(1);
  for (let cuts = 0; cuts < 3; cuts++) {
    line.cut();
    await connection.when(({ connection: { state } }) => state === 'reconnecting', deadline());
    await connection.when(({ connection: { state } }) => state === 'connected', deadline());
  }
  line.allowance = Infinity;
  line.cut();
  const done = await connection.when(({ loaded, outbox, events }) => loaded && outbox.length === 0 && events.length > 20, deadline());
  expect(done.events.filter((event) => event.client_id !== undefined)).toHaveLength(1);
  expect(await timesSent(tendon, id, 'please begin')).toBe(1);
});
