import { DatabaseSync } from 'node:sqlite';
import { BlobStore } from '../blobs/blob-store.ts';
import type { EventRow } from '../rows/event-row.ts';
import type { PayloadRow } from '../rows/payload-row.ts';
import { openSqliteStorage, type SqliteStorageOptions } from '../sqlite/open-sqlite-storage.ts';
import { PayloadReader, PayloadTable, placePayload } from '../sqlite/payload-table.ts';
import { lockForProcess } from '../sqlite/process-lock.ts';
import { eventPages, type StoredLog, type StoredRecordRow, type StoredRows } from './stored-rows.ts';

const PAGE = 256;
const TABLES = ['events', 'epochs', 'payloads', 'snapshots', 'blob_uses', 'search_pages'] as const;

/** Opens the store of a home, which is made when it is not there. Rejects with `StorageError` when a process has it. */
export async function openSqliteRows(
  options: Pick<SqliteStorageOptions, 'path' | 'blobDir' | 'clock'>,
): Promise<StoredRows & AsyncDisposable> {
  // Brings its schema up to date, and takes what a killed process left.
  await (await openSqliteStorage(options)).close();
  const unlock = lockForProcess(options.path);
  try {
    return new SqliteRows(new DatabaseSync(options.path), await BlobStore.open(options.blobDir), unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

class SqliteRows implements StoredRows, AsyncDisposable {
  readonly #db: DatabaseSync;
  readonly #blobs: BlobStore;
  readonly #unlock: () => void;

  constructor(db: DatabaseSync, blobs: BlobStore, unlock: () => void) {
    this.#db = db;
    this.#blobs = blobs;
    this.#unlock = unlock;
    db.exec('PRAGMA synchronous = FULL');
  }

  async conversationIds(after: string): Promise<readonly string[]> {
    const sql = `SELECT DISTINCT conversation_id AS id FROM events WHERE conversation_id > ? ORDER BY conversation_id LIMIT ${PAGE}`;
    return this.#all<{ id: string }>(sql, after).map(({ id }) => id);
  }

  async log(conversationId: string): Promise<StoredLog | undefined> {
    const [last] = this.#all<{ id: number | null }>('SELECT max(id) AS id FROM events WHERE conversation_id = ?', conversationId);
    if (typeof last?.id !== 'number') return undefined;
    const epochs = 'SELECT from_id, epoch FROM epochs WHERE conversation_id = ? ORDER BY from_id';
    const snapshot = 'SELECT next_id, last_checksum, body, checksum FROM snapshots WHERE conversation_id = ?';
    return {
      nextId: last.id + 1,
      epochs: this.#all(epochs, conversationId),
      snapshot: this.#all<NonNullable<StoredLog['snapshot']>>(snapshot, conversationId)[0],
    };
  }

  async events(conversationId: string, from: number): Promise<readonly EventRow[]> {
    return this.#all(`SELECT * FROM events WHERE conversation_id = ? AND id >= ? ORDER BY id LIMIT ${PAGE}`, conversationId, from);
  }

  async payloadHashes(conversationId: string): Promise<readonly string[]> {
    const sql = 'SELECT hash FROM payloads WHERE conversation_id = ?1 UNION SELECT hash FROM blob_uses WHERE conversation_id = ?1';
    return this.#all<{ hash: string }>(sql, conversationId).map(({ hash }) => hash);
  }

  async payload(conversationId: string, hash: string): Promise<Buffer | undefined> {
    const found = await new PayloadReader(conversationId, new PayloadTable(this.#db), this.#blobs).get(hash);
    return found.ok ? found.bytes : undefined;
  }

  async records({ collection, id }: Pick<StoredRecordRow, 'collection' | 'id'>): Promise<readonly StoredRecordRow[]> {
    const sql = `SELECT collection, id, sort, json FROM records WHERE (collection, id) > (?, ?) ORDER BY collection, id LIMIT ${PAGE}`;
    return this.#all(sql, collection, id);
  }

  async replaceLog(conversationId: string, source: StoredRows): Promise<readonly string[]> {
    const { epochs, snapshot } = (await source.log(conversationId))!;
    const missing: string[] = [];
    const held: string[] = [];
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      for (const table of TABLES) this.#run(`DELETE FROM ${table} WHERE conversation_id = ?`, conversationId);
      for (const hash of await source.payloadHashes(conversationId)) {
        const bytes = await source.payload(conversationId, hash);
        if (bytes) this.#place(conversationId, await placePayload(bytes, this.#blobs, held));
        else missing.push(hash);
      }
      for await (const page of eventPages(source, conversationId))
        for (const { id, timestamp, source: by, body, payloads, checksum } of page)
          this.#run('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)', conversationId, id, timestamp, by, body, payloads, checksum);
      for (const { from_id: from, epoch } of epochs) this.#run('INSERT INTO epochs VALUES (?, ?, ?)', conversationId, from, epoch);
      if (snapshot) {
        const { next_id: nextId, last_checksum: last, body, checksum } = snapshot;
        this.#run('INSERT INTO snapshots VALUES (?, ?, ?, ?, ?)', conversationId, nextId, last, body, checksum);
      }
      this.#db.exec('COMMIT');
      return missing;
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    } finally {
      this.#blobs.release(held);
    }
  }

  async putRecords(records: readonly StoredRecordRow[]): Promise<void> {
    this.#db.exec('BEGIN IMMEDIATE');
    for (const { collection, id, sort, json } of records) {
      this.#run(
        'INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET sort = excluded.sort, json = excluded.json',
        collection,
        id,
        sort,
        json,
      );
    }
    this.#db.exec('COMMIT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#db.close();
    this.#unlock();
  }

  #place(conversationId: string, place: PayloadRow | { readonly hash: string }): void {
    if ('bytes' in place) new PayloadTable(this.#db).put(conversationId, place);
    else this.#run('INSERT OR IGNORE INTO blob_uses VALUES (?, ?)', place.hash, conversationId);
  }

  #all<R>(sql: string, ...values: readonly (string | number)[]): readonly R[] {
    return this.#db.prepare(sql).all(...values) as unknown as R[];
  }

  #run(sql: string, ...values: readonly (string | number | null)[]): void {
    this.#db.prepare(sql).run(...values);
  }
}
