import type { DatabaseSync } from 'node:sqlite';
import type { RecordStore, StoredRecord } from '../storage.ts';
import type { GroupCommit } from './group-commit.ts';

interface RecordRow {
  readonly id: string;
  readonly sort: string;
  readonly json: string;
}

/** Sorts after every other text: where a listing without `before` begins. */
const TOP = '\u{10ffff}\u{10ffff}';

export class SqliteRecordStore implements RecordStore {
  readonly #commits: GroupCommit;
  readonly #get;
  readonly #put;
  readonly #delete;
  readonly #list;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#commits = commits;
    this.#get = db.prepare('SELECT id, sort, json FROM records WHERE collection = ? AND id = ?');
    this.#put = db.prepare(
      `INSERT INTO records (collection, id, sort, json) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET sort = excluded.sort, json = excluded.json`,
    );
    this.#delete = db.prepare('DELETE FROM records WHERE collection = ? AND id = ?');
    this.#list = db.prepare(
      'SELECT id, sort, json FROM records WHERE collection = ? AND (sort, id) < (?, ?) ORDER BY sort DESC, id DESC LIMIT ?',
    );
  }

  get<T>(collection: string, id: string): Promise<T | undefined> {
    return this.#commits.whenDurable(() => {
      const row = this.#get.get(collection, id) as RecordRow | undefined;
      return row && (JSON.parse(row.json) as T);
    });
  }

  async put(collection: string, { id, sort, value }: StoredRecord): Promise<void> {
    const json = JSON.stringify(value);
    await this.#commits.write(() => {
      this.#put.run(collection, id, sort, json);
      return () => undefined;
    });
  }

  delete(collection: string, id: string): Promise<boolean> {
    return this.#commits.write(() => {
      const { changes } = this.#delete.run(collection, id);
      return () => changes > 0;
    });
  }

  list<T>(
    collection: string,
    { limit, before }: { readonly limit?: number; readonly before?: { readonly sort: string; readonly id: string } } = {},
  ): Promise<readonly StoredRecord<T>[]> {
    return this.#commits.whenDurable(() => {
      const rows = this.#list.all(collection, before?.sort ?? TOP, before?.id ?? '', limit ?? -1) as unknown as RecordRow[];
      return rows.map(({ id, sort, json }) => ({ id, sort, value: JSON.parse(json) as T }));
    });
  }
}
