import type { EventLog, EventStore } from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import { fencedMessage } from './server-lease.ts';
import { PostgresLog, type LogParts } from './postgres-log.ts';

/** The tables whose rows are deleted with a log. */
const TABLES = ['events', 'payloads', 'epochs', 'snapshots', 'search_pages'] as const;

/** Whether a server other than this one ($1) has the conversation ($2). Locks the row, so that none claims it meanwhile. */
const OF_OTHERS = `
  SELECT EXISTS (SELECT 1 FROM tendon.servers AS s WHERE s.id = l.owner AND s.id <> $1 AND NOT s.ended) AS is_others
  FROM tendon.logs AS l WHERE conversation_id = $2 FOR UPDATE OF l`;

/** What the store needs in addition to what all logs share. */
export interface EventStoreParts extends LogParts {
  /** Called when a log was deleted. */
  readonly onDeleted: (conversationId: string) => void;
}

/** Hands out one log object per conversation for as long as somebody holds a reference; an unreferenced log is collected. */
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
    // End the log first, so that waiting appends find it deleted.
    this.#logs.get(conversationId)?.deref()?.end(`conversation ${conversationId} was deleted`);
    this.#logs.delete(conversationId);
    const { appends, database, lease } = this.#parts;
    await appends.settled();
    await database.transaction(async (query) => {
      // Lock the log first: writers of the other tables hold that lock too, and have finished when this continues.
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
