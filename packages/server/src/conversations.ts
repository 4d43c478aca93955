/**
 * Owns which conversations exist, which are open, and which must be woken after a crash. It does not own what happens inside one.
 *
 * C1  A conversation is open at most once; concurrent callers share the opening.
 * C2  What may need the loop is marked `active` before the first action is appended, so that a restart finds it.
 * C3  An idle conversation is closed; opening it again is folding its log.
 * C4  A deleted conversation can not be opened again, whoever still holds its id.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Clock, Conversation, ConversationRecord, EventLog, Runtimes, Secret, Storage, SubmitResult } from '@tendon/core';
import { catalogError, type ActionDraft, type CatalogError, type ConversationState } from '@tendon/protocol';
import type { Config } from './config.ts';
import { defaultTitle, titleFromTask } from './conversation-title.ts';
import type { Logger } from './logger.ts';
import { Room } from './room.ts';
import { ownFolder, workspaceFolder } from './workspace-folder.ts';

/** A conversation as the server keeps it. */
export type StoredConversation = ConversationRecord & {
  /** Somebody stopped it and nobody has started it since. */
  readonly stopped?: boolean;
  /** For lists: as it was when it was last closed. */
  readonly summary?: { readonly agent_state: string; readonly reason: string; readonly accumulated_cost: number };
};

/** What a client may wish for a new conversation; everything has a default. */
export interface ConversationWish {
  readonly directory?: string;
  readonly agent?: string;
  /** Empty: the stored settings decide, then the environment. */
  readonly model?: string;
  readonly trigger?: string;
  readonly repository?: string | null;
  readonly branch?: string | null;
  readonly gitProvider?: string | null;
  /** Of this conversation only, and gone with this process. */
  readonly llm?: ModelAccess;
}

export interface ModelAccess {
  readonly apiKey?: Secret;
  readonly baseUrl?: string;
}

export type Created = { readonly ok: true; readonly record: StoredConversation } | { readonly ok: false; readonly error: CatalogError };

export interface ConversationsOptions {
  readonly config: Pick<Config, 'home' | 'workspaceBase' | 'allowedDirs'>;
  readonly storage: Storage;
  readonly runtimes: Runtimes;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Makes the engine's conversation over the log of this record. */
  readonly open: (record: StoredConversation) => Promise<Conversation>;
  readonly idleMs?: number;
}

const IDLE_MS = 30_000;
/** How long an agent may take to end what it is doing before its sandbox is taken away. */
const STOP_MS = 5_000;

export class Conversations {
  readonly #options: ConversationsOptions;
  /** Open and opening ones; `#open` holds those that are there already, `#closing` what must end before the next opening. */
  readonly #rooms = new Map<string, Promise<Room>>();
  readonly #open = new Map<string, Room>();
  readonly #closing = new Map<string, Promise<void>>();
  readonly #marked = new Set<string>();
  readonly #deleting = new Set<string>();
  readonly #modelAccess = new Map<string, ModelAccess>();
  readonly #sweeper: NodeJS.Timeout;
  #lastChange: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => void this.#closeIdle(), Math.min(15_000, options.idleMs ?? IDLE_MS));
    this.#sweeper.unref();
  }

  async create(wish: ConversationWish = {}): Promise<Created> {
    const id = randomUUID().replaceAll('-', '');
    const folder = await workspaceFolder(this.#options.config, id, wish.directory);
    if (!folder.ok) return folder;
    const now = this.#options.clock.now().toISOString();
    const record: StoredConversation = {
      id,
      title: defaultTitle(id),
      created_at: now,
      updated_at: now,
      workspace: folder.path,
      agent: wish.agent || 'CodeActAgent',
      model: wish.model ?? '',
      trigger: wish.trigger ?? 'gui',
      selected_repository: wish.repository ?? null,
      selected_branch: wish.branch ?? null,
      git_provider: wish.gitProvider ?? null,
    };
    if (wish.llm) this.#modelAccess.set(id, wish.llm);
    await Promise.all([this.#put(record), this.#mark(id)]);
    return { ok: true, record };
  }

  get(id: string): Promise<StoredConversation | undefined> {
    return this.#deleting.has(id) ? Promise.resolve(undefined) : this.#options.storage.records.get<StoredConversation>('conversations', id);
  }

  /** Newest first; `before` is the last one of the page before. */
  async list(options: {
    readonly limit: number;
    readonly before?: { readonly sort: string; readonly id: string };
  }): Promise<StoredConversation[]> {
    const records = await this.#options.storage.records.list<StoredConversation>('conversations', options);
    return records.map((record) => record.value).filter((record) => !this.#deleting.has(record.id));
  }

  /** The fold of an open conversation. */
  state(id: string): ConversationState | undefined {
    return this.#open.get(id)?.conversation.state;
  }

  /** Clients that look at it now. */
  connections(id: string): number {
    return this.#open.get(id)?.leases ?? 0;
  }

  /** Keys that came with `initialize`; they are never stored. */
  modelAccess(id: string): ModelAccess | undefined {
    return this.#modelAccess.get(id);
  }

  get secrets(): readonly Secret[] {
    return [...this.#modelAccess.values()].flatMap((access) => access.apiKey ?? []);
  }

  get openCount(): number {
    return this.#rooms.size;
  }

  /** The open room, held until `release`; `undefined` when there is no such conversation. */
  async enter(id: string): Promise<{ readonly room: Room; readonly release: () => void } | undefined> {
    const record = await this.get(id);
    if (!record || this.#isClosed) return undefined;
    const room = await this.#openRoom(record);
    if (room.ended.aborted) return undefined;
    return { room, release: room.lease(() => this.#now()) };
  }

  /** The log alone, for reading: nothing is opened, started or changed by it. */
  async log(id: string): Promise<EventLog | undefined> {
    return (await this.get(id)) && this.#options.storage.events.open(id);
  }

  /** A client's action, wherever it came in; names the conversation after its first task. */
  async submit(id: string, action: ActionDraft): Promise<SubmitResult> {
    const held = await this.enter(id);
    if (!held) return { ok: false, error: catalogError('CONVERSATION_NOT_FOUND', id) };
    try {
      await this.#mark(id);
      const result = await held.room.conversation.submit(action);
      if (result.ok) await this.#afterSubmit(id, action);
      return result;
    } finally {
      held.release();
    }
  }

  async rename(id: string, title: string): Promise<boolean> {
    const record = await this.#change(id, () => ({ title, updated_at: this.#options.clock.now().toISOString() }));
    if (!record) return false;
    this.#open.get(id)?.announce({ volatile: 'status', type: 'info', message: id, conversation_title: title });
    return true;
  }

  /** Opens it and lets the agent go on if the log says so. */
  async start(id: string): Promise<boolean> {
    await this.#change(id, (record) => (record.stopped ? { stopped: false } : undefined));
    const held = await this.enter(id);
    held?.room.conversation.wake();
    held?.release();
    return held !== undefined;
  }

  /** Ends the agent's work, the connections and the sandbox; what is recorded stays. `undefined`: no such conversation. */
  async stop(id: string): Promise<{ readonly wasRunning: boolean } | undefined> {
    const record = await this.get(id);
    if (!record) return undefined;
    await this.#change(id, () => ({ stopped: true }));
    const room = await this.#rooms.get(id)?.catch(() => undefined);
    if (room?.isBusy()) await room.stopAgent(AbortSignal.timeout(STOP_MS));
    if (room) await this.#closeRoom(id, room);
    await this.#options.runtimes.stop(id);
    return { wasRunning: !record.stopped };
  }

  /** Removes the conversation, its log, its sandbox and the folder made for it. False when there is none. */
  async delete(id: string): Promise<boolean> {
    const record = await this.get(id);
    if (!record) return false;
    this.#deleting.add(id);
    try {
      const room = await this.#rooms.get(id)?.catch(() => undefined);
      if (room) await this.#closeRoom(id, room, catalogError('CONVERSATION_DELETED', id));
      await this.#options.runtimes.stop(id);
      await this.#options.storage.records.delete('conversations', id);
      await this.#unmark(id);
      await this.#options.storage.events.delete(id);
      await rm(ownFolder(this.#options.config.home, id), { recursive: true, force: true });
    } finally {
      this.#deleting.delete(id);
      this.#modelAccess.delete(id);
    }
    return true;
  }

  /** After a restart: whatever was at work goes on. Called once, when the server already listens. */
  async wakeActive(): Promise<void> {
    for (const { id } of await this.#options.storage.records.list('active')) {
      if (this.#isClosed) return;
      this.#marked.add(id);
      try {
        const held = await this.enter(id);
        if (!held) await this.#unmark(id);
        held?.room.conversation.wake();
        held?.release();
      } catch (cause) {
        this.#options.logger.error({ err: cause, conversation: id }, 'a conversation could not be opened again');
      }
    }
  }

  /** Ends every loop without touching any agent's state; sandboxes stay for the next server. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    const rooms = await Promise.allSettled(this.#rooms.values());
    await Promise.allSettled(rooms.map((room) => (room.status === 'fulfilled' ? room.value.close() : undefined)));
    this.#rooms.clear();
    this.#open.clear();
  }

  #openRoom(record: StoredConversation): Promise<Room> {
    const { id } = record;
    const known = this.#rooms.get(id);
    if (known) return known;
    const opening = this.#makeRoom(record);
    this.#rooms.set(id, opening);
    opening.then(
      (room) => this.#rooms.get(id) === opening && this.#open.set(id, room),
      () => this.#rooms.get(id) === opening && this.#rooms.delete(id),
    );
    return opening;
  }

  async #makeRoom(record: StoredConversation): Promise<Room> {
    await this.#closing.get(record.id)?.catch(() => undefined);
    return new Room(await this.#options.open(record), this.#now());
  }

  /** From the first tick on, whoever enters gets a new room, which opens when this one has ended. */
  async #closeRoom(id: string, room: Room, reason?: CatalogError): Promise<void> {
    if (this.#open.get(id) === room) {
      this.#open.delete(id);
      this.#rooms.delete(id);
    }
    const { agentState, reason: why, metrics } = room.conversation.state;
    const summary = { agent_state: agentState, reason: why, accumulated_cost: metrics?.accumulated_cost ?? 0 };
    const closing = room
      .close(reason)
      .then(() => this.#change(id, () => ({ summary })))
      .then(() => undefined)
      .finally(() => this.#closing.get(id) === closing && this.#closing.delete(id));
    this.#closing.set(id, closing);
    await closing;
  }

  async #closeIdle(): Promise<void> {
    for (const [id, room] of this.#open) {
      if (!room.isIdle(this.#now(), this.#options.idleMs ?? IDLE_MS)) continue;
      // Both begin in this tick: a mark that a new submit sets is stored after this one is taken away.
      const results = await Promise.allSettled([this.#closeRoom(id, room), this.#unmark(id)]);
      for (const result of results) {
        if (result.status === 'rejected')
          this.#options.logger.warn({ err: result.reason, conversation: id }, 'closing an idle conversation failed');
      }
    }
  }

  async #afterSubmit(id: string, action: ActionDraft): Promise<void> {
    const task = action.action === 'message' ? action.args.content : action.action === 'start' ? action.args.task : '';
    const title = titleFromTask(task);
    const record = title === undefined ? undefined : await this.get(id);
    if (title && record?.title === defaultTitle(id)) await this.rename(id, title);
    else await this.#change(id, () => ({ updated_at: this.#options.clock.now().toISOString() }));
  }

  /** One change after the other, each on what the one before left. The record as it is then, or `undefined` when there is none. */
  #change(
    id: string,
    change: (record: StoredConversation) => Partial<StoredConversation> | undefined,
  ): Promise<StoredConversation | undefined> {
    const done = this.#lastChange.then(async () => {
      const record = await this.get(id);
      const changed = record && change(record);
      if (!record || !changed) return record;
      const next = { ...record, ...changed };
      await this.#put(next);
      return next;
    });
    this.#lastChange = done.catch(() => undefined);
    return done;
  }

  async #mark(id: string): Promise<void> {
    if (this.#marked.has(id)) return;
    await this.#options.storage.records.put('active', { id, sort: '', value: {} });
    this.#marked.add(id);
  }

  async #unmark(id: string): Promise<void> {
    this.#marked.delete(id);
    await this.#options.storage.records.delete('active', id);
  }

  #put(record: StoredConversation): Promise<void> {
    return this.#options.storage.records.put('conversations', { id: record.id, sort: record.created_at, value: record });
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}
