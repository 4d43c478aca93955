/**
 * Owns what the sessions of old `/ws` clients stand for: the `sid` of their token → a conversation, stored in `ws_sessions`.
 *
 * WS1  Changes of one session come one after the other: two sockets with one token make one conversation.
 * WS2  A session whose conversation is gone is an empty one; its token stays good.
 * WS3  Where a socket left is forgotten when the page is loaded again: such a client fetches what is past.
 */
import { KeyedMutex, type RecordStore, type Clock, type Storage } from '@tendon/core';
import { unlessAborted } from '@tendon/protocol/async';
import type { WsGeneration } from '@tendon/protocol';
import type { Conversations } from '../../../conversations/conversations.ts';
import { setImmediate } from 'node:timers/promises';

export interface WsSessionRecord {
  readonly conversation?: string;
  /** Detected by the client's frames; its next socket speaks it from the start. */
  readonly generation?: WsGeneration;
  /** The token came from `/api/auth`, which only opendevin-2024-04 to opendevin-2024-06 ask for. */
  readonly isFromAuth?: boolean;
  readonly used_at?: string;
}

/** How far a client had been sent a conversation when its socket closed. */
export interface ResumePoint {
  readonly conversation: string;
  readonly nextId: number;
}

/**
 * Sorted by when they were used last, to the day.
 * @internal
 */
export const WS_SESSIONS = 'ws_sessions';
const DAY_MS = 86_400_000;
const MAX_LEFT = 1_000;
/** The last session that came in, where several servers have them. */
const LATEST = 'ws_latest_session';
export interface SessionsContext {
  readonly storage: Storage;
  readonly conversations: Conversations;
  readonly clock: Clock;
}

const ALL = new WeakMap<Conversations, WsSessions>();

export class WsSessions {
  readonly #store: RecordStore;
  readonly #conversations: Conversations;
  readonly #clock: Clock;
  readonly #writing = new KeyedMutex();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #left = new Map<string, ResumePoint>();
  readonly #scheduler: Storage['scheduler'];
  #latest: string | undefined;
  #changed = Promise.withResolvers<void>();

  private constructor({ storage, conversations, clock }: SessionsContext) {
    this.#clock = clock;
    this.#scheduler = storage.scheduler;
    this.#store = storage.records;
    this.#conversations = conversations;
  }

  /** Those of this server; sockets and routes share them. */
  static of(context: SessionsContext): WsSessions {
    const sessions = ALL.get(context.conversations) ?? new WsSessions(context);
    ALL.set(context.conversations, sessions);
    return sessions;
  }

  /** Several servers have them. */
  get #isShared(): boolean {
    return this.#scheduler.self !== undefined;
  }

  /** The session that opendevin-2024-04 to opendevin-2024-06 mean where they send no token: the last of theirs that came in. */
  async latest(): Promise<string | undefined> {
    const stored = this.#isShared ? await this.#store.get<{ readonly sid: string }>(LATEST, '') : undefined;
    return stored?.sid ?? this.#latest;
  }

  touch(sid: string): void {
    this.#latest = sid;
    // Lost with the database's next moment of absence at most, and by a client that did not wait for it.
    if (this.#isShared) void this.#store.put(LATEST, { id: '', sort: '', value: { sid } }).catch(() => undefined);
  }

  /** The conversation of the newest session, as soon as it has one; `undefined` when it has none before `signal` aborts. */
  async latestConversation(signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      const changed = this.#changed.promise;
      const latest = await this.latest();
      const conversation = latest === undefined ? undefined : (await this.get(latest)).conversation;
      if (conversation !== undefined || signal.aborted) return conversation;
      await unlessAborted(changed, signal);
    }
  }

  leave(sid: string, left: ResumePoint): void {
    this.#left.delete(sid);
    this.#left.set(sid, left);
    const [oldest] = this.#left.keys();
    if (this.#left.size > MAX_LEFT) this.#left.delete(oldest!);
  }

  left(sid: string): ResumePoint | undefined {
    return this.#left.get(sid);
  }

  reload(sid: string): void {
    this.#left.delete(sid);
  }

  async get(sid: string): Promise<WsSessionRecord> {
    const record = withCurrentName((await this.#store.get<WsSessionRecord>(WS_SESSIONS, sid)) ?? {});
    // A frontend of 0.15 and one before it share a token when they share an origin; the later one's names the conversation itself.
    const conversation = record.conversation ?? sid;
    if (await this.#conversations.get(conversation)) return { ...record, conversation };
    const { conversation: _gone, ...rest } = record;
    return rest;
  }

  change(sid: string, change: (record: WsSessionRecord) => WsSessionRecord | Promise<WsSessionRecord>): Promise<WsSessionRecord> {
    return this.#writing.run(sid, async () => {
      const record = await this.get(sid);
      const value = await change(record);
      if (value !== record) await this.#put(sid, value);
      return value;
    });
  }

  /** A client has come with its token: what is stored of it, if anything, is not forgotten soon. */
  async used(sid: string): Promise<void> {
    const stored = await this.#store.get<WsSessionRecord>(WS_SESSIONS, sid);
    if (stored === undefined || this.#clock.now().getTime() - Date.parse(stored.used_at ?? '') < DAY_MS) return;
    await this.change(sid, (record) => ({ ...record }));
  }

  async #put(sid: string, value: WsSessionRecord): Promise<void> {
    const used_at = this.#clock.now().toISOString();
    await this.#store.put(WS_SESSIONS, { id: sid, sort: used_at, value: { ...value, used_at } });
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** The session begins anew; its conversation stays where it is. Open sockets leave it. */
  async restart(sid: string): Promise<void> {
    this.reload(sid);
    await this.change(sid, ({ conversation: _left, ...rest }) => rest);
    for (const listener of this.#listeners.get(sid) ?? []) listener();
  }

  /** Called when the session begins anew; the returned function ends it. */
  onRestart(sid: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(sid) ?? new Set();
    this.#listeners.set(sid, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(sid) === listeners) this.#listeners.delete(sid);
    };
  }
}

/** In the order of their numbers: sessions stored by the first versions name a generation by `W` and its number. */
const BY_NUMBER: readonly WsGeneration[] = [
  'opendevin-2024-03',
  'opendevin-2024-04',
  'opendevin-2024-05',
  'opendevin-2024-06',
  'opendevin-2024-07',
  'opendevin-2024-11',
];

function withCurrentName(record: WsSessionRecord): WsSessionRecord {
  const number = /^W(\d)$/.exec(record.generation ?? '')?.[1];
  const generation = number === undefined ? undefined : BY_NUMBER[Number(number)];
  return generation ? { ...record, generation } : record;
}

/** An empty session is worth little, one with a conversation is somebody's way back to it. */
const DAYS = { empty: 30, full: 365 };
const PAGE = 200;

/** Forgets sessions of old clients that were not used for long; their tokens stay good, and begin empty. Resolves with how many went. */
export async function pruneWsSessions(records: RecordStore, now: Date): Promise<number> {
  const before = (days: number): string => new Date(now.getTime() - days * DAY_MS).toISOString();
  let removed = 0;
  let after: { readonly sort: string; readonly id: string } | undefined;
  for (;;) {
    const page = await records.list<WsSessionRecord>(WS_SESSIONS, { limit: PAGE, ...(after && { before: after }) });
    for (const { id, sort, value } of page) {
      const { conversation = id } = value;
      const isFull = (await records.get('conversations', conversation)) !== undefined;
      // Of an earlier version: it counts from now on.
      if (sort === '') await records.put(WS_SESSIONS, { id, sort: now.toISOString(), value });
      else if (sort < before(isFull ? DAYS.full : DAYS.empty) && (await records.delete(WS_SESSIONS, id))) removed += 1;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return removed;
    after = { sort: last.sort, id: last.id };
    await setImmediate(); // clients are served between
  }
}
