import { createHash } from 'node:crypto';
import type { EventRow } from '../rows/event-row.ts';

/** A log beside its events and payloads. */
export interface StoredLog {
  readonly nextId: number;
  readonly epochs: readonly { readonly from_id: number; readonly epoch: string }[];
  readonly snapshot: StoredSnapshot | undefined;
}

interface StoredSnapshot {
  readonly next_id: number;
  readonly last_checksum: number;
  readonly body: string;
  readonly checksum: number;
}

export interface StoredRecordRow {
  readonly collection: string;
  readonly id: string;
  readonly sort: string;
  readonly json: string;
}

/** All that a store holds, row by row, read and written as it is. Nobody else works on the store meanwhile. */
export interface StoredRows {
  /** Conversations with a log, ascending, after this one; at most a page, empty at the end. */
  conversationIds(after: string): Promise<readonly string[]>;
  log(conversationId: string): Promise<StoredLog | undefined>;
  /** Ascending from this id on; at most a page, empty at the end. */
  events(conversationId: string, from: number): Promise<readonly EventRow[]>;
  payloadHashes(conversationId: string): Promise<readonly string[]>;
  /** `undefined` when it is missing, or is not what was written. */
  payload(conversationId: string, hash: string): Promise<Buffer | undefined>;
  /** Ascending by collection and id; at most a page, empty at the end. */
  records(after: Pick<StoredRecordRow, 'collection' | 'id'>): Promise<readonly StoredRecordRow[]>;
  /** Makes the log what it is in `source`, in one transaction. Resolves with the hashes of payloads that are missing there. */
  replaceLog(conversationId: string, source: StoredRows): Promise<readonly string[]>;
  putRecords(records: readonly StoredRecordRow[]): Promise<void>;
}

/** Of a log's events and epochs; equal when they are. */
export async function digestOf(rows: StoredRows, conversationId: string): Promise<{ readonly hash: string; readonly events: number }> {
  const log = await rows.log(conversationId);
  const hash = createHash('sha256').update(JSON.stringify([log?.nextId, log?.epochs.map(({ from_id: from, epoch }) => [from, epoch])]));
  let events = 0;
  for await (const page of eventPages(rows, conversationId)) {
    for (const { id, timestamp, source, body, payloads, checksum } of page)
      hash.update(`\n${JSON.stringify([id, timestamp, source, body, payloads, checksum])}`);
    events += page.length;
  }
  return { hash: hash.digest('hex'), events };
}

/** All events of a log, a page at a time. */
export async function* eventPages(rows: StoredRows, conversationId: string): AsyncGenerator<readonly EventRow[], void, undefined> {
  for (let from = 0; ;) {
    const page = await rows.events(conversationId, from);
    if (page.length === 0) return;
    yield page;
    from = page.at(-1)!.id + 1;
  }
}
