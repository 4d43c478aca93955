import type { Frames } from './frames.ts';
import type { ModelStep } from '../model/model-step.ts';

/** What a foreign server answered: any key may be asked of it, and each check says what must be there. */
export interface ServerJson {
  readonly [key: string]: ServerJson;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; an empty object where it is none. */
  readonly body: ServerJson;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client's socket. */
export interface Peer {
  readonly frames: Frames;
  /** What only some servers send beside events, on `tendon_volatile`: partial answers and outputs. */
  readonly volatile: Frames;
  /** One action, on the event or as the frame that clients of this kind use. */
  send(frame: unknown): void;
  /** Resolves with the reason when the server ends it or refuses it. */
  readonly ended: Promise<string>;
  close(): void;
}

export interface SocketIoOptions {
  /** As in the handshake, e.g. `conversation_id`, `latest_event_id`. */
  readonly query?: Readonly<Record<string, string>>;
  readonly transports?: readonly ('websocket' | 'polling')[];
  /** A page names its origin, a program does not. */
  readonly origin?: string;
  /** The event that actions go out on (default `oh_user_action`). */
  readonly says?: 'oh_action' | 'oh_user_action';
}

export interface WebSocketOptions {
  readonly path?: string;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** The server as the run was started for it. */
export interface ServerUnderTest {
  readonly url: string;
  /** Every request brings it unless it brings its own. */
  readonly key?: string;
  /** How long anything may take before it counts as missing. */
  readonly timeoutMs: number;
  /** After how long without output the server hands a command back. */
  readonly silenceSeconds: number;
}

/** The scripted model, as the server's endpoint. */
export interface TargetModel {
  /** A message's text that makes the model take these steps, then say `Done.`; `aside` is for a title, a summary or a draft. */
  script(steps: readonly ModelStep[], aside?: ModelStep): string;
  /** The requests that the model got because of these words. */
  requests(words: string): readonly ServerJson[];
  /** How many of those requests the server gave up. */
  abandoned(words: string): number;
  /** For `initialize` in the clear: model, key and address as the clients before 0.16 send them. */
  readonly initializeArgs: Readonly<Record<string, string>>;
}

/** Sockets of clients, which are closed when the check ends. */
export interface Connect {
  socketIo(ask?: SocketIoOptions): Peer;
  webSocket(ask?: WebSocketOptions): Promise<Peer>;
}

/** The server under test as one check sees it. Everything made through it is closed or removed when the check ends. */
export interface Target {
  readonly server: ServerUnderTest;
  readonly model: TargetModel;
  ask(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** A new conversation; its id. */
  converse(body?: Readonly<Record<string, unknown>>): Promise<string>;
  readonly connect: Connect;
  /** Asks again and again until the answer is none of `undefined`, `false` and the like. */
  eventually<T>(what: string, probe: () => T | Promise<T>): Promise<NonNullable<T>>;
  /**
   * The value that `open` made, for this check and those that share with it. What `open` opens is closed when the last of them has
   * ended, or one has failed: the next one opens anew.
   */
  shared<T>(open: (target: Target) => Promise<T>): Promise<T>;
  /** Done when the check ends, last first. */
  defer(close: () => void | Promise<void>): void;
}
