/**
 * Indexes the pages of logs by the trigrams of their texts. It stores no text, only which trigrams a page contains. They are computed here
 * and not by a text search configuration, so that they do not depend on the language of the database.
 */
import type { IdRange, IndexedLog, PageIndex, TextPage } from '../page-index.ts';
import { fitsTrigrams, someTrigramsOf } from '../trigrams.ts';
import type { Database } from './database.ts';

/** How many trigrams of a searched text are looked up: enough to leave few pages, few enough for one lookup. */
const MOST_TRIGRAMS = 16;
/** A tsvector holds a megabyte. */
const MAX_TRIGRAMS_BYTES = 512 * 1024;

export class PostgresPageIndex implements PageIndex {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async indexedTo({ conversationId, version }: IndexedLog): Promise<number> {
    const [last] = await this.#database.read<{ to_id: number; version: string }>(
      'SELECT to_id, version FROM tendon.search_pages WHERE conversation_id = $1 ORDER BY from_id DESC LIMIT 1',
      [conversationId],
    );
    return last?.version === version ? last.to_id : 0;
  }

  async add({ conversationId, version }: IndexedLog, { from, to, text }: TextPage): Promise<boolean> {
    // Lock the log while its page is added, so that a deletion comes before or after.
    const added = await this.#database.write(
      `WITH held AS (SELECT 1 FROM tendon.logs WHERE conversation_id = $1 AND next_id >= $3 FOR KEY SHARE),
       last AS (SELECT to_id, version FROM tendon.search_pages WHERE conversation_id = $1 ORDER BY from_id DESC LIMIT 1)
       INSERT INTO tendon.search_pages (conversation_id, from_id, to_id, version, trigrams)
       SELECT $1, $2::bigint, $3::bigint, $4, array_to_tsvector($5::text[]) FROM held LEFT JOIN last ON true
       WHERE coalesce(last.to_id, 0) = $2::bigint AND coalesce(last.version, $4) = $4
       ON CONFLICT DO NOTHING RETURNING from_id`,
      [conversationId, from, to, version, text === undefined ? null : lexemesOf(text)],
    );
    return added.length > 0;
  }

  async find({ conversationId, version }: IndexedLog, text: string): Promise<readonly IdRange[] | undefined> {
    const query = trigramQuery(text, MOST_TRIGRAMS);
    if (query === undefined) return undefined;
    return this.#database.read<IdRange>(
      `SELECT from_id AS "from", to_id AS "to" FROM tendon.search_pages
       WHERE conversation_id = $1 AND version = $2 AND (trigrams IS NULL OR trigrams @@ $3::tsquery) ORDER BY from_id`,
      [conversationId, version, query],
    );
  }

  async clear(conversationId: string): Promise<void> {
    await this.#database.write('DELETE FROM tendon.search_pages WHERE conversation_id = $1', [conversationId]);
  }
}

/** Every searchable trigram of a text; `null` when there are too many to store. */
export function lexemesOf(text: string): readonly string[] | null {
  const all = someTrigramsOf(text, Infinity).filter(fitsTrigrams);
  const bytes = all.reduce((sum, trigram) => sum + Buffer.byteLength(trigram), 0);
  return bytes > MAX_TRIGRAMS_BYTES ? null : all;
}

/** A `tsquery` for some of the text's trigrams, which matches every page that contains the text; `undefined` when it has no trigrams. */
export function trigramQuery(text: string, most: number): string | undefined {
  if (!fitsTrigrams(text)) return undefined;
  return someTrigramsOf(text, most)
    .map((trigram) => `'${trigram.replaceAll(/['\\]/g, '$&$&')}'`)
    .join(' & ');
}
