import { deepFreeze, settleDraft } from '../../log/stamp.ts';
import type { SourcedDraft } from '../../log/event-log.ts';
import { takePayloads, type Payload } from '../blobs/payloads.ts';
import { bodyOf, type PayloadReference } from './event-row.ts';
import type { PayloadRow } from './payload-row.ts';

/** A draft as it goes into a row, with a place for each of its payloads; only id and timestamp are missing. */
export interface PreparedDraft {
  readonly draft: SourcedDraft;
  readonly body: string;
  readonly payloads: string | null;
  /** Of the payloads that are stored already. */
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

/** Where a payload is: in a row that is written with its event, or stored already under this hash. */
export type PayloadPlace = PayloadRow | { readonly hash: string };

/**
 * Freezes drafts and finds a place for their payloads; a promise only where there are any. Throws, with nothing stored, on values that JSON cannot
 * carry.
 */
export function prepareDrafts(
  drafts: readonly SourcedDraft[],
  place: (bytes: Buffer) => Promise<PayloadPlace>,
): readonly PreparedDraft[] | Promise<readonly PreparedDraft[]> {
  const taken = drafts.map(takeApart);
  if (taken.every(({ payloads }) => payloads.length === 0)) return taken.map((one) => prepared(one, []));
  return settled(taken.map(async (one) => prepared(one, await settled(one.payloads.map(({ bytes }) => place(bytes))))));
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

function prepared({ draft, json, payloads }: TakenDraft, places: readonly PayloadPlace[]): PreparedDraft {
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

/** Like `Promise.all`, but when it rejects nothing is under way any more. */
async function settled<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
