import type { EventLog, EventStore } from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import { fencedMessage } from './server-lease.ts';
import { PostgresLog, type LogParts } from './postgres-log.ts';

/** Beside its log, what is deleted with it. */
const TABLES = ['events', 'payloads', 'epochs', 'snapshots', 'search_pages'] as const;

/** Whether another server than this one ($1) has the conversation ($2); held, so that none takes it meanwhile. */
const OF_OTHERS = `
  SELECT EXISTS (SELECT 1 FROM tendon.servers AS s WHERE s.id = l.owner AND s.id <> $1 AND NOT s.ended) AS is_others
  FROM tendon.logs AS l WHERE conversation_id = $2 FOR UPDATE OF l`;

/** Beside what all logs share. */
export interface EventStoreParts extends LogParts {
  /** Notified when a conversation's log is gone. */
  readonly onDeleted: (conversationId: string) => void;
}

/** Gives out one log object a conversation for as long as somebody holds it; a log that nobody holds costs nothing. */
export class PostgresEventStore implements EventStore {
  readonly #parts: EventStoreParts;
  readonly #logs = new Map<string, WeakRef<PostgresLog>>();
  readonly #loading = new Map<string, Promise<PostgresLog>>();
  readonly #deletions = new Map<string, Promise<void>>();
  readonly #forgotten = new FinalizationRegistry<string>((id) => {
    if (!this.#logs.get(id)?.deref()) this.#logs.delete(id);
  });
  #isClosed = false;

  constructor(parts: EventStoreParts) {
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
    this.endAll('the storage is closed', 'closed');
  }

  /** A caller that needs a log opens it anew. */
  endAll(reason: string, code: 'closed' | 'fenced'): void {
    for (const log of this.#logs.values()) log.deref()?.end(reason, code);
    this.#logs.clear();
  }

  /** This server may append to the conversation's log under this epoch from now on. */
  claimed(conversationId: string, ownerEpoch: number): void {
    this.#logs.get(conversationId)?.deref()?.claimed(ownerEpoch);
  }

  async #delete(conversationId: string): Promise<void> {
    this.#assertOpen();
    // Ended at once: an append that waits behind this finds the log gone.
    this.#logs.get(conversationId)?.deref()?.end(`conversation ${conversationId} was deleted`);
    this.#logs.delete(conversationId);
    const { appends, database, lease } = this.#parts;
    await appends.settled();
    await database.transaction(async (query) => {
      // First the log: who writes beside it holds it, and is over when this goes on.
      const [log] = await query<{ is_others: boolean }>(OF_OTHERS, [lease.id, conversationId]);
      const [own] = await query('SELECT id FROM tendon.servers WHERE id = $1 AND NOT ended', [lease.id]);
      if (!own || log?.is_others) throw new StorageError('fenced', fencedMessage(database));
      await query('DELETE FROM tendon.logs WHERE conversation_id = $1', [conversationId]);
      for (const table of TABLES) await query(`DELETE FROM tendon.${table} WHERE conversation_id = $1`, [conversationId]);
    });
    this.#parts.onDeleted(conversationId);
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
