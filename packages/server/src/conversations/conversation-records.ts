/**
 * Owns what is stored of conversations beside their logs: one record each, and the marks of those that may need their loop.
 *
 * R1  Changes come one after the other, each on what the one before left.
 * R2  A mark is set before the first action is appended, so that a restart finds the conversation.
 * R3  A mark without a record is of a conversation whose deletion was cut off.
 */
import { createLane, type Clock, type ConversationRecord, type RecordStore } from '@tendon/core';
import type { StoredNetwork } from '../network/conversation-network.ts';

/** A conversation as the server keeps it. */
export type StoredConversation = ConversationRecord & {
  /** Somebody stopped it and nobody has started it since. */
  readonly stopped?: boolean;
  /** Wished for this conversation; else the stored settings decide. */
  readonly confirmation_mode?: boolean;
  readonly max_iterations?: number;
  /** For the agent, from whoever made the conversation. */
  readonly instructions?: string;
  readonly network?: StoredNetwork;
  /** Of the pull requests that were opened in it, oldest first. */
  readonly pr_number?: readonly number[];
  /** Servers of tools in place of the settings', sealed. */
  readonly tool_servers?: string;
  /** The incarnation of the sandbox that has the repository. */
  readonly repository_ready?: string;
  /** The conversation whose agent asked for this one, and the action it did so with. */
  readonly delegated_by?: { readonly conversation_id: string; readonly action_id: number };
  /** For lists: as it was when it was last closed. */
  readonly summary?: { readonly agent_state: string; readonly reason: string; readonly accumulated_cost: number };
};

export interface PageQuery {
  readonly limit: number;
  /** The last record of the page before. */
  readonly before?: { readonly sort: string; readonly id: string };
}

const PAGE = 200;

type Change = (record: StoredConversation) => Partial<StoredConversation> | undefined;

export class ConversationRecords {
  readonly #store: RecordStore;
  readonly #clock: Clock;
  readonly #marked = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #reserved = new Set<string>();
  readonly #inTurn = createLane();

  constructor(store: RecordStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Keeps an id for who asks first, until it is released; false when there is, or was just now, such a conversation. */
  async reserve(id: string): Promise<boolean> {
    if (this.#reserved.has(id) || this.#deleted.has(id)) return false;
    this.#reserved.add(id);
    // A mark alone is of a deletion that was cut off (R3).
    const found = await Promise.all([this.get(id), this.#store.get('active', id)]);
    if (found.every((one) => one === undefined)) return true;
    this.#reserved.delete(id);
    return false;
  }

  release(id: string): void {
    this.#reserved.delete(id);
  }

  /** Stored and marked with one commit. */
  async add(record: StoredConversation): Promise<void> {
    await Promise.all([this.#put(record), this.mark(record.id)]);
  }

  async get(id: string): Promise<StoredConversation | undefined> {
    return this.#deleted.has(id) ? undefined : this.#store.get<StoredConversation>('conversations', id);
  }

  /** Newest first. */
  async list(query: PageQuery): Promise<readonly StoredConversation[]> {
    return (await this.#store.list<StoredConversation>('conversations', query)).map((record) => record.value);
  }

  /** Ids of those in which another agent did a part of this one's work. */
  async delegatedBy(id: string): Promise<readonly string[]> {
    const found: string[] = [];
    let before: PageQuery['before'];
    do {
      const page = await this.list({ limit: PAGE, ...(before && { before }) });
      for (const record of page) if (record.delegated_by?.conversation_id === id) found.push(record.id);
      const last = page.length < PAGE ? undefined : page.at(-1);
      before = last && { sort: last.created_at, id: last.id };
    } while (before);
    return found;
  }

  /** The record as it is then; `undefined` when there is none. A change to `undefined` changes nothing. */
  change(id: string, change: Change): Promise<StoredConversation | undefined> {
    return this.#inTurn(async () => {
      const record = await this.get(id);
      const changed = record && change(record);
      if (!record || !changed) return record;
      const next = { ...record, ...changed };
      await this.#put(next);
      return next;
    });
  }

  /** From the first tick on there is no such conversation; resolves when that is durable. Its mark stays until `forget`. */
  async remove(id: string): Promise<void> {
    this.#deleted.add(id);
    await this.#inTurn(() => undefined); // what was begun has ended
    await this.#store.put('active', { id, sort: '', value: {} });
    await this.#store.delete('conversations', id);
  }

  /** Nothing is left of a removed one. */
  async forget(id: string): Promise<void> {
    this.#marked.delete(id);
    await this.#store.delete('active', id);
  }

  async mark(id: string): Promise<void> {
    if (this.#marked.has(id)) return;
    await this.#store.put('active', { id, sort: '', value: {} });
    this.#marked.add(id);
  }

  /** A mark that is set after this call is stored after it. */
  async unmark(id: string): Promise<void> {
    if (this.#deleted.has(id)) return;
    this.#marked.delete(id);
    await this.#store.delete('active', id);
  }

  async marked(): Promise<readonly string[]> {
    const ids = (await this.#store.list('active')).map(({ id }) => id);
    for (const id of ids) this.#marked.add(id);
    return ids;
  }

  now(): string {
    return this.#clock.now().toISOString();
  }

  #put(record: StoredConversation): Promise<void> {
    return this.#store.put('conversations', { id: record.id, sort: record.created_at, value: record });
  }
}
