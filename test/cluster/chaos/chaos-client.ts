/** Real clients, each of which comes back by itself and goes on after the last event it has: of Socket.IO, and the SDK. */
import { createClient } from '@tendon/client';
import type { WireEvent } from '@tendon/testing/servers';
import { io } from 'socket.io-client';

export const CLIENTS = ['socket.io', 'SDK'] as const;
export type ClientKind = (typeof CLIENTS)[number];

const COME_BACK_MS = 200;

/** That a client was disconnected. */
export interface Closing {
  readonly at: number;
  readonly why: string;
}

/** What a client was sent of a log, in order, and when. */
export class Received {
  readonly events: WireEvent[] = [];
  readonly #at = new Map<number, number>();
  readonly closings: Closing[] = [];

  take(event: WireEvent): void {
    this.events.push(event);
    if (!this.#at.has(event.id)) this.#at.set(event.id, performance.now());
  }

  /** The last one that comes when a client connects is a state, which may be older than what came before it. */
  get lastId(): number {
    return Math.max(-1, ...this.events.map(({ id }) => id));
  }

  /** When it had this event, or one after it. */
  whenFrom(id: number): number | undefined {
    const next = this.events.find((event) => event.id >= id);
    return next && this.#at.get(next.id);
  }

  /** When it had the last event before this one. */
  whenBefore(id: number): number | undefined {
    const last = this.events.findLast((event) => event.id < id);
    return last && this.#at.get(last.id);
  }

  get state(): string {
    const last = this.events.findLast(({ observation }) => observation === 'agent_state_changed');
    return String(last?.extras?.agent_state);
  }
}

export interface ChaosClient {
  readonly received: Received;
  /** Not sent when there is no connection. */
  say(content: string): void;
  close(): void;
}

const OPENERS: Readonly<Record<ClientKind, (url: string, id: string) => ChaosClient>> = {
  'socket.io': openSocketIo,
  SDK: openSdk,
};

export function openClient(kind: ClientKind, url: string, id: string): ChaosClient {
  return OPENERS[kind](url, id);
}

function openSocketIo(url: string, id: string): ChaosClient {
  const received = new Received();
  const query = (): Record<string, string> => ({ conversation_id: id, latest_event_id: String(received.lastId) });
  const timing = { reconnectionDelay: COME_BACK_MS, reconnectionDelayMax: 1_000, timeout: 5_000 };
  const socket = io(url, { forceNew: true, transports: ['websocket'], query: query(), ...timing });
  socket.io.on('reconnect_attempt', () => void (socket.io.opts.query = query()));
  socket.on('connect_error', () => {
    if (socket.active) return;
    socket.io.opts.query = query();
    setTimeout(() => socket.connect(), COME_BACK_MS);
  });
  socket.on('disconnect', (reason) => {
    if (reason === 'io client disconnect') return;
    received.closings.push({ at: performance.now(), why: reason });
    if (reason !== 'io server disconnect') return;
    socket.io.opts.query = query();
    setTimeout(() => socket.connect(), COME_BACK_MS);
  });
  socket.on('oh_event', (event: WireEvent) => typeof event.id === 'number' && received.take(event));
  const say = (content: string): void =>
    void (socket.connected && socket.emit('oh_user_action', { action: 'message', args: { content, image_urls: [], file_urls: [] } }));
  return { received, say, close: () => void socket.close() };
}

function openSdk(url: string, id: string): ChaosClient {
  const received = new Received();
  const connection = createClient({ baseUrl: url }).open(id);
  void (async () => {
    for await (const event of connection.events()) received.take(event as unknown as WireEvent);
  })().catch((cause: unknown) => process.stderr.write(`the SDK gave up ${id}: ${String(cause)}\n`));
  let was: string = 'connecting';
  connection.subscribe(() => {
    const { state } = connection.getSnapshot().connection;
    if (was === 'connected' && state === 'reconnecting') received.closings.push({ at: performance.now(), why: state });
    was = state;
  });
  return { received, say: (content) => void connection.say(content), close: () => connection.close() };
}
