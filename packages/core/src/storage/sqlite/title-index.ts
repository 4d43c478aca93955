/**
 * Indexes the titles of conversations, so that words in them are found without reading every record. A put or a deletion only notes in
 * `titles_changed` which title is not indexed yet (by triggers, in the same commit). A search indexes the noted titles first; where
 * there are many, as in an older store, this continues in the background a batch at a time, and until then the index is not used. So no put waits
 * for the index, and damage to it affects nothing else.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { fitsTrigrams } from '../trigrams.ts';
import type { GroupCommit } from './group-commit.ts';

export interface TitlePlace {
  readonly sort: string;
  readonly id: string;
}

/** Titles per transaction: clients are served in between. */
const PIECE = 200;
const NOTED = `SELECT id FROM titles_changed ORDER BY id LIMIT ${PIECE}`;
/** As the triggers compare it. */
const TITLE = "coalesce(iif(json_valid(json), json_extract(json, '$.title'), ''), '')";
/** Letters whose lower case depends on their place, or is two characters: SQLite and JavaScript fold them differently. */
const FOLDED_OTHERWISE = /\u0130|\u0307|\u03a3|\u03c2|\u03c3/;

export class TitleIndex {
  readonly #db: DatabaseSync;
  readonly #commits: GroupCommit;
  #isGivenUp = false;
  #isTaking = false;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#db = db;
    this.#commits = commits;
  }

  /** Whether every title that may contain these words is indexed. If not, indexing begins. */
  async knows(words: string): Promise<boolean> {
    if (this.#isGivenUp || this.#isTaking || !fitsTrigrams(words) || FOLDED_OTHERWISE.test(words)) return false;
    try {
      if ((await this.#noted()) === 0 || (await this.#take()) < PIECE) return true;
      void this.#takeAll();
    } catch {
      this.giveUp();
    }
    return false;
  }

  /** The index cannot be read: this process does not use it. */
  giveUp(): void {
    this.#isGivenUp = true;
  }

  /** Rows of records whose title may hold the words, descending, after this place. Runs inside a read. */
  find(words: string, before: TitlePlace, limit: number): readonly unknown[] {
    return this.#db
      .prepare(
        `SELECT r.id, r.sort, r.json FROM (
           SELECT t.id, t.sort FROM title_text JOIN titles AS t ON t.number = title_text.rowid
           WHERE title_text MATCH ? AND (t.sort, t.id) < (?, ?) ORDER BY t.sort DESC, t.id DESC LIMIT ?
         ) AS found JOIN records AS r ON r.collection = 'conversations' AND r.id = found.id
         ORDER BY r.sort DESC, r.id DESC`,
      )
      .all(quoted(words), before.sort, before.id, limit);
  }

  /** The next process continues where this one ends. */
  async #takeAll(): Promise<void> {
    this.#isTaking = true;
    try {
      while ((await this.#take()) === PIECE) await setImmediate();
    } catch {
      this.giveUp();
    } finally {
      this.#isTaking = false;
    }
  }

  #noted(): Promise<number> {
    const isNoted = 'SELECT EXISTS (SELECT 1 FROM titles_changed) AS n';
    return this.#commits.whenDurable(() => (this.#db.prepare(isNoted).get() as { n: number }).n);
  }

  /** Indexes the titles that were noted first; returns how many. */
  #take(): Promise<number> {
    return this.#commits.write(() => {
      this.#db.exec(`DELETE FROM titles WHERE id IN (${NOTED})`);
      this.#db.exec(
        `INSERT INTO titles (id, sort, title) SELECT id, sort, ${TITLE} FROM records WHERE collection = 'conversations' AND id IN (${NOTED})`,
      );
      const { changes } = this.#db.prepare(`DELETE FROM titles_changed WHERE id IN (${NOTED})`).run();
      return () => Number(changes);
    });
  }
}

/** As one phrase of an FTS5 query. */
export function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
