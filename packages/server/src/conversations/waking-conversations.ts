import type { Clock } from '@tendon/core';
import type { Logger } from '../platform/logger.ts';
import type { ConversationApprovals } from './confirmation/conversation-approvals.ts';
import type { ConversationRecords } from './conversation-records.ts';
import { fewAtATime } from './few-at-a-time.ts';
import type { FilledConversations } from './filled-conversations.ts';
import type { StoppedConversations } from './stopped-conversations.ts';

/** What waking asks of the other parts. */
interface WakingParts {
  readonly records: Pick<ConversationRecords, 'get'>;
  readonly filled: Pick<FilledConversations, 'isFilling'>;
  readonly stopped: Pick<StoppedConversations, 'start' | 'finishStop'>;
  readonly approvals: Pick<ConversationApprovals, 'complete'>;
  /** Of a deletion, or a creation, that was cut off. */
  readonly eraseRest: (id: string) => Promise<void>;
  readonly onWoken?: (id: string) => void;
}

export interface WakingOptions extends WakingParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly closing: AbortSignal;
}

/** More at once would not be open sooner, and clients would wait; a log on a slow disk delays nobody. */
const WAKING = { atOnce: 4, slowMs: 2_000 };

/** Owns that what a server left goes on: conversations that were at work, deletions and stops that were cut off. */
export class WakingConversations {
  readonly #options: WakingOptions;

  constructor(options: WakingOptions) {
    this.#options = options;
  }

  /** In this order, a few at a time. */
  async wake(ids: readonly string[]): Promise<void> {
    const { clock, closing: signal } = this.#options;
    await fewAtATime(ids, (id) => this.#goOn(id), { ...WAKING, clock, signal });
  }

  async #goOn(id: string): Promise<void> {
    const { records, filled, stopped, approvals, eraseRest, onWoken, closing, logger } = this.#options;
    try {
      const record = await records.get(id);
      if (filled.isFilling(id)) return;
      if (!record) await eraseRest(id);
      else if (record.stopped) await stopped.finishStop(id);
      else await stopped.start(id, { unlessStopped: true });
      if (record) await approvals.complete(record);
      if (record) onWoken?.(id);
    } catch (cause) {
      if (closing.aborted) return; // the next start finds it as it was
      logger.error({ err: cause, conversation: id }, 'a conversation could not be opened again');
    }
  }
}
