/** Owns the open conversations: opens one on first need, closes it when nobody needs it. */
import type { Clock, Conversation } from '@tendon/core';
import type { CatalogError } from '@tendon/protocol';
import type { ConversationRecords, StoredConversation } from './conversation-records.ts';
import type { Logger } from '../logger.ts';
import { Room, type OnLooked } from './room.ts';

export interface RoomsOptions {
  readonly records: ConversationRecords;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly open: (record: StoredConversation) => Promise<Conversation>;
  /** A room that nobody needed for so long is closed; default 30 s. */
  readonly idleMs?: number;
  readonly onLooked?: OnLooked;
}

const IDLE_MS = 30_000;

export class Rooms {
  readonly #options: RoomsOptions;
  readonly #idleMs: number;
  /** Open and opening ones; `#open` holds those that are there already, `#closing` what must end before the next opening. */
  readonly #rooms = new Map<string, Promise<Room>>();
  readonly #open = new Map<string, Room>();
  readonly #closing = new Map<string, Promise<void>>();
  readonly #sweeper: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: RoomsOptions) {
    this.#options = options;
    this.#idleMs = options.idleMs ?? IDLE_MS;
    this.#sweeper = setInterval(() => void this.#closeIdle(), Math.max(10, this.#idleMs / 2));
    this.#sweeper.unref();
  }

  get size(): number {
    return this.#rooms.size;
  }

  get(id: string): Room | undefined {
    return this.#open.get(id);
  }

  /** The room that is open or about to be. */
  async opening(id: string): Promise<Room | undefined> {
    return this.#rooms.get(id)?.catch(() => undefined);
  }

  /** Held until `release`; `undefined` when it is just going away for good. Rejects when the log can not be opened. */
  async enter(record: StoredConversation): Promise<{ readonly room: Room; readonly release: () => void } | undefined> {
    if (this.#isClosed) return undefined;
    const room = await (this.#rooms.get(record.id) ?? this.#begin(record));
    return room.ended.aborted ? undefined : { room, release: room.lease(() => this.#now()) };
  }

  /** From the first tick on, whoever enters gets a new room, which opens when this one has ended. */
  close(room: Room, reason?: CatalogError): Promise<void> {
    const { id } = room.conversation;
    if (this.#open.get(id) === room) {
      this.#open.delete(id);
      this.#rooms.delete(id);
    }
    const closing = this.#close(room, reason).finally(() => {
      if (this.#closing.get(id) === closing) this.#closing.delete(id);
    });
    this.#closing.set(id, closing);
    return closing;
  }

  async closeAll(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    const rooms = await Promise.allSettled(this.#rooms.values());
    await Promise.allSettled(rooms.map((room) => (room.status === 'fulfilled' ? this.close(room.value) : undefined)));
    await Promise.allSettled(this.#closing.values());
  }

  #begin(record: StoredConversation): Promise<Room> {
    const { id } = record;
    const opening = this.#make(record);
    this.#rooms.set(id, opening);
    void this.#settle(id, opening);
    return opening;
  }

  async #make(record: StoredConversation): Promise<Room> {
    await this.#closing.get(record.id)?.catch(() => undefined);
    if (!(await this.#options.records.get(record.id))) throw new Error(`conversation ${record.id} was deleted while it was being opened`);
    return new Room(await this.#options.open(record), this.#now(), this.#options.onLooked);
  }

  async #settle(id: string, opening: Promise<Room>): Promise<void> {
    const room = await opening.catch(() => undefined);
    if (this.#rooms.get(id) !== opening) return;
    if (room) this.#open.set(id, room);
    else this.#rooms.delete(id);
  }

  async #close(room: Room, reason: CatalogError | undefined): Promise<void> {
    await room.close(reason);
    const { agentState, reason: why, metrics } = room.conversation.state;
    const summary = { agent_state: agentState, reason: why, accumulated_cost: metrics?.accumulated_cost ?? 0 };
    await this.#options.records.change(room.conversation.id, () => ({ summary }));
  }

  async #closeIdle(): Promise<void> {
    for (const [id, room] of this.#open) {
      if (!room.isIdle(this.#now(), this.#idleMs)) continue;
      // Both begin in this tick: a mark that a new submit sets is stored after this one is taken away.
      const results = await Promise.allSettled([this.close(room), this.#options.records.unmark(id)]);
      for (const result of results) {
        if (result.status === 'rejected')
          this.#options.logger.warn({ err: result.reason, conversation: id }, 'closing an idle conversation failed');
      }
    }
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}
