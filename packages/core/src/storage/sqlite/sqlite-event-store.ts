import type { EventLog, EventStore } from '../../log/event-log.ts';
import { SqliteLog, type LogParts } from './sqlite-log.ts';

/** Gives out one log object a conversation for as long as somebody holds it; a log that nobody holds costs nothing. */
export class SqliteEventStore implements EventStore {
  readonly #parts: LogParts;
  readonly #logs = new Map<string, WeakRef<SqliteLog>>();
  readonly #forgotten = new FinalizationRegistry<string>((id) => {
    if (!this.#logs.get(id)?.deref()) this.#logs.delete(id);
  });

  constructor(parts: LogParts) {
    this.#parts = parts;
  }

  open(conversationId: string): Promise<EventLog> {
    return this.#parts.commits.whenDurable(() => this.#logs.get(conversationId)?.deref() ?? this.#load(conversationId));
  }

  async delete(conversationId: string): Promise<void> {
    const { commits, table, blobs } = this.#parts;
    const orphans = await commits.write(() => {
      const hashes = table.delete(conversationId);
      // Ended inside the transaction, so that an append behind it in the same group finds the log gone.
      const log = this.#logs.get(conversationId)?.deref();
      log?.end(`conversation ${conversationId} was deleted`);
      this.#logs.delete(conversationId);
      return () => hashes;
    });
    await Promise.all(orphans.map((hash) => blobs.remove(hash)));
  }

  /** Ends every open log. */
  close(): void {
    for (const log of this.#logs.values()) log.deref()?.end('the storage is closed');
    this.#logs.clear();
  }

  #load(conversationId: string): SqliteLog {
    const log = new SqliteLog(conversationId, this.#parts);
    this.#logs.set(conversationId, new WeakRef(log));
    this.#forgotten.register(log, conversationId);
    return log;
  }
}
