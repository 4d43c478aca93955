import type { Event, DelegatedFrame, NetworkFrame, PartialAnswer, PortsFrame, StatusFrame } from '@tendon/protocol';
import type { ConversationState } from '@tendon/protocol/reduce';
import type { ActionPayload, MessageParts } from '../actions.ts';
import type { ConnectionState } from './connection-state.ts';
import type { EventsOptions } from './events-of.ts';
import type { Gap } from './event-window.ts';
import { LiveConnection } from './live-connection.ts';
import type { OutboxEntry } from './outbox.ts';

export interface Notice {
  readonly id: number;
  readonly message: string;
  readonly errorId: string;
}

export interface ConversationSnapshot {
  readonly events: readonly Event[];
  /** Ids whose events the server has and did not send (`tail`), lowest first; `load` fetches them. */
  readonly gaps: readonly Gap[];
  /** Of what the server sends, nothing up to this id is still to come; −1: of nothing is that known. */
  readonly cursor: number;
  readonly state: ConversationState;
  readonly connection: ConnectionState;
  /** Whether the history has been there once. */
  readonly loaded: boolean;
  readonly answer: PartialAnswer | undefined;
  /** Output of running commands by the id of their action. */
  readonly outputs: ReadonlyMap<number, string>;
  readonly status: StatusFrame | undefined;
  /** As the server last announced it. */
  readonly title: string | undefined;
  /** What the agent's programs serve, as last reported; `undefined` before the first report. */
  readonly ports: PortsFrame['ports'] | undefined;
  /** Hosts that the sandbox wants to reach and that wait for an answer, the oldest first; `undefined` before the first report. */
  readonly questions: NetworkFrame['questions'] | undefined;
  /** Where agents wait for a person to which this conversation's agent has delegated; `undefined` before the first report. */
  readonly delegated: DelegatedFrame['waiting'] | undefined;
  /** Answers to what was sent that are not part of the log; the newest 20. */
  readonly notices: readonly Notice[];
  readonly outbox: readonly OutboxEntry[];
}

/** When a connection publishes, waits and gives up. */
interface ConnectTiming {
  /** Gathering of frames before the store publishes; default 16 ms. */
  readonly publishMs: number;
  /**
   * How much time lies at least between two publications of steps: what the agent does and what comes of it, while no answer is waited for.
   * The first after a pause is published at once. Default 0.
   */
  readonly paceMs: number;
  /** How long `reconnecting` lasts before it is called `offline`; default 10 s. */
  readonly offlineAfterMs: number;
  /** For servers that do not report the end of a replay: it counts as over after this time without an event; default 250 ms. */
  readonly quietMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

export interface ConnectOptions extends ConnectTiming {
  /** A function is asked before each attempt and request: a server that was started again may have another address. */
  readonly baseUrl: string | (() => string);
  readonly apiKey: () => string | undefined;
  /** Of a link that shows this conversation: it is watched, and nothing can be sent. */
  readonly share?: string;
  /** Begin after this id; default −1, everything. */
  readonly latestEventId: number;
  /**
   * How many of the stored events are wanted, the newest; default: all. `state` is that of the whole log all the same. A server that does
   * not know this sends everything.
   */
  readonly tail?: number;
}

/** What is known of a conversation, as it changes. */
interface SnapshotSource {
  readonly subscribe: (listener: () => void) => () => void;
  readonly getSnapshot: () => ConversationSnapshot;
  /** The first snapshot, now or later, that is accepted. Rejects with the signal's reason, and after `close`. */
  readonly when: (accepts: (snapshot: ConversationSnapshot) => boolean, signal?: AbortSignal) => Promise<ConversationSnapshot>;
  /**
   * Every event once, in the order of the ids, from where this connection began, or after the id `after`: first those that are stored, then
   * what comes, over any number of reconnections. Ends with `close`; throws the signal's reason, and `ConnectionRefused` when the server
   * refuses, `ApiError` when it refuses an older part that has to be loaded.
   */
  readonly events: (options?: EventsOptions) => AsyncGenerator<Event, void, undefined>;
}

/** What a person says and does in a conversation. */
interface ConversationSender {
  /** Sent to the agent; without a connection it is queued and sent later. `false` when too much waits already. */
  readonly say: (content: string, parts?: MessageParts) => boolean;
  /** Any other action. Not queued: `false` without a connection, because what it is about may have passed by then. */
  readonly send: (payload: ActionPayload) => boolean;
  /**
   * Sends an `unconfirmed` message once more: its connection broke before its echo. A server that reports the end of a replay knows what it
   * has, and is sent such a message again automatically; any other server might record it twice, so the user has to decide.
   */
  readonly resend: (clientId: string) => void;
  /** Takes back a message that was not sent yet. */
  readonly cancel: (clientId: string) => void;
}

export interface ConversationConnection extends SnapshotSource, ConversationSender {
  readonly conversationId: string;
  /** Fetches what of the range is in a gap. Rejects with `ApiError`. */
  readonly load: (range: Gap) => Promise<void>;
  /** Forgets the events below `id`, so that a page that is open for days stays small. They are a gap then. */
  readonly forget: (id: number) => void;
  readonly dismiss: (noticeId: number) => void;
  /** Try now, e.g. when the network is back or a new key is there. */
  readonly retry: () => void;
  readonly close: () => void;
}

/** What was given, and what counts where nothing was. */
export interface LiveOptions extends Omit<ConnectOptions, 'baseUrl'> {
  readonly baseUrl: () => string;
}

/** Opens at once and stays until `close`, whatever happens to the network. */
export function connect(conversationId: string, given: Partial<ConnectOptions> & Pick<ConnectOptions, 'baseUrl'>): ConversationConnection {
  const defaults = {
    apiKey: () => undefined,
    latestEventId: -1,
    publishMs: 16,
    paceMs: 0,
    offlineAfterMs: 10_000,
    quietMs: 250,
    now: Date.now,
    random: Math.random,
  };
  const { baseUrl } = given;
  const live = new LiveConnection(conversationId, {
    ...defaults,
    ...given,
    baseUrl: typeof baseUrl === 'function' ? baseUrl : () => baseUrl,
  });
  live.open();
  return live;
}
