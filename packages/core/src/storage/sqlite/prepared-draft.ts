import { deepFreeze } from '../../log/deep-freeze.ts';
import type { SourcedDraft } from '../../log/event-log.ts';
import { settleDraft } from '../../log/stamp.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { takePayloads } from '../blobs/payloads.ts';
import { bodyOf, type PayloadReference } from './event-row.ts';

/** A draft as it goes into a row, with its payloads safe in the blob store; only id and timestamp are missing. */
export interface PreparedDraft {
  readonly draft: SourcedDraft;
  readonly body: string;
  readonly payloads: string | null;
  readonly hashes: readonly string[];
  /** Characters of the whole JSON, about. */
  readonly size: number;
}

/** Freezes the draft and stores its payloads. Every blob that it holds is noted in `held`, also when it rejects: the caller releases them. */
export async function prepareDraft(given: SourcedDraft, blobs: BlobStore, held: string[]): Promise<PreparedDraft> {
  const draft = deepFreeze(settleDraft(given));
  const { json, payloads } = takePayloads(bodyOf(draft));
  const references: PayloadReference[] = [];
  let size = json.length;
  for (const { path, encoding, bytes } of payloads) {
    const hash = await store(bytes, blobs);
    held.push(hash);
    references.push([path, encoding, hash]);
    size += bytes.length;
  }
  const hashes = references.map(([, , hash]) => hash);
  return { draft, body: json, payloads: references.length > 0 ? JSON.stringify(references) : null, hashes, size };
}

async function store(bytes: Buffer, blobs: BlobStore): Promise<string> {
  try {
    return await blobs.put(bytes);
  } catch (error) {
    throw new StorageError('undone', `a payload of ${bytes.length} bytes could not be kept: ${(error as Error).message}`, { cause: error });
  }
}
