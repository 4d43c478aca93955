import { deepFreeze, settleDraft } from '../../log/stamp.ts';
import type { SourcedDraft } from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { takePayloads, type Payload } from '../blobs/payloads.ts';
import { bodyOf, type PayloadReference } from './event-row.ts';
import { type PayloadRow, MAX_IN_DATABASE_BYTES, toPayloadRow } from './payload-table.ts';

/** A draft as it goes into a row, with its large payloads safe in the blob store; only id and timestamp are missing. */
export interface PreparedDraft {
  readonly draft: SourcedDraft;
  readonly body: string;
  readonly payloads: string | null;
  /** Of the payloads in the blob store. */
  readonly hashes: readonly string[];
  /** The payloads that are written with the row. */
  readonly rows: readonly PayloadRow[];
  /** Characters of the whole JSON, about. */
  readonly size: number;
  /** What a commit adds to the write-ahead log for it, about. */
  readonly storedBytes: number;
}

/** The pages that a payload touches beside its own: of the table and of its index. */
const PAGES_BYTES = 3 * 4096;

type Place = PayloadRow | { readonly hash: string };

/**
 * Freezes drafts and finds a place for their payloads; a promise only where there are any. Throws, with nothing stored, on values that JSON cannot
 * carry. Adds every blob that it holds to `held`, also when it rejects: the caller must release them.
 */
export function prepareDrafts(
  drafts: readonly SourcedDraft[],
  blobs: BlobStore,
  held: string[],
): readonly PreparedDraft[] | Promise<readonly PreparedDraft[]> {
  const taken = drafts.map(takeApart);
  if (taken.every(({ payloads }) => payloads.length === 0)) return taken.map((one) => prepared(one, []));
  return settled(taken.map(async (one) => prepared(one, await settled(one.payloads.map((payload) => place(payload, blobs, held))))));
}

interface TakenDraft {
  readonly draft: SourcedDraft;
  readonly json: string;
  readonly payloads: readonly Payload[];
}

function takeApart(given: SourcedDraft): TakenDraft {
  const draft = deepFreeze(settleDraft(given));
  return { draft, ...takePayloads(bodyOf(draft)) };
}

function prepared({ draft, json, payloads }: TakenDraft, places: readonly Place[]): PreparedDraft {
  const references = places.map(({ hash }, index): PayloadReference => [payloads[index]!.path, payloads[index]!.encoding, hash]);
  const rows = places.filter((one) => 'bytes' in one);
  return {
    draft,
    body: json,
    payloads: references.length > 0 ? JSON.stringify(references) : null,
    hashes: places.filter((one) => !('bytes' in one)).map(({ hash }) => hash),
    rows,
    size: payloads.reduce((sum, { bytes }) => sum + bytes.length, json.length),
    storedBytes: rows.reduce((sum, { bytes }) => sum + bytes.length + PAGES_BYTES, json.length),
  };
}

async function place({ bytes }: Payload, blobs: BlobStore, held: string[]): Promise<Place> {
  if (bytes.length <= MAX_IN_DATABASE_BYTES) return toPayloadRow(bytes);
  try {
    const hash = await blobs.put(bytes);
    held.push(hash);
    return { hash };
  } catch (error) {
    throw new StorageError('undone', `a payload of ${bytes.length} bytes could not be stored: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Like `Promise.all`, but when it rejects nothing is under way any more. */
async function settled<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
