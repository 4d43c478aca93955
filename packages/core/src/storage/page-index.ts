/** Ids from `from` on, up to but without `to`. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

export interface TextPage extends IdRange {
  /** The searchable text of the page's events; `undefined`: too long to be indexed, so the page may hold any text. */
  readonly text: string | undefined;
}

/** The version of the function that makes the texts: pages of another version are not used. */
export interface IndexedLog {
  readonly conversationId: string;
  readonly version: string;
}

/**
 * Which pages of a log may hold a text, so that a search reads only those. Searches add pages, one after the other
 * from the first event on; they are removed with their log. It may cover less than the log has, never more.
 */
export interface PageIndex {
  /** Events with a smaller id are in its pages. */
  indexedTo(log: IndexedLog): Promise<number>;
  /** False, without an effect, when the page does not begin where the others end, or the log does not have its events. */
  add(log: IndexedLog, page: TextPage): Promise<boolean>;
  /** The pages that may hold the text, ascending; `undefined` when it cannot decide for this text. Letter case counts. */
  find(log: IndexedLog, text: string): Promise<readonly IdRange[] | undefined>;
  /** Forgets the pages of all versions. */
  clear(conversationId: string): Promise<void>;
}

/** Whether a record's value has a `title` that contains these words, whatever the letter case. All backends use this one definition. */
export function isTitled(value: unknown, words: string): boolean {
  const title = (value as { readonly title?: unknown } | null)?.title;
  return typeof title === 'string' && title.toLowerCase().includes(words.toLowerCase());
}
