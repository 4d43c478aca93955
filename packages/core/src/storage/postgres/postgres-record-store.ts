import { StorageError } from '../../log/storage-error.ts';
import { isTitled } from '../page-index.ts';
import type {
  ListOptions,
  RecordChange,
  RecordRename,
  RecordStore,
  RecordWatcher,
  RenamedIds,
  Renaming,
  StoredRecord,
} from '../storage.ts';
import type { Database } from './database.ts';
import { isDuplicate, isUnstorableText } from './postgres-errors.ts';
import { fencedMessage, type ServerLease } from './server-lease.ts';
import { lexemesOf, trigramQuery } from './postgres-page-index.ts';
import type { RecordWatch } from './record-watch.ts';

interface RecordRow {
  readonly id: string;
  readonly sort: string;
  readonly json: string;
}

interface VersionRow {
  readonly json: string;
  readonly version: number;
}

interface Place {
  readonly sort: string;
  readonly id: string;
}

/** Sorts after every other text; a listing without `before` begins here. */
const TOP: Place = { sort: '\u{10ffff}\u{10ffff}', id: '' };
/** How many records a search by title reads at once. */
const PAGE = 200;
const MOST_TRIGRAMS = 16;

/** Sends the notification with the commit, if anybody watches the collection. */
const NOTIFY = `CASE WHEN $2::text IS NOT NULL THEN pg_notify('tendon_records', $2::text) END`;

/** Changes a record only if it still has the version that was read; 0 means that there was none. */
const UPDATE = `
  WITH changed AS (
    UPDATE tendon.records SET sort = $5, json = $6, title = array_to_tsvector($7::text[]), version = version + 1
    WHERE collection = $3 AND id = $4 AND version = $8::bigint AND EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended)
    RETURNING ${NOTIFY}
  ), made AS (
    INSERT INTO tendon.records (collection, id, sort, json, version, title)
    SELECT $3, $4, $5, $6, 1, array_to_tsvector($7::text[]) WHERE $8::bigint = 0 AND EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended)
    ON CONFLICT DO NOTHING RETURNING ${NOTIFY}
  )
  SELECT EXISTS (SELECT 1 FROM changed UNION ALL SELECT 1 FROM made) AS is_done WHERE EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended)`;

/** Changes the id only if the record still has the version that was read, and no other has the new id. */
const RENAME = `
  WITH renamed AS (
    UPDATE tendon.records SET id = $5, sort = $6, json = $7, title = array_to_tsvector($8::text[]), version = version + 1
    WHERE collection = $3 AND id = $4 AND version = $9::bigint AND EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended)
    RETURNING ${NOTIFY}
  )
  SELECT EXISTS (SELECT 1 FROM renamed) AS is_done WHERE EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended)`;

/**
 * Each write is refused once the lease of this server has ended. Watched collections belong to no server, so writes to them are repeated
 * under the next lease.
 */
export class PostgresRecordStore implements RecordStore {
  readonly #database: Database;
  readonly #lease: Pick<ServerLease, 'id' | 'after'>;
  readonly #watch: RecordWatch;

  constructor(database: Database, lease: Pick<ServerLease, 'id' | 'after'>, watch: RecordWatch) {
    this.#database = database;
    this.#lease = lease;
    this.#watch = watch;
  }

  async get<T>(collection: string, id: string): Promise<T | undefined> {
    const [row] = await this.#read('SELECT json FROM tendon.records WHERE collection = $1 AND id = $2', [collection, id]);
    return row && (JSON.parse(row.json) as T);
  }

  async put(collection: string, { id, sort, value }: StoredRecord): Promise<void> {
    await this.#change(
      `INSERT INTO tendon.records AS r (collection, id, sort, json, version, title)
       SELECT $3, $4, $5, $6, 1, array_to_tsvector($7::text[]) WHERE EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended)
       ON CONFLICT (collection, id) DO UPDATE
       SET sort = excluded.sort, json = excluded.json, title = excluded.title, version = r.version + 1
       RETURNING true AS is_done, ${NOTIFY}`,
      [collection, id, sort, JSON.stringify(value), titleOf(value)],
    );
  }

  async update<T>(collection: string, id: string, change: RecordChange<T>): Promise<T | undefined> {
    for (;;) {
      const row = await this.#versionOf(collection, id);
      const value = row && (JSON.parse(row.json) as T);
      const changed = change(value);
      if (!changed) return value;
      const values: readonly [string, ...unknown[]] = [
        collection,
        id,
        changed.sort,
        JSON.stringify(changed.value),
        titleOf(changed.value),
        row?.version ?? 0,
      ];
      if (await this.#change(UPDATE, values)) return changed.value;
    }
  }

  async rename<T>(collection: string, { from, to }: RenamedIds, change: RecordRename<T>): Promise<Renaming> {
    for (;;) {
      const [row, other] = await Promise.all([from, to].map((id) => this.#versionOf(collection, id)));
      if (!row) return 'missing';
      if (other) return 'taken';
      const { sort, value } = change(JSON.parse(row.json) as T);
      const values = [collection, from, to, sort, JSON.stringify(value), titleOf(value), row.version] as const;
      const isDone = await this.#change(RENAME, values).catch((error: unknown) => {
        if (error instanceof StorageError && isDuplicate(error.cause)) return false;
        throw error;
      });
      if (isDone) return 'renamed';
    }
  }

  watch(collection: string, onChange: RecordWatcher): () => void {
    return this.#watch.watch(collection, onChange);
  }

  delete(collection: string, id: string): Promise<boolean> {
    return this.#change(
      `WITH gone AS (
         DELETE FROM tendon.records WHERE collection = $3 AND id = $4 AND EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended) RETURNING ${NOTIFY}
       )
       SELECT EXISTS (SELECT 1 FROM gone) AS is_done WHERE EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended)`,
      [collection, id],
    );
  }

  async list<T>(collection: string, { limit, before = TOP, titled }: ListOptions = {}): Promise<readonly StoredRecord<T>[]> {
    if (titled === undefined) return this.#page<T>(collection, before, limit ?? null);
    const found: StoredRecord<T>[] = [];
    const query = trigramQuery(titled.toLowerCase(), MOST_TRIGRAMS);
    for (let from: Place = before; ;) {
      const page = await this.#page<T>(collection, from, PAGE, query);
      found.push(...page.filter(({ value }) => isTitled(value, titled)));
      if (found.length >= (limit ?? Infinity) || page.length < PAGE) return found.slice(0, limit);
      from = page.at(-1)!;
    }
  }

  async #page<T>(collection: string, { sort, id }: Place, limit: number | null, query?: string): Promise<readonly StoredRecord<T>[]> {
    const rows = await this.#read(
      `SELECT id, sort, json FROM tendon.records
       WHERE collection = $1 AND (sort, id) < ($2, $3) ${query === undefined ? '' : 'AND title @@ $5::tsquery'}
       ORDER BY sort DESC, id DESC LIMIT $4`,
      [collection, sort, id, limit, ...(query === undefined ? [] : [query])],
    );
    return rows.map((row) => ({ id: row.id, sort: row.sort, value: JSON.parse(row.json) as T }));
  }

  async #versionOf(collection: string, id: string): Promise<VersionRow | undefined> {
    const text = 'SELECT json, version FROM tendon.records WHERE collection = $1 AND id = $2';
    return (await this.#database.read<VersionRow>(text, [collection, id]))[0];
  }

  /** No record has a name with a NUL. */
  async #read(text: string, values: readonly unknown[]): Promise<readonly RecordRow[]> {
    try {
      return await this.#database.read<RecordRow>(text, values);
    } catch (error) {
      if (error instanceof StorageError && isUnstorableText(error.cause)) return [];
      throw error;
    }
  }

  /** `values` begins with the collection. */
  async #change(text: string, values: readonly [string, ...unknown[]]): Promise<boolean> {
    const notice = this.#watch.noticeOf(values[0]);
    for (;;) {
      const { id } = this.#lease;
      const [row] = await this.#database.write<{ is_done: boolean }>(text, [id, notice, ...values]);
      if (row) return row.is_done;
      if (notice === null || !(await this.#lease.after(id))) throw new StorageError('fenced', fencedMessage(this.#database));
    }
  }
}

function titleOf(value: unknown): readonly string[] | null {
  const title = (value as { readonly title?: unknown } | null)?.title;
  return typeof title === 'string' ? lexemesOf(title.toLowerCase()) : null;
}
