import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { StorageError } from '../../log/storage-error.ts';
import { isTitled } from '../page-index.ts';
import type { ListOptions, RecordChange, RecordRename, RecordStore, RenamedIds, Renaming, StoredRecord } from '../storage.ts';
import type { GroupCommit } from './group-commit.ts';
import { TitleIndex, type TitlePlace } from './title-index.ts';

interface RecordRow {
  readonly id: string;
  readonly sort: string;
  readonly json: string;
}

/** Sorts after every other text: where a listing without `before` begins. */
const TOP: TitlePlace = { sort: '\u{10ffff}\u{10ffff}', id: '' };
/** Records that are searched before the event loop is yielded. */
const PAGE = 200;

export class SqliteRecordStore implements RecordStore {
  readonly #commits: GroupCommit;
  readonly #get;
  readonly #put;
  readonly #delete;
  readonly #list;
  readonly #titles: TitleIndex;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#commits = commits;
    this.#titles = new TitleIndex(db, commits);
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

  update<T>(collection: string, id: string, change: RecordChange<T>): Promise<T | undefined> {
    return this.#commits.write(() => {
      const row = this.#get.get(collection, id) as RecordRow | undefined;
      const value = row && (JSON.parse(row.json) as T);
      const changed = change(value);
      if (changed) this.#put.run(collection, id, changed.sort, JSON.stringify(changed.value));
      return () => (changed ? changed.value : value);
    });
  }

  rename<T>(collection: string, { from, to }: RenamedIds, change: RecordRename<T>): Promise<Renaming> {
    return this.#commits.write(() => {
      const row = this.#get.get(collection, from) as RecordRow | undefined;
      if (!row) return () => 'missing';
      if (this.#get.get(collection, to)) return () => 'taken';
      const { sort, value } = change(JSON.parse(row.json) as T);
      this.#put.run(collection, to, sort, JSON.stringify(value));
      this.#delete.run(collection, from);
      return () => 'renamed';
    });
  }

  /** One process has the database. */
  watch(): () => void {
    return () => undefined;
  }

  async list<T>(collection: string, { limit, before, titled }: ListOptions = {}): Promise<readonly StoredRecord<T>[]> {
    const place = before ?? TOP;
    if (titled === undefined)
      return this.#commits.whenDurable(() => this.#list.all(collection, place.sort, place.id, limit ?? -1).map(recordOf<T>));
    return this.#titled<T>(collection, titled, { limit: limit ?? Infinity, place });
  }

  /** The index lists the records that may match, their titles decide; without a usable index, all records are read. */
  async #titled<T>(collection: string, words: string, query: TitledQuery): Promise<readonly StoredRecord<T>[]> {
    const all: Pages = (from) => this.#list.all(collection, from.sort, from.id, PAGE);
    if (collection !== 'conversations' || !(await this.#titles.knows(words))) return this.#filtered(words, query, all);
    try {
      return await this.#filtered(words, query, (from) => this.#titles.find(words, from, PAGE));
    } catch (error) {
      if (error instanceof StorageError) throw error;
      this.#titles.giveUp();
      return this.#filtered(words, query, all);
    }
  }

  async #filtered<T>(words: string, { limit, place }: TitledQuery, pages: Pages): Promise<readonly StoredRecord<T>[]> {
    const found: StoredRecord<T>[] = [];
    for (let from = place; ; await setImmediate()) {
      const page = await this.#commits.whenDurable(() => pages(from).map(recordOf<T>));
      found.push(...page.filter(({ value }) => isTitled(value, words)));
      if (found.length >= limit || page.length < PAGE) return found.slice(0, limit);
      from = page.at(-1)!;
    }
  }
}

interface TitledQuery {
  readonly limit: number;
  /** The last record of the page before. */
  readonly place: TitlePlace;
}

/** At most `PAGE` rows after a place. */
type Pages = (from: TitlePlace) => readonly unknown[];

function recordOf<T>(row: unknown): StoredRecord<T> {
  const { id, sort, json } = row as RecordRow;
  return { id, sort, value: JSON.parse(json) as T };
}
