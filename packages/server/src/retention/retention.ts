/**
 * Deletes conversations that nobody has used for the configured number of days. Does not own how a conversation is deleted.
 *
 * RET1  A conversation stays while it is pinned, open, at work or waiting for a decision. This is checked again just before it is deleted.
 * RET2  A pass looks at `MOST_LOOKED_AT` conversations and deletes `MOST_DELETED` at most; the next pass continues where it ended.
 * RET3  One server at a time makes a pass, and deletes no conversation that another server has.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Clock, RecordStore } from '@tendon/core';
import type { OldConversation } from '@tendon/protocol';
import type { Audit } from '../audit/audit.ts';
import { cursorAt, type ConversationCursor } from '../conversations/all-conversations.ts';
import type { Logger } from '../platform/logger.ts';
import { beforeDays, lookAtAll, type OldConversationsParts } from './old-conversations.ts';

export interface RetentionOptions extends OldConversationsParts {
  readonly records: RecordStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly audit: Pick<Audit, 'record'> | undefined;
  readonly days: number;
  /** Whether other servers work over the same storage. */
  readonly isShared: boolean;
}

interface Lease {
  readonly holder: string;
  readonly until: number;
}

const MOST_LOOKED_AT = 2_000;
const MOST_DELETED = 100;
/** The pause after a pass that reached the end. */
const REST_MS = 3_600_000;
/** The pause when conversations are left, or another server holds the lease. */
const SOON_MS = 60_000;
/** How long a server that is killed during its pass holds up the others. */
const LEASE_MS = 300_000;
const RETENTION = 'retention';
const LEASE = 'lease';

export class Retention {
  readonly days: number;
  readonly #options: RetentionOptions;
  readonly #id = randomUUID();
  readonly #closing = new AbortController();
  #cursor: ConversationCursor | undefined;
  #running: Promise<void> | undefined;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.days = options.days;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Waits for the deletion under way, and begins no other. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const isDone = await this.#pass().catch((cause: unknown) => {
        logger.error({ err: cause }, 'conversations that are old enough could not be deleted');
        return true;
      });
      await clock.sleep(isDone ? REST_MS : SOON_MS, { signal }).catch(() => undefined);
    }
  }

  /** True when the pass reached the end. */
  async #pass(): Promise<boolean> {
    if (!(await this.#takeLease())) return false;
    const before = beforeDays(this.days, this.#options.clock.now());
    let [lookedAt, deleted] = [0, 0];
    try {
      for await (const { record, old } of lookAtAll(this.#options, before, this.#cursor)) {
        this.#cursor = cursorAt(record);
        if (old && !old.stays && (await this.#delete(old, before))) deleted += 1;
        lookedAt += 1;
        if (this.#closing.signal.aborted || lookedAt >= MOST_LOOKED_AT || deleted >= MOST_DELETED) return false;
        // Let the server answer clients in between, and extend the lease in time.
        await setImmediate();
        if (lookedAt % 100 === 0 && !(await this.#takeLease())) return false;
      }
    } finally {
      if (deleted > 0) this.#options.logger.info({ deleted, days: this.days }, 'conversations that nobody used were deleted');
      await this.#releaseLease();
    }
    this.#cursor = undefined;
    return true;
  }

  /** A later pass retries what cannot be deleted now. */
  async #delete({ conversation_id: id, last_event_at }: OldConversation, before: string): Promise<boolean> {
    const { conversations, audit, logger } = this.#options;
    const isMeant = (record: { readonly updated_at: string; readonly is_pinned?: boolean }): boolean =>
      record.updated_at < before && record.is_pinned !== true;
    const detail = { retention_days: this.days, last_event_at };
    // Recorded while the next start still completes the deletion: after a kill before this entry, that start records one of its own.
    const onRemoved = async (): Promise<void> => audit?.record({ by: undefined, action: 'conversation.deleted', target: id, detail });
    try {
      return await conversations.ends.deleteUnused(id, { isMeant, onRemoved });
    } catch (cause) {
      logger.warn({ err: cause, conversation: id }, 'a conversation that is old enough could not be deleted');
      return false;
    }
  }

  async #takeLease(): Promise<boolean> {
    const { records, clock, isShared } = this.#options;
    if (!isShared) return true;
    const now = clock.now().getTime();
    const lease = await records.update<Lease>(RETENTION, LEASE, (held) =>
      held && held.holder !== this.#id && held.until > now ? undefined : { sort: '', value: { holder: this.#id, until: now + LEASE_MS } },
    );
    return lease?.holder === this.#id;
  }

  async #releaseLease(): Promise<void> {
    if (!this.#options.isShared) return;
    await this.#options.records.update<Lease>(RETENTION, LEASE, (held) =>
      held?.holder === this.#id ? { sort: '', value: { ...held, until: 0 } } : undefined,
    );
  }
}
