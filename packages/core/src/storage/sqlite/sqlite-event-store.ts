import { setImmediate } from 'node:timers/promises';
import type { EventLog, EventStore } from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import { SqliteLog, type LogParts } from './sqlite-log.ts';

const DELETED_AT_ONCE = 2_000;
/** Of at most 256 KB each. */
const DELETED_PAYLOADS_AT_ONCE = 64;

/** Gives out one log object a conversation for as long as somebody holds it; a log that nobody holds costs nothing. */
export class SqliteEventStore implements EventStore {
  readonly #parts: LogParts;
  readonly #logs = new Map<string, WeakRef<SqliteLog>>();
  readonly #deletions = new Map<string, Promise<void>>();
  readonly #forgotten = new FinalizationRegistry<string>((id) => {
    if (!this.#logs.get(id)?.deref()) this.#logs.delete(id);
  });

  constructor(parts: LogParts) {
    this.#parts = parts;
  }

  async open(conversationId: string): Promise<EventLog> {
    await this.#deletions.get(conversationId)?.catch(() => {});
    return this.#parts.commits.whenDurable(() => this.#logs.get(conversationId)?.deref() ?? this.#load(conversationId));
  }

  delete(conversationId: string): Promise<void> {
    let deletion = this.#deletions.get(conversationId);
    if (!deletion) {
      deletion = this.#delete(conversationId).finally(() => this.#deletions.delete(conversationId));
      this.#deletions.set(conversationId, deletion);
    }
    return deletion;
  }

  async #delete(conversationId: string): Promise<void> {
    const { commits, tables, blobs } = this.#parts;
    const { events: table, payloads, snapshots, pages } = tables;
    // Ended at once: an append that waits behind this finds the log gone.
    this.#logs.get(conversationId)?.deref()?.end(`conversation ${conversationId} was deleted`);
    this.#logs.delete(conversationId);
    // From the end, a piece at a time: the event loop gets its turn, and a crash in between leaves a log without gaps.
    let from = await commits.whenDurable(() => table.lastId(conversationId) + 1);
    while (from > 0) {
      from = Math.max(0, from - DELETED_AT_ONCE);
      await commits.write(() => {
        table.deleteFrom(conversationId, from);
        return () => undefined;
      });
    }
    let orphans: readonly string[] | undefined;
    while (!orphans) {
      orphans = await commits.write(() => {
        const isMore = payloads.delete(conversationId, DELETED_PAYLOADS_AT_ONCE) === DELETED_PAYLOADS_AT_ONCE;
        const hashes = isMore ? undefined : table.deleteRest(conversationId);
        if (hashes) snapshots.delete(conversationId);
        return () => hashes;
      });
    }
    // Last, because pages can be added as long as the log has events.
    await pages.clear(conversationId).catch((error: unknown) => {
      if (error instanceof StorageError) throw error;
      this.#parts.findings.add(`what was indexed of conversation ${conversationId} cannot be removed: ${String(error)}`);
    });
    await Promise.all(orphans.map((hash) => blobs.remove(hash)));
  }

  /** Removes the payloads of conversations whose deletion was interrupted after their events were deleted; resolves with how many. */
  async sweepPayloads(isOver: () => boolean): Promise<number> {
    const { commits, tables } = this.#parts;
    const { events: table, payloads } = tables;
    let swept = 0;
    let id: string | undefined = '';
    while (!isOver() && (id = await this.#withPayloadsAfter(id)) !== undefined) {
      const gone = id;
      for (let last = DELETED_PAYLOADS_AT_ONCE; last === DELETED_PAYLOADS_AT_ONCE; swept += last) {
        last = await commits.write(() => {
          // In the transaction: the id may be in use again.
          const count = table.lastId(gone) < 0 ? payloads.delete(gone, DELETED_PAYLOADS_AT_ONCE) : 0;
          return () => count;
        });
      }
    }
    return swept;
  }

  /** The next conversation whose payloads have no events; between two the event loop gets its turn. */
  async #withPayloadsAfter(id: string): Promise<string | undefined> {
    const { commits, tables } = this.#parts;
    const { events: table, payloads } = tables;
    for (let next: string | undefined = id; ; await setImmediate()) {
      next = await commits.whenDurable(() => payloads.conversationAfter(next!));
      if (next === undefined || (await commits.whenDurable(() => table.lastId(next!))) < 0) return next;
    }
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
