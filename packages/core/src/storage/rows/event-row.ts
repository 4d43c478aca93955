import { crc32 } from 'node:zlib';
import { draftFromJson, isUnknown, type Event, type EventSource } from '@tendon/protocol';
import { deepFreeze, stamp } from '../../log/stamp.ts';
import type { SourcedDraft } from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import { payloadText, putBack, type PayloadEncoding, type PayloadPath } from '../blobs/payloads.ts';
import type { BlobResult } from '../blobs/blob-store.ts';

export interface EventRow {
  readonly conversation_id: string;
  readonly id: number;
  readonly timestamp: string;
  readonly source: string;
  readonly body: string;
  readonly payloads: string | null;
  readonly checksum: number;
}

/** Total: for an unreadable payload it yields the reason. */
export interface PayloadSource {
  get(hash: string): Promise<BlobResult>;
}

/** As in the column `payloads`. */
export type PayloadReference = readonly [path: PayloadPath, encoding: PayloadEncoding, hash: string];

/** The JSON that is stored for a draft. */
export function bodyOf(draft: SourcedDraft): Readonly<Record<string, unknown>> {
  if (isUnknown(draft)) return draft.raw;
  const { source: _, ...body } = draft;
  return body;
}

export function checksumOf(row: Omit<EventRow, 'checksum'>): number {
  const head = `${row.conversation_id}\n${row.id}\n${row.timestamp}\n${row.source}\n${row.payloads ?? ''}\n`;
  return crc32(row.body, crc32(head));
}

/** Reads a row whose payloads are all inside. Total: what cannot be read becomes a damaged event. */
export function eventOf(row: EventRow): Event {
  try {
    return eventOfBody(row, JSON.parse(row.body));
  } catch (error) {
    return unreadable(row, error);
  }
}

/** The same for a row with payloads outside. A missing payload is reported in its place. Rejects with `StorageError` when the storage does not answer. */
export async function hydrate(row: EventRow, payloads: PayloadSource, onDamage: (what: string) => void): Promise<Event> {
  try {
    let body: unknown = JSON.parse(row.body);
    for (const [path, encoding, hash] of JSON.parse(row.payloads!) as PayloadReference[]) {
      const blob = await payloads.get(hash);
      if (!blob.ok) onDamage(blob.reason);
      if (path.length > 0) putBack(body, path, blob.ok ? payloadText(blob.bytes, encoding) : damageNote(blob.reason));
      else if (blob.ok) body = JSON.parse(payloadText(blob.bytes, encoding));
      else return damagedEvent(row.id, row.timestamp, blob.reason);
    }
    return eventOfBody(row, body);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    return unreadable(row, error);
  }
}

function unreadable(row: EventRow, error: unknown): Event {
  return damagedEvent(row.id, row.timestamp, `event ${row.id} cannot be read (${(error as Error).message})`);
}

function eventOfBody(row: EventRow, body: unknown): Event {
  const draft = { ...draftFromJson(body as Record<string, unknown>), source: row.source as EventSource };
  return deepFreeze(stamp(draft, row.id, row.timestamp));
}

/** Stands where an event cannot be read: ids stay gapless, and readers are informed. */
export function damagedEvent(id: number, timestamp: string, what: string): Event {
  return deepFreeze<Event>({
    id,
    timestamp,
    source: 'environment',
    observation: 'error',
    content: damageNote(what),
    extras: { error_id: 'STORAGE$DAMAGED' },
  });
}

function damageNote(what: string): string {
  return `[this part of the log is damaged: ${what}]`;
}
