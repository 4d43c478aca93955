import { StorageError } from '../../log/storage-error.ts';
import { isTitled } from '../page-index.ts';
import type { ListOptions, RecordStore, StoredRecord } from '../storage.ts';
import type { Database } from './database.ts';
import { isUnstorableText } from './postgres-errors.ts';
import { lexemesOf, trigramQuery } from './postgres-page-index.ts';

interface RecordRow {
  readonly id: string;
  readonly sort: string;
  readonly json: string;
}

interface Place {
  readonly sort: string;
  readonly id: string;
}

/** Sorts after every other text: where a listing without `before` begins. */
const TOP: Place = { sort: '\u{10ffff}\u{10ffff}', id: '' };
/** Records that are looked through for words of their titles at once. */
const PAGE = 200;
const MOST_TRIGRAMS = 16;

/** Each write is refused once a later server has the database. */
export class PostgresRecordStore implements RecordStore {
  readonly #database: Database;
  readonly #ownerEpoch: number;

  constructor(database: Database, ownerEpoch: number) {
    this.#database = database;
    this.#ownerEpoch = ownerEpoch;
  }

  async get<T>(collection: string, id: string): Promise<T | undefined> {
    const [row] = await this.#read('SELECT json FROM tendon.records WHERE collection = $1 AND id = $2', [collection, id]);
    return row && (JSON.parse(row.json) as T);
  }

  async put(collection: string, { id, sort, value }: StoredRecord): Promise<void> {
    await this.#change(
      `INSERT INTO tendon.records AS r (collection, id, sort, json, version, title)
       SELECT $2, $3, $4, $5, 1, array_to_tsvector($6::text[]) WHERE (SELECT max(epoch) FROM tendon.owner) <= $1
       ON CONFLICT (collection, id) DO UPDATE
       SET sort = excluded.sort, json = excluded.json, title = excluded.title, version = r.version + 1
       RETURNING true AS is_done`,
      [collection, id, sort, JSON.stringify(value), titleOf(value)],
    );
  }

  delete(collection: string, id: string): Promise<boolean> {
    return this.#change(
      `WITH gone AS (
         DELETE FROM tendon.records WHERE collection = $2 AND id = $3 AND (SELECT max(epoch) FROM tendon.owner) <= $1 RETURNING 1
       )
       SELECT EXISTS (SELECT 1 FROM gone) AS is_done WHERE (SELECT max(epoch) FROM tendon.owner) <= $1`,
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

  /** A name with a NUL is no record's. */
  async #read(text: string, values: readonly unknown[]): Promise<readonly RecordRow[]> {
    try {
      return await this.#database.read<RecordRow>(text, values);
    } catch (error) {
      if (error instanceof StorageError && isUnstorableText(error.cause)) return [];
      throw error;
    }
  }

  async #change(text: string, values: readonly unknown[]): Promise<boolean> {
    const [row] = await this.#database.write<{ is_done: boolean }>(text, [this.#ownerEpoch, ...values]);
    if (!row) throw new StorageError('fenced', 'another server has taken over the database: this one stands down');
    return row.is_done;
  }
}

function titleOf(value: unknown): readonly string[] | null {
  const title = (value as { readonly title?: unknown } | null)?.title;
  return typeof title === 'string' ? lexemesOf(title.toLowerCase()) : null;
}
