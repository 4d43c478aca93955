import type { Event } from '@tendon/protocol';
import type { AppendOptions } from '../../log/event-log.ts';
import { stamp, timestampsAfter } from '../../log/stamp.ts';
import { checksumOf, type EventRow } from '../rows/event-row.ts';
import type { PayloadRow } from '../rows/payload-row.ts';
import type { PreparedDraft } from '../rows/prepared-draft.ts';
import type { Query } from './database.ts';

/** The state of a log that its next append depends on. */
export interface LogPosition {
  readonly conversationId: string;
  readonly nextId: number;
  readonly lastTimestamp: string;
  /** The epoch of the events to append. */
  readonly epoch: string;
  /** Whether it is stored that events from `nextId` on have this epoch. */
  readonly isEpochStored: boolean;
  /** The epoch of this server's ownership; 0 when the log is new. */
  readonly ownerEpoch: number;
}

/** The appends of one group to one log, one after the other. */
export class LogBatch {
  readonly at: LogPosition;
  readonly rows: EventRow[] = [];
  readonly payloads: PayloadRow[] = [];
  #lastTimestamp: string;

  constructor(at: LogPosition) {
    this.at = at;
    this.#lastTimestamp = at.lastTimestamp;
  }

  get nextId(): number {
    return this.at.nextId + this.rows.length;
  }

  get lastTimestamp(): string {
    return this.#lastTimestamp;
  }

  /** The events that are appended at `nextId`. */
  add(prepared: readonly PreparedDraft[], { timestamps }: AppendOptions, now: Date): readonly Event[] {
    const at = timestampsAfter(this.#lastTimestamp, now, prepared.length, timestamps);
    return prepared.map(({ draft, body, payloads, rows }, index) => {
      const row = { conversation_id: this.at.conversationId, id: this.nextId, timestamp: at[index]!, source: draft.source, body, payloads };
      this.rows.push({ ...row, checksum: checksumOf(row) });
      this.payloads.push(...rows);
      this.#lastTimestamp = row.timestamp;
      return Object.freeze(stamp(draft, row.id, row.timestamp));
    });
  }

  /** Whether the log already holds these events: same checksums, under the epoch that only this opening of the log uses. */
  async isStored(read: Query): Promise<boolean> {
    const { conversationId, nextId, epoch } = this.at;
    const rows = await read<{ checksum: number; epoch: string | null }>(
      `SELECT checksum, (
         SELECT s.epoch FROM tendon.epochs AS s WHERE s.conversation_id = e.conversation_id AND s.from_id <= e.id ORDER BY s.from_id DESC LIMIT 1
       ) AS epoch
       FROM tendon.events AS e WHERE conversation_id = $1 AND id >= $2 AND id < $3 ORDER BY id`,
      [conversationId, nextId, this.nextId],
    );
    return (
      rows.length === this.rows.length && rows.every((row, index) => row.epoch === epoch && row.checksum === this.rows[index]!.checksum)
    );
  }
}

/**
 * Appends to several logs in one statement, all or nothing for each log. Skips a log that is not at the expected id or that another server
 * has, and every log once the lease of this server has ended. Resolves with the conversations that were appended to.
 */
export async function storeBatches(write: Query, server: string, batches: readonly LogBatch[]): Promise<ReadonlySet<string>> {
  const rows = batches.flatMap((batch) => batch.rows);
  const payloads = batches.flatMap(({ at, payloads: own }) => own.map((one) => ({ id: at.conversationId, ...one })));
  const stored = await write<{ conversation_id: string }>(payloads.length > 0 ? APPEND_WITH_PAYLOADS : APPEND, [
    server,
    batches.map(({ at }) => at.conversationId),
    batches.map(({ at }) => at.nextId),
    batches.map((batch) => batch.rows.length),
    batches.map(({ lastTimestamp }) => lastTimestamp),
    batches.map(({ at }) => (at.isEpochStored ? null : at.epoch)),
    batches.map(({ at }) => at.ownerEpoch),
    rows.map((row) => row.conversation_id),
    rows.map((row) => row.id),
    rows.map((row) => row.timestamp),
    rows.map((row) => row.source),
    rows.map((row) => row.body),
    rows.map((row) => row.payloads),
    rows.map((row) => row.checksum),
    ...(payloads.length > 0
      ? [
          payloads.map(({ id }) => id),
          payloads.map(({ hash }) => hash),
          payloads.map(({ deflated }) => deflated === 1),
          payloads.map(({ bytes }) => bytes),
        ]
      : []),
  ]);
  return new Set(stored.map((row) => row.conversation_id));
}

function appendStatement(alsoStored: string): string {
  return `
    WITH asked AS (
      SELECT * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[])
        AS a (conversation_id, expected_id, count, last_timestamp, epoch, owner_epoch)
      WHERE EXISTS (SELECT 1 FROM tendon.servers WHERE id = $1 AND NOT ended)
    ), begun AS (
      INSERT INTO tendon.logs (conversation_id, root_id, next_id, last_timestamp, owner, owner_epoch)
      SELECT conversation_id, conversation_id, count, last_timestamp, $1, 1 FROM asked WHERE expected_id = 0 AND owner_epoch = 0
      ON CONFLICT DO NOTHING RETURNING conversation_id
    ), continued AS (
      UPDATE tendon.logs AS l
      SET next_id = l.next_id + a.count, last_timestamp = a.last_timestamp
      FROM asked AS a
      WHERE l.conversation_id = a.conversation_id AND l.next_id = a.expected_id AND l.owner = $1 AND l.owner_epoch = a.owner_epoch
      RETURNING l.conversation_id
    ), won AS (
      SELECT conversation_id FROM begun UNION ALL SELECT conversation_id FROM continued
    ), stored AS (
      INSERT INTO tendon.events (conversation_id, id, timestamp, source, body, payloads, checksum)
      SELECT e.* FROM unnest($8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[])
        AS e (conversation_id, id, timestamp, source, body, payloads, checksum) JOIN won USING (conversation_id)
    ), dated AS (
      INSERT INTO tendon.epochs (conversation_id, from_id, epoch)
      SELECT a.conversation_id, a.expected_id, a.epoch FROM asked AS a JOIN won USING (conversation_id) WHERE a.epoch IS NOT NULL
    )${alsoStored}
    SELECT conversation_id FROM won`;
}

const APPEND = appendStatement('');
const APPEND_WITH_PAYLOADS = appendStatement(`, added AS (
      INSERT INTO tendon.payloads (conversation_id, hash, deflated, bytes)
      SELECT p.* FROM unnest($15::text[], $16::text[], $17::boolean[], $18::bytea[]) AS p (conversation_id, hash, deflated, bytes)
        JOIN won USING (conversation_id)
      ON CONFLICT DO NOTHING
    )`);
