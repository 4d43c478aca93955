import type { EventLog, EventStore } from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import { fencedMessage } from './owner-lease.ts';
import { PostgresLog, type LogParts } from './postgres-log.ts';

/** Beside its log, what is deleted with it. */
const TABLES = ['events', 'payloads', 'epochs', 'snapshots', 'search_pages'] as const;

/** Gives out one log object a conversation for as long as somebody holds it; a log that nobody holds costs nothing. */
export class PostgresEventStore implements EventStore {
  readonly #parts: LogParts;
  readonly #logs = new Map<string, WeakRef<PostgresLog>>();
  readonly #loading = new Map<string, Promise<PostgresLog>>();
  readonly #deletions = new Map<string, Promise<void>>();
  readonly #forgotten = new FinalizationRegistry<string>((id) => {
    if (!this.#logs.get(id)?.deref()) this.#logs.delete(id);
  });
  #isClosed = false;

  constructor(parts: LogParts) {
    this.#parts = parts;
  }

  async open(conversationId: string): Promise<EventLog> {
    await this.#deletions.get(conversationId)?.catch(() => {});
    this.#assertOpen();
    const log = this.#logs.get(conversationId)?.deref() ?? (await this.#loadOnce(conversationId));
    this.#assertOpen();
    return log;
  }

  delete(conversationId: string): Promise<void> {
    let deletion = this.#deletions.get(conversationId);
    if (!deletion) {
      deletion = this.#delete(conversationId).finally(() => this.#deletions.delete(conversationId));
      this.#deletions.set(conversationId, deletion);
    }
    return deletion;
  }

  /** Ends every open log. */
  close(): void {
    this.#isClosed = true;
    for (const log of this.#logs.values()) log.deref()?.end('the storage is closed');
    this.#logs.clear();
  }

  async #delete(conversationId: string): Promise<void> {
    this.#assertOpen();
    // Ended at once: an append that waits behind this finds the log gone.
    this.#logs.get(conversationId)?.deref()?.end(`conversation ${conversationId} was deleted`);
    this.#logs.delete(conversationId);
    const { appends, database, ownerEpoch } = this.#parts;
    await appends.settled();
    await database.transaction(async (query) => {
      // First the log: who writes beside it holds it, and is over when this goes on.
      const [owner] = await query<{ is_mine: boolean }>('SELECT max(epoch) <= $1 AS is_mine FROM tendon.owner', [ownerEpoch]);
      if (!owner!.is_mine) throw new StorageError('fenced', fencedMessage(database));
      await query('DELETE FROM tendon.logs WHERE conversation_id = $1', [conversationId]);
      for (const table of TABLES) await query(`DELETE FROM tendon.${table} WHERE conversation_id = $1`, [conversationId]);
    });
  }

  #loadOnce(conversationId: string): Promise<PostgresLog> {
    let loading = this.#loading.get(conversationId);
    if (!loading) {
      loading = this.#load(conversationId).finally(() => this.#loading.delete(conversationId));
      this.#loading.set(conversationId, loading);
    }
    return loading;
  }

  async #load(conversationId: string): Promise<PostgresLog> {
    const log = await PostgresLog.load(conversationId, this.#parts);
    this.#logs.set(conversationId, new WeakRef(log));
    this.#forgotten.register(log, conversationId);
    return log;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StorageError('closed', 'the storage is closed');
  }
}
