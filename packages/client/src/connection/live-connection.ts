/**
 * Owns one connection to one conversation: its socket, its attempts, and the store that a screen reads.
 *
 * Invariants
 * LC1  One socket at a time; a new one begins at the window's cursor, so first load, live and reconnection are one code.
 * LC2  Frames of a socket that was given up are not looked at.
 * LC3  A server that reports when a replay begins reports when it is over, and knows messages by their id: nothing is guessed. With any
 *      other server a replay ends with its last state, or with silence; a message that may have arrived is not sent again.
 * LC4  After `close` no timer and no socket is left, and nothing is published.
 */
import { io, type Socket } from 'socket.io-client';
import type { Event, ReplayFrame, StatusFrame, TailFrame } from '@tendon/protocol';
import { actions, type ActionPayload, type MessageParts } from '../actions.ts';
import { newId } from '../new-id.ts';
import type { LiveOptions, ConversationConnection, ConversationSnapshot, Notice } from './connect.ts';
import { refusalCause, type ConnectionState } from './connection-state.ts';
import { EventWindow, type Gap } from './event-window.ts';
import { eventsOf, type EventsOptions } from './events-of.ts';
import { isStep } from './is-step.ts';
import { loadEvents } from './load-events.ts';
import { onWake } from './on-wake.ts';
import { Outbox } from './outbox.ts';
import { pauseMs } from './pause-ms.ts';
import { SnapshotStore } from './snapshot-store.ts';
import { VolatileBuffers } from './volatile-buffers.ts';
import { readFrame } from './wire-frame.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_NOTICES = 20;
const LONG_REPLAY = 200;
const LONG_REPLAY_PUBLISH_MS = 400;

export class LiveConnection implements ConversationConnection {
  readonly conversationId: string;
  readonly #options: LiveOptions;
  readonly #closed = new AbortController();
  readonly #window: EventWindow;
  readonly #volatile = new VolatileBuffers();
  readonly #outbox = new Outbox();
  readonly #store: SnapshotStore<ConversationSnapshot>;
  #connection: ConnectionState;
  #socket: Socket | undefined;
  #attempt = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #quietTimer: ReturnType<typeof setTimeout> | undefined;
  #isReplaying = false;
  /** LC3, of this socket's server. */
  #saysReplay = false;
  #missed = 0;
  #wasConnected = false;
  #loaded = false;
  #status: StatusFrame | undefined;
  #title: string | undefined;
  #ports: ConversationSnapshot['ports'];
  #questions: ConversationSnapshot['questions'];
  #delegated: ConversationSnapshot['delegated'];
  #notices: readonly Notice[] = [];
  #noticeCount = 0;

  constructor(conversationId: string, options: LiveOptions) {
    this.conversationId = conversationId;
    this.#options = options;
    this.#window = new EventWindow(options.latestEventId);
    this.#connection = { state: 'connecting', since: options.now() };
    this.#store = new SnapshotStore(() => this.#snapshot(), options.publishMs);
    onWake(() => this.#wake(), this.#closed.signal);
  }

  get subscribe() {
    return this.#store.subscribe;
  }
  get getSnapshot() {
    return this.#store.getSnapshot;
  }
  when = (accepts: (snapshot: ConversationSnapshot) => boolean, signal?: AbortSignal) =>
    this.#store.when(accepts, signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal);

  events = ({ after = -1, signal }: EventsOptions = {}) =>
    eventsOf(this, { after: Math.max(after, this.#options.latestEventId), closed: this.#closed.signal, ...(signal && { signal }) });

  open(): void {
    this.#dropSocket();
    this.#attempt += 1;
    const { baseUrl, apiKey, share, tail } = this.#options;
    const socket = io(baseUrl(), {
      forceNew: true,
      reconnection: false,
      transports: ['websocket'],
      timeout: CONNECT_TIMEOUT_MS,
      query: {
        conversation_id: this.conversationId,
        latest_event_id: this.#window.cursor,
        providers_set: '',
        session_api_key: apiKey() ?? null,
        // The dialect that this client reads: the server must not guess which release of OpenHands the page is.
        dialect: 'openhands-v0',
        ...(share && { share }),
        ...(tail !== undefined && { tail }),
      },
    });
    this.#socket = socket;
    this.#window.beginReplay();
    this.#isReplaying = true;
    this.#saysReplay = false;
    this.#missed = 0;
    socket.on('connect', () => this.#connected());
    socket.on('oh_event', (frame) => this.#receive(frame));
    socket.on('tendon_volatile', (frame) => this.#receive(frame));
    socket.on('disconnect', () => this.#lost());
    socket.on('connect_error', (error: Error & { data?: { msg_id?: unknown } }) =>
      // A refusal ends the socket; a failed transport leaves it active.
      socket.active ? this.#lost() : this.#refused(error.message, error.data?.msg_id),
    );
  }

  say = (content: string, parts: MessageParts = {}): boolean => {
    const clientId = parts.clientId ?? newId();
    if (!this.#outbox.add(clientId, actions.message(content, { ...parts, clientId }), this.#options.now())) return false;
    this.#flush();
    this.#store.publish();
    return true;
  };

  send = (payload: ActionPayload): boolean => {
    if (this.#connection.state !== 'connected') return false;
    this.#socket?.emit('oh_user_action', payload);
    return true;
  };

  resend = (clientId: string): void => {
    this.#outbox.resend(clientId);
    this.#flush();
    this.#store.publish();
  };

  cancel = (clientId: string): void => {
    this.#outbox.cancel(clientId);
    this.#store.publish();
  };

  load = async (range: Gap): Promise<void> => {
    const wanted = this.#window.gaps
      .map(({ from, to }) => ({ from: Math.max(from, range.from), to: Math.min(to, range.to) }))
      .filter(({ from, to }) => from < to);
    for (const gap of wanted) {
      this.#window.load(gap, await loadEvents(this.#options, this.conversationId, gap));
      if (this.#connection.state !== 'closed') this.#store.publish();
    }
  };

  forget = (id: number): void => {
    this.#window.forget(id);
    this.#store.publish();
  };

  dismiss = (noticeId: number): void => {
    this.#notices = this.#notices.filter((notice) => notice.id !== noticeId);
    this.#store.publish();
  };

  retry = (): void => {
    if (this.#connection.state === 'connected' || this.#connection.state === 'closed') return;
    if (this.#connection.state === 'refused') this.#setConnection({ state: 'connecting', since: this.#options.now() });
    this.open();
  };

  close = (): void => {
    this.#dropSocket();
    this.#connection = { state: 'closed', since: this.#options.now() };
    this.#store.end();
    this.#closed.abort(new Error('The connection was closed'));
  };

  /** The network is back, or the page is looked at again: what was a pause may be over. */
  #wake(): void {
    if (this.#connection.state === 'reconnecting' || this.#connection.state === 'offline') this.open();
  }

  #connected(): void {
    this.#delegated = undefined;
    this.#questions = undefined; // those that are open are sent anew
    this.#setConnection({ state: 'connected', since: this.#options.now() });
    this.#awaitQuiet();
    this.#flush();
  }

  #receive(json: unknown): void {
    const frame = readFrame(json);
    const paceMs = frame.type === 'event' && isStep(frame.event) ? this.#options.paceMs : 0;
    switch (frame.type) {
      case 'event':
        this.#receiveEvent(frame.event);
        break;
      case 'delta':
        this.#volatile.addDelta(frame.frame);
        break;
      case 'output':
        this.#volatile.addOutput(frame.frame);
        break;
      case 'replay':
        this.#receiveReplay(frame.frame);
        break;
      case 'tail':
        this.#window.leaveOut({ from: frame.from, to: frame.to }, frame.state);
        break;
      case 'ports':
        this.#ports = frame.ports;
        break;
      case 'network':
        this.#questions = frame.questions;
        break;
      case 'delegated':
        this.#delegated = frame.waiting;
        break;
      case 'status':
        this.#status = frame.status;
        this.#title = frame.status.conversation_title ?? this.#title;
        break;
      case 'notice':
        this.#notices = [...this.#notices, { id: (this.#noticeCount += 1), ...frame }].slice(-MAX_NOTICES);
        break;
      case 'ignored':
        return;
    }
    // A long replay is gathered in larger pieces: a view would otherwise draw it hundreds of times.
    this.#store.touch({ paceMs, ...(this.#isReplaying && this.#missed > LONG_REPLAY && { delayMs: LONG_REPLAY_PUBLISH_MS }) });
  }

  #receiveEvent(event: Event): void {
    if (this.#window.add(event)) {
      this.#missed += 1;
      // Progress; but a server that accepts and disconnects again is retried less and less often.
      this.#attempt = 0;
    }
    this.#volatile.settle(event);
    this.#outbox.settle(event, { givesIdsBack: this.#saysReplay });
    // A replay ends with its last state: later events are live, and may never pause.
    const isState = 'observation' in event && event.observation === 'agent_state_changed';
    if (this.#isReplaying && !this.#saysReplay && !isState) this.#awaitQuiet();
  }

  #receiveReplay(frame: Exclude<ReplayFrame, TailFrame>): void {
    this.#saysReplay = true;
    clearTimeout(this.#quietTimer);
    this.#isReplaying = true;
    if (frame.phase === 'begin') return;
    this.#window.endReplay(frame.next_id);
    // A message that the replay did not echo never arrived, or will be answered with its event.
    this.#outbox.retry();
    this.#replayOver();
  }

  #awaitQuiet(): void {
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => this.#replayOver(), this.#options.quietMs);
  }

  #replayOver(): void {
    this.#isReplaying = false;
    this.#attempt = 0;
    this.#loaded = true;
    if (this.#wasConnected) this.#setConnection({ ...(this.#connection as { state: 'connected'; since: number }), caughtUp: this.#missed });
    this.#wasConnected = true;
    this.#flush();
    this.#store.publish();
  }

  #lost(): void {
    this.#dropSocket();
    const { now, offlineAfterMs, random } = this.#options;
    const before = this.#connection;
    const since = before.state === 'reconnecting' || before.state === 'offline' || before.state === 'connecting' ? before.since : now();
    const state = now() - since >= offlineAfterMs ? 'offline' : 'reconnecting';
    this.#setConnection({ state, since, attempt: this.#attempt + 1 });
    this.#retryTimer = setTimeout(() => this.open(), pauseMs(this.#attempt + 1, now() - since, random()));
  }

  #refused(message: string, messageId: unknown): void {
    this.#dropSocket();
    this.#setConnection({ state: 'refused', since: this.#options.now(), cause: refusalCause(message, messageId), message });
  }

  #flush(): void {
    if (this.#connection.state !== 'connected') return;
    // In the order of sending: whether earlier messages arrived is known only when the replay is over.
    if (this.#isReplaying && this.#outbox.hasUnconfirmed) return;
    for (const payload of this.#outbox.take()) this.#socket?.emit('oh_user_action', payload);
  }

  #dropSocket(): void {
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#quietTimer);
    this.#socket?.removeAllListeners();
    this.#socket?.disconnect();
    this.#socket = undefined;
    this.#volatile.clear();
    this.#outbox.connectionLost();
  }

  #setConnection(connection: ConnectionState): void {
    this.#connection = connection;
    this.#store.publish();
  }

  #snapshot(): ConversationSnapshot {
    return {
      events: this.#window.snapshot(),
      gaps: this.#window.gaps,
      cursor: this.#window.cursor,
      state: this.#window.state,
      connection: this.#connection,
      loaded: this.#loaded,
      answer: this.#volatile.answer,
      outputs: this.#volatile.outputs(),
      status: this.#status,
      title: this.#title,
      ports: this.#ports,
      questions: this.#questions,
      delegated: this.#delegated,
      notices: this.#notices,
      outbox: this.#outbox.entries,
    };
  }
}
