/** Ids from `from` on, up to but without `to`. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

export interface TextPage extends IdRange {
  /** All that is to be found in the events of the page; `undefined`: more than can be indexed, so anything may be. */
  readonly text: string | undefined;
}

/** Texts that were made otherwise are of another version: what is known of them is no help. */
export interface IndexedLog {
  readonly conversationId: string;
  readonly version: string;
}

/**
 * Which pages of a log may hold a text, so that a search reads those alone. Pages are added by those who search, one after the other
 * from the first event on, and go with their log. It may know less than the log has, never more.
 */
export interface PageIndex {
  /** Events with a smaller id are in its pages. */
  indexedTo(log: IndexedLog): Promise<number>;
  /** False, and nothing is added, when the page does not begin where the others end, or the log does not have its events. */
  add(log: IndexedLog, page: TextPage): Promise<boolean>;
  /** The pages that may hold the text, ascending; `undefined` when it cannot tell for this text. Letter case counts. */
  find(log: IndexedLog, text: string): Promise<readonly IdRange[] | undefined>;
  /** Forgets the pages of all versions. */
  clear(conversationId: string): Promise<void>;
}
