import { io, type Socket } from 'socket.io-client';
import { Seen } from './seen.ts';

export interface WireEvent {
  readonly id: number;
  readonly source?: string;
  readonly action?: string;
  readonly observation?: string;
  readonly content?: string;
  readonly cause?: number;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly extras?: Readonly<Record<string, unknown>>;
}

/** A Socket.IO client that keeps every event it was sent, reconnects on its own, and can be waited on. */
export class Watcher {
  readonly #seen = new Seen<WireEvent>();
  readonly events: readonly WireEvent[] = this.#seen.all;
  /** Frames that are in no log: output as it comes, pieces of answers, the state of the sandbox. */
  readonly #frames = new Seen<unknown>();
  readonly volatile: readonly unknown[] = this.#frames.all;
  readonly #socket: Socket;

  /** `rest`: what a client says beside its conversation, as its key. */
  constructor(url: string, conversationId: string, rest: Readonly<Record<string, string>> = {}) {
    this.#socket = io(url, {
      forceNew: true,
      transports: ['websocket'],
      reconnectionDelay: 20,
      reconnectionDelayMax: 100,
      // A server that dies between the upgrade and its first packet leaves the client library waiting for its time-out. Not shorter: hundreds
      // of clients that give up and come again before a busy server gets to them keep it from ever getting to them.
      timeout: 5000,
      query: { ...rest, conversation_id: conversationId, latest_event_id: '-1', providers_set: '' },
    });
    this.#socket.io.on('reconnect_attempt', () => {
      this.#socket.io.opts.query = { ...rest, conversation_id: conversationId, latest_event_id: String(this.lastId), providers_set: '' };
    });
    // A connection that was refused by a server in mid start is tried again by hand: the client library does not.
    this.#socket.on('connect_error', () => {
      if (!this.#socket.active) setTimeout(() => this.#socket.connect(), 50).unref();
    });
    this.#socket.on('oh_event', (event: WireEvent) => this.#take(event));
    this.#socket.on('tendon_volatile', (frame: unknown) => this.#frames.take(frame));
  }

  get lastId(): number {
    return Math.max(-1, ...this.events.map((event) => event.id));
  }

  send(action: string, args: Readonly<Record<string, unknown>>): void {
    this.#socket.emit('oh_user_action', { action, args });
  }

  /** The first event that passes, already seen ones included. */
  until(test: (event: WireEvent) => boolean, what?: string): Promise<WireEvent> {
    return this.#seen.until(test, what);
  }

  /** The first frame that is in no log and passes, already seen ones included. */
  untilVolatile(test: (frame: unknown) => boolean, what?: string): Promise<unknown> {
    return this.#frames.until(test, what);
  }

  untilState(...states: string[]): Promise<WireEvent> {
    const isThere = ({ observation, extras }: WireEvent): boolean =>
      observation === 'agent_state_changed' && states.includes(String(extras?.agent_state));
    return this.until(isThere, `the state ${states.join(' or ')}`);
  }

  close(): void {
    this.#socket.close();
  }

  #take(event: WireEvent): void {
    if (typeof event.id !== 'number') return this.#frames.take(event);
    this.#seen.take(event);
  }
}
