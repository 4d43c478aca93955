import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server, type Socket } from 'socket.io';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { actions } from '../actions.ts';
import { connect, type ConversationConnection, type ConversationSnapshot } from '../index.ts';

const deadline = () => AbortSignal.timeout(90_000);
const unrelated = { id: 0, timestamp: '', source: 'agent', action: 'think', args: { thought: 'x' } };

interface Payload {
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly client_id?: string;
}

/** Sends what the test asks it to, and records what it receives, socket by socket. */
class Puppet {
  readonly http: HttpServer = createServer();
  readonly io = new Server(this.http);
  readonly payloads: Payload[][] = [];
  /** The socket of the client's latest connection. */
  socket: Socket | undefined;

  constructor() {
    this.io.on('connection', (socket) => {
      const payloads: Payload[] = [];
      this.payloads.push(payloads);
      this.socket = socket;
      socket.on('oh_user_action', (payload: Payload) => payloads.push(payload));
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.http.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  received(connection: number): readonly unknown[] {
    return (this.payloads[connection] ?? []).map((payload) => payload.args.content ?? payload.action);
  }

  replay(phase: 'begin' | 'end', next_id = 1): void {
    this.socket!.emit('tendon_volatile', { volatile: 'replay', phase, ...(phase === 'end' && { next_id }) });
  }

  echo(id: number, { args, client_id }: Payload): void {
    this.socket!.emit('oh_event', { id, timestamp: '', source: 'user', action: 'message', args, ...(client_id && { client_id }) });
  }
}

describe('what was sent when the connection broke', () => {
  let server: Puppet;
  let connection: ConversationConnection;
  beforeEach(async () => {
    server = new Puppet();
    const baseUrl = await server.start();
    // If silence decided anything, it would do so at once.
    connection = connect('c1', { baseUrl, random: () => 1, publishMs: 1, quietMs: 1 });
  });
  afterEach(async () => {
    connection.close();
    await server.io.close();
  });
  const when = (accepts: (snapshot: ConversationSnapshot) => boolean) => connection.when(accepts, deadline());
  const connections = (count: number) => expect.poll(() => server.payloads.length).toBe(count);
  const states = () => connection.getSnapshot().outbox.map((entry) => entry.state);

  /** Sends `words`, waits until the server has them, and cuts the connection before their echo. */
  async function cutAfter(words: string): Promise<void> {
    connection.say(words);
    await expect.poll(() => server.received(0)).toContain(words);
    server.socket!.disconnect(true);
    await connections(2);
    await when(({ connection: { state } }) => state === 'connected');
  }

  it('CL51 CL52: is sent again when the server reports the end of the replay, and not before, however long it is silent', async () => {
    await connections(1);
    server.replay('begin');
    server.replay('end');
    await when(({ loaded }) => loaded);
    await cutAfter('one');
    server.replay('begin');
    server.socket!.emit('oh_event', unrelated);
    await when(({ events }) => events.length === 1);
    // The connection has been silent for longer than the client's guess, and a new message is sent on it.
    await expect.poll(() => connection.send(actions.pause())).toBe(true);
    connection.say('two');
    await expect.poll(() => server.received(1)).toContain('change_agent_state');
    expect(server.received(1)).not.toContain('one');
    server.replay('end');
    await expect.poll(() => server.received(1)).toEqual(['change_agent_state', 'one', 'two']);
    expect(server.payloads[1]!.find(({ args }) => args.content === 'one')!.client_id).toBe(server.payloads[0]![0]!.client_id);
  });

  it('CL50: leaves by its id alone, whatever the server did to the text', async () => {
    await connections(1);
    server.replay('begin');
    server.replay('end');
    connection.say('the key is hunter2');
    connection.say('the key is hunter2');
    await expect.poll(() => server.received(0)).toHaveLength(2);
    const [first, second] = server.payloads[0]!;
    expect(first!.client_id).toMatch(/^[0-9a-f]{32}$/);
    expect(second!.client_id).not.toBe(first!.client_id);
    server.echo(1, { ...second!, args: { content: 'the key is <secret_hidden>' } });
    server.echo(2, { action: 'message', args: { content: 'the key is hunter2' } });
    await when(({ events }) => events.length === 2);
    expect(connection.getSnapshot().outbox.map((entry) => entry.clientId)).toEqual([first!.client_id]);
  });

  it('CL51: with a server that does not report it, is sent again by the user only', async () => {
    await connections(1);
    await when(({ loaded }) => loaded);
    await cutAfter('one');
    await when(({ connection: now }) => now.state === 'connected' && now.caughtUp !== undefined);
    connection.say('two');
    await expect.poll(() => server.received(1)).toEqual(['two']);
    expect(states()).toEqual(['unconfirmed', 'sent']);
    connection.resend(connection.getSnapshot().outbox[0]!.clientId);
    await expect.poll(() => server.received(1)).toEqual(['two', 'one']);
    for (const [id, content] of ['one', 'two'].entries()) server.echo(id, { action: 'message', args: { content } });
    await when(({ outbox }) => outbox.length === 0);
  });
});
