import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { array, assert, asyncProperty, integer, nat } from 'fast-check';
import { Server, type Socket } from 'socket.io';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { connect, type ConversationConnection } from '../index.ts';

const deadline = () => AbortSignal.timeout(90_000);
const STATE_EVERY = 7;

function frame(id: number): Record<string, unknown> {
  const meta = { id, timestamp: '2026-01-01T00:00:00.000Z', source: id % 3 ? 'agent' : 'environment', message: '' };
  if (id % STATE_EVERY === 0)
    return { ...meta, observation: 'agent_state_changed', content: '', extras: { agent_state: id % 2 ? 'running' : 'paused', reason: '' } };
  return { ...meta, action: 'think', args: { thought: `thought ${id}` } };
}

/** Speaks the 0.62 replay: the last state change is sent after everything else. Drops the socket after `dropAfter` frames. */
class Replayer {
  readonly http: HttpServer = createServer();
  readonly io = new Server(this.http);
  readonly cursors: number[] = [];
  readonly received: unknown[] = [];
  length = 0;
  drops: number[] = [];

  constructor() {
    this.io.use((socket, next) => {
      const key = socket.handshake.query.session_api_key;
      next(key === 'wrong' ? new Error('invalid_session_api_key') : undefined);
    });
    this.io.on('connection', (socket) => this.#replay(socket));
  }
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.http.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }
  append(count: number): void {
    for (let id = this.length; id < this.length + count; id += 1) this.io.emit('oh_event', frame(id));
    this.length += count;
  }
  #replay(socket: Socket): void {
    const from = Number(socket.handshake.query.latest_event_id) + 1;
    this.cursors.push(from - 1);
    socket.on('oh_user_action', (payload) => this.received.push(payload));
    const frames = Array.from({ length: this.length - from }, (_, index) => frame(from + index));
    const lastState = frames.findLast((entry) => 'observation' in entry);
    const ordered = [...frames.filter((entry) => !('observation' in entry)), ...(lastState ? [lastState] : [])];
    const drop = this.drops.shift();
    for (const entry of ordered.slice(0, drop)) socket.emit('oh_event', entry);
    if (drop !== undefined) socket.conn.transport.once('drain', () => socket.disconnect(true));
  }
}

describe('resume', () => {
  let server: Replayer;
  let baseUrl: string;
  let connection: ConversationConnection;
  const open = (apiKey?: string) => connect('c1', { baseUrl, apiKey: () => apiKey, random: () => 1, publishMs: 1, quietMs: 20 });

  beforeEach(async () => {
    server = new Replayer();
    baseUrl = await server.start();
  });
  afterEach(async () => {
    connection.close();
    await server.io.close();
  });

  /** What a client that was never interrupted would hold: state changes of a replay but the last are never sent. */
  const wanted = (length: number) => Array.from({ length }, (_, id) => id).filter((id) => id % STATE_EVERY !== 0);

  itInFull('CL1 CL2: a connection that breaks at any frame of a replay loses and repeats nothing', async () => {
    await assert(
      asyncProperty(integer({ min: 2, max: 60 }), array(nat(60), { maxLength: 3 }), async (length, drops) => {
        server.length = length;
        server.drops = [...drops];
        connection = open();
        const lastState = length - 1 - ((length - 1) % STATE_EVERY);
        const done = await connection.when(
          ({ events, loaded }) => loaded && events.filter((event) => 'action' in event).length === wanted(length).length,
          deadline(),
        );
        expect(done.events.filter((event) => 'action' in event).map((event) => event.id)).toEqual(wanted(length));
        expect(done.events.map((event) => event.id)).toEqual([...new Set(done.events.map((event) => event.id))].toSorted((a, b) => a - b));
        expect(done.events.some((event) => event.id === lastState)).toBe(true);
        expect(done.state.agentState).toBe(lastState % 2 ? 'running' : 'paused');
        connection.close();
      }),
      { numRuns: 25 },
    );
  });

  it('CL3: events that came while away are replayed once, and counted', async () => {
    server.append(20);
    connection = open();
    await connection.when(({ loaded }) => loaded, deadline());
    server.io.disconnectSockets(true);
    await connection.when(({ connection: { state } }) => state === 'reconnecting', deadline());
    server.append(30);
    const back = await connection.when(({ connection: now }) => now.state === 'connected' && now.caughtUp !== undefined, deadline());
    expect(server.cursors).toEqual([-1, 19]);
    expect(back.events.at(-1)!.id).toBe(49);
    expect(back.connection).toMatchObject({ caughtUp: back.events.filter((event) => event.id >= 20).length });
  });

  it('CL4: a message without a connection waits, and goes once the replay did not echo it', async () => {
    server.append(3);
    connection = open();
    await connection.when(({ loaded }) => loaded, deadline());
    server.io.disconnectSockets(true);
    await connection.when(({ connection: { state } }) => state === 'reconnecting', deadline());
    connection.say('hello');
    expect(connection.getSnapshot().outbox).toMatchObject([{ state: 'waiting', payload: { args: { content: 'hello' } } }]);
    await connection.when(({ outbox }) => outbox[0]?.state === 'sent', deadline());
    const [sent] = server.received as { action: string; args: Record<string, unknown> }[];
    server.io.emit('oh_event', {
      id: 3,
      timestamp: '',
      source: 'user',
      ...(sent ?? { action: 'message', args: connection.getSnapshot().outbox[0]!.payload.args }),
    });
    const after = await connection.when(({ outbox }) => outbox.length === 0, deadline());
    expect(after.events.filter((event) => event.id === 3)).toHaveLength(1);
  });

  it('CL5: a refused key is final until another one is given', async () => {
    connection = open('wrong');
    const { connection: now } = await connection.when(({ connection: { state } }) => state === 'refused', deadline());
    expect(now).toMatchObject({ state: 'refused', cause: 'key' });
  });
});
