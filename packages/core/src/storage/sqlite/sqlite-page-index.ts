/**
 * The pages of logs and the trigrams of their texts (FTS5). It stores no text, and for each trigram only the pages that contain it: about a
 * fifth of the text. Nothing is prepared before the first search, and appends do not touch it.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { IdRange, IndexedLog, PageIndex, TextPage } from '../page-index.ts';
import type { EventTable } from './event-table.ts';
import type { GroupCommit } from './group-commit.ts';
import { fitsTrigrams, someTrigramsOf } from '../trigrams.ts';
import { quoted } from './title-index.ts';
import type { Wal } from './wal.ts';

/** Trigrams of a searched text: enough to leave few pages, few enough for one lookup. */
const MOST_TRIGRAMS = 16;
const CLEARED_AT_ONCE = 200;
/** What the index adds to the WAL for each character, about. */
const BYTES_PER_CHARACTER = 2;

export interface PageIndexParts {
  readonly db: DatabaseSync;
  readonly commits: GroupCommit;
  readonly table: EventTable;
  readonly wal: Pick<Wal, 'grow'>;
}

export class SqlitePageIndex implements PageIndex {
  readonly #parts: PageIndexParts;

  constructor(parts: PageIndexParts) {
    this.#parts = parts;
  }

  indexedTo(log: IndexedLog): Promise<number> {
    return this.#parts.commits.whenDurable(() => this.#end(log) ?? 0);
  }

  add(log: IndexedLog, { from, to, text }: TextPage): Promise<boolean> {
    const { db, commits, table, wal } = this.#parts;
    return commits.write(() => {
      // Checked inside the transaction: the log may have been deleted meanwhile.
      if (this.#end(log) !== from || table.lastId(log.conversationId) < to - 1) return () => false;
      const { lastInsertRowid } = db
        .prepare('INSERT INTO search_pages (conversation_id, from_id, to_id, version, is_indexed) VALUES (?, ?, ?, ?, ?)')
        .run(log.conversationId, from, to, log.version, text === undefined ? 0 : 1);
      if (text !== undefined) db.prepare('INSERT INTO search_text (rowid, text) VALUES (?, ?)').run(lastInsertRowid, text);
      wal.grow((text?.length ?? 0) * BYTES_PER_CHARACTER);
      return () => true;
    });
  }

  async find({ conversationId, version }: IndexedLog, text: string): Promise<readonly IdRange[] | undefined> {
    if (!fitsTrigrams(text)) return undefined;
    const { db, commits } = this.#parts;
    // The pages of a log were added together, so their numbers are close: the range keeps the pages of other logs out of the lookup.
    const sql = `
      WITH mine AS (SELECT number, from_id, to_id, is_indexed FROM search_pages WHERE conversation_id = ? AND version = ?)
      SELECT from_id AS "from", to_id AS "to" FROM mine
      WHERE is_indexed = 0 OR number IN (
        SELECT rowid FROM search_text
        WHERE search_text MATCH ? AND rowid BETWEEN (SELECT min(number) FROM mine) AND (SELECT max(number) FROM mine)
      ) ORDER BY from_id`;
    return commits.whenDurable(() => {
      const rows = db
        .prepare(sql)
        .all(conversationId, version, someTrigramsOf(text, MOST_TRIGRAMS).map(quoted).join(' ')) as unknown as IdRange[];
      return rows.map(({ from, to }) => ({ from, to }));
    });
  }

  async clear(conversationId: string): Promise<void> {
    const { commits } = this.#parts;
    while ((await commits.whenDurable(() => this.#numbers(conversationId))).length > 0) {
      await commits.write(() => {
        for (const number of this.#numbers(conversationId)) this.#forget(number);
        return () => undefined;
      });
    }
  }

  /** From the last page on, so that a crash in between leaves pages without gaps. */
  #numbers(conversationId: string): readonly number[] {
    const sql = 'SELECT number FROM search_pages WHERE conversation_id = ? ORDER BY from_id DESC LIMIT ?';
    const rows = this.#parts.db.prepare(sql).all(conversationId, CLEARED_AT_ONCE) as { number: number }[];
    return rows.map(({ number }) => number);
  }

  #forget(number: number): void {
    const { db } = this.#parts;
    db.prepare('DELETE FROM search_pages WHERE number = ?').run(number);
    try {
      db.prepare('DELETE FROM search_text WHERE rowid = ?').run(number);
    } catch (error) {
      // Unreadable trigrams mean nothing without their page, and page numbers are never reused.
      if (!db.isTransaction) throw error;
    }
  }

  /** Where the next page begins; `undefined` when there are pages of another version. */
  #end({ conversationId, version }: IndexedLog): number | undefined {
    const sql = 'SELECT to_id, version FROM search_pages WHERE conversation_id = ? ORDER BY from_id DESC LIMIT 1';
    const last = this.#parts.db.prepare(sql).get(conversationId) as { to_id: number; version: string } | undefined;
    if (!last) return 0;
    return last.version === version ? last.to_id : undefined;
  }
}
