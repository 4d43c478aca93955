import type { Clock } from '../../async/clock.ts';
import { Database, type Query } from '../postgres/database.ts';
import { openPostgresStorage } from '../postgres/open-postgres-storage.ts';
import type { EventRow } from '../rows/event-row.ts';
import { contentOf, toPayloadRow } from '../rows/payload-row.ts';
import type { Storage } from '../storage.ts';
import { eventPages, type StoredLog, type StoredRecordRow, type StoredRows } from './stored-rows.ts';

const PAGE = 256;
const MAX_PAYLOAD_BYTES = 1024 ** 3;
const TABLES = ['events', 'epochs', 'payloads', 'snapshots', 'search_pages'] as const;
/** Its root is set when a server claims it. The epoch of a copy that stood here before goes on: executors have seen it. */
const PUT_LOG = `
  INSERT INTO tendon.logs (conversation_id, root_id, next_id, last_timestamp, owner_epoch) VALUES ($1, $1, $2, $3, 0)
  ON CONFLICT (conversation_id) DO UPDATE SET next_id = excluded.next_id, last_timestamp = excluded.last_timestamp, owner = NULL`;

/** Opens a database, whose schema is made when it is not there. Rejects with `StorageError` when a server has it. */
export async function openPostgresRows(url: string, clock: Clock): Promise<StoredRows & AsyncDisposable> {
  const storage = await openPostgresStorage({ url, clock });
  return new PostgresRows(new Database(url), storage);
}

class PostgresRows implements StoredRows, AsyncDisposable {
  readonly #database: Database;
  /** Has the database meanwhile. */
  readonly #storage: Storage;

  constructor(database: Database, storage: Storage) {
    this.#database = database;
    this.#storage = storage;
  }

  async conversationIds(after: string): Promise<readonly string[]> {
    const rows = await this.#database.read<{ id: string }>(
      `SELECT conversation_id AS id FROM tendon.logs WHERE conversation_id > $1 ORDER BY conversation_id LIMIT ${PAGE}`,
      [after],
    );
    return rows.map(({ id }) => id);
  }

  async log(conversationId: string): Promise<StoredLog | undefined> {
    const { read } = this.#database;
    const [log] = await read<{ next_id: number }>('SELECT next_id FROM tendon.logs WHERE conversation_id = $1', [conversationId]);
    if (!log) return undefined;
    const epochs = 'SELECT from_id, epoch FROM tendon.epochs WHERE conversation_id = $1 ORDER BY from_id';
    const snapshot = 'SELECT next_id, last_checksum, body, checksum FROM tendon.snapshots WHERE conversation_id = $1';
    return {
      nextId: log.next_id,
      epochs: await read(epochs, [conversationId]),
      snapshot: (await read<NonNullable<StoredLog['snapshot']>>(snapshot, [conversationId]))[0],
    };
  }

  events(conversationId: string, from: number): Promise<readonly EventRow[]> {
    return this.#database.read<EventRow>(
      `SELECT conversation_id, id, timestamp, source, body, payloads, checksum FROM tendon.events
       WHERE conversation_id = $1 AND id >= $2 ORDER BY id LIMIT ${PAGE}`,
      [conversationId, from],
    );
  }

  async payloadHashes(conversationId: string): Promise<readonly string[]> {
    const sql = 'SELECT hash FROM tendon.payloads WHERE conversation_id = $1';
    return (await this.#database.read<{ hash: string }>(sql, [conversationId])).map(({ hash }) => hash);
  }

  async payload(conversationId: string, hash: string): Promise<Buffer | undefined> {
    const [row] = await this.#database.read<{ deflated: boolean; bytes: Buffer }>(
      'SELECT deflated, bytes FROM tendon.payloads WHERE conversation_id = $1 AND hash = $2',
      [conversationId, hash],
    );
    const found = row && (await contentOf({ hash, deflated: row.deflated ? 1 : 0, bytes: row.bytes }, MAX_PAYLOAD_BYTES));
    return found?.ok ? found.bytes : undefined;
  }

  records({ collection, id }: Pick<StoredRecordRow, 'collection' | 'id'>): Promise<readonly StoredRecordRow[]> {
    return this.#database.read(
      `SELECT collection, id, sort, json FROM tendon.records WHERE (collection, id) > ($1, $2) ORDER BY collection, id LIMIT ${PAGE}`,
      [collection, id],
    );
  }

  replaceLog(conversationId: string, source: StoredRows): Promise<readonly string[]> {
    return this.#database.transaction(async (query) => {
      for (const table of TABLES) await query(`DELETE FROM tendon.${table} WHERE conversation_id = $1`, [conversationId]);
      const { nextId, epochs, snapshot } = (await source.log(conversationId))!;
      const missing = await copyPayloads(conversationId, source, query);
      let lastTimestamp = '';
      for await (const page of eventPages(source, conversationId)) {
        await insertEvents(query, page);
        lastTimestamp = page.at(-1)!.timestamp;
      }
      for (const { from_id: from, epoch } of epochs)
        await query('INSERT INTO tendon.epochs VALUES ($1, $2, $3)', [conversationId, from, epoch]);
      if (snapshot) {
        const { next_id: next, last_checksum: last, body, checksum } = snapshot;
        await query('INSERT INTO tendon.snapshots VALUES ($1, $2, $3, $4, $5)', [conversationId, next, last, body, checksum]);
      }
      await query(PUT_LOG, [conversationId, nextId, lastTimestamp]);
      return missing;
    });
  }

  async putRecords(records: readonly StoredRecordRow[]): Promise<void> {
    for (const { collection, id, sort, json } of records)
      await this.#storage.records.put(collection, { id, sort, value: JSON.parse(json) as unknown });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close();
    await this.#storage.close();
  }
}

async function copyPayloads(conversationId: string, source: StoredRows, query: Query): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const hash of await source.payloadHashes(conversationId)) {
    const bytes = await source.payload(conversationId, hash);
    if (bytes) {
      const row = await toPayloadRow(bytes);
      await query('INSERT INTO tendon.payloads VALUES ($1, $2, $3, $4)', [conversationId, hash, row.deflated === 1, row.bytes]);
    } else missing.push(hash);
  }
  return missing;
}

function insertEvents(query: Query, page: readonly EventRow[]): Promise<unknown> {
  return query(
    `INSERT INTO tendon.events (conversation_id, id, timestamp, source, body, payloads, checksum)
     SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])`,
    [
      page.map((row) => row.conversation_id),
      page.map((row) => row.id),
      page.map((row) => row.timestamp),
      page.map((row) => row.source),
      page.map((row) => row.body),
      page.map((row) => row.payloads),
      page.map((row) => row.checksum),
    ],
  );
}
